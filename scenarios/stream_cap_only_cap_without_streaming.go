package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// streamCapOnlyCapWithoutStreaming: a request that does not stream outlives the windows about output, and ends by the
// stream window.
func streamCapOnlyCapWithoutStreaming() harness.Scenario {
	const guarantee = "stream-cap.only-cap-without-streaming"
	set := harness.Set{Inactivity: true} // and the first-chunk clock as usual
	var variants []harness.Variant
	for _, p := range phases()[:4] {
		variants = append(variants,
			harness.Variant{Name: "waits-" + p.name, Set: set, Checks: isWhole(guarantee, p.text+"two"), Play: func(t *harness.Trial) {
				// Above both other windows.
				pause := fault.Stall{For: t.Windows.FirstChunk * 10 / 7}
				t.Script(proper(slices.Concat(p.steps, []script.Step{pause, script.Text{Chunks: []string{"two"}}})...))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello"}))
			}},
			harness.Variant{Name: "ends-" + p.name, Set: set, Checks: isCapped(guarantee, false), Play: func(t *harness.Trial) {
				t.Script(silent(p.steps...))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello"}))
			}})
	}
	return harness.Scenario{
		ID:       "stream-cap/only-cap-without-streaming",
		Claim:    "a request that does not stream is not given up by the first-chunk and inactivity windows, and ends exactly when the stream window is over",
		Needs:    []harness.Feature{harness.NonStreaming},
		Variants: variants,
	}
}
