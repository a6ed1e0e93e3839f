package scenarios

import (
	"slices"
	"strconv"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// inactivityWindowNamed: with three clocks armed, the error says which of them was over, and what its window is.
func inactivityWindowNamed() harness.Scenario {
	const guarantee = "inactivity.window-named"
	var variants []harness.Variant
	for _, p := range outputs() {
		variants = append(variants, harness.Variant{Name: p.name, Set: harness.Set{Inactivity: true}, Dialects: p.on, Play: func(t *harness.Trial) {
			// So that this window is over after the first-chunk window, which has ended with the output.
			lead := script.Pause{For: t.Windows.FirstChunk - t.Windows.Inactivity*2/7}
			t.Script(silent(slices.Concat([]script.Step{lead}, p.steps)...))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			t.Await(clientError)
		}})
	}
	return harness.Scenario{
		ID:       "inactivity/window-named",
		Claim:    "the error of a run that ends one inactivity window after its last output names that clock and its window",
		Needs:    []harness.Feature{harness.Streaming, harness.ErrorFrames},
		Variants: variants,
		Checks: []harness.Check{
			namesClock(guarantee, "stream_inactivity_timeout"),
			// The number alone: 40s, 40 seconds and 40.0 s are all fine.
			{Name: "tells-the-window", Guarantee: guarantee, Noun: "window-told", Expect: func(at harness.At) expect.Expectation {
				return expect.Says{What: clientError, Text: strconv.FormatFloat(at.Inactivity.Seconds(), 'f', -1, 64)}
			}},
		},
	}
}
