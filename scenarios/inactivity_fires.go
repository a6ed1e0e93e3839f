package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// inactivityFires: a model that falls silent after its first output is given up one window after the last of it.
func inactivityFires() harness.Scenario {
	const guarantee = "inactivity.fires"
	set := harness.Set{Inactivity: true} // and every other clock as usual
	play := func(answer func(t *harness.Trial) script.Program) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(answer(t))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			t.Await(providerLeft)
		}
	}
	var variants []harness.Variant
	for _, p := range outputs() {
		variants = append(variants, harness.Variant{Name: p.name, Set: set, Dialects: p.on, Play: play(func(t *harness.Trial) script.Program {
			lead := script.Pause{For: t.Windows.Inactivity * 5 / 7}
			return silent(slices.Concat([]script.Step{lead}, p.steps)...)
		})})
	}
	variants = append(variants,
		harness.Variant{Name: "after-a-tool-opening", Set: set, Dialects: inPieces(), Play: play(func(t *harness.Trial) script.Program {
			return silent(script.Pause{For: t.Windows.Inactivity * 5 / 7}, script.Tool{ID: "call_1", Name: "lookup"})
		})},
		harness.Variant{Name: "after-re-arming", Set: set, Play: play(func(t *harness.Trial) script.Program {
			gap := t.Windows.Inactivity - t.Stage.Tick
			return silent(script.Pause{For: t.Windows.Inactivity / 7}, script.Text{Chunks: []string{"one ", "two ", "three "}, Every: gap})
		})},
		// Each item starts the clock anew, also one that comes when hardly any of the window is over.
		harness.Variant{Name: "after-a-burst", Set: set, Play: play(func(t *harness.Trial) script.Program {
			return silent(script.Pause{For: t.Windows.Inactivity / 7}, script.Text{Chunks: []string{"one ", "two ", "three "}, Every: t.Windows.Inactivity / 7})
		})},
		harness.Variant{Name: "a-tick-late", Set: set, Checks: []harness.Check{dropsLate(guarantee)}, Play: play(func(t *harness.Trial) script.Program {
			pause := fault.Stall{For: t.Windows.Inactivity + t.Stage.Tick}
			return proper(script.Pause{For: t.Windows.Inactivity / 7}, script.Text{Chunks: []string{"one "}}, pause, script.Text{Chunks: []string{"late"}})
		})},
		// The clock starts with the first output: the silence before it is the first-chunk clock's.
		harness.Variant{Name: "after-a-late-start", Set: set, Checks: []harness.Check{
			{Name: "starts-with-output", Guarantee: guarantee, Noun: "error-frame", Needs: []harness.Feature{harness.ErrorFrames}, Expect: func(at harness.At) expect.Expectation {
				over := at.FirstChunk - at.Tick + at.Inactivity
				return expect.Happens{What: clientError, After: providerRequest, From: over, To: over}
			}},
		}, Play: play(func(t *harness.Trial) script.Program {
			return silent(script.Pause{For: t.Windows.FirstChunk - t.Stage.Tick}, script.Text{Chunks: []string{"one "}})
		})},
	)
	return harness.Scenario{
		ID:       "inactivity/fires",
		Claim:    "a model that falls silent after its first output is given up exactly one inactivity window after the last of it",
		Needs:    []harness.Feature{harness.Streaming},
		Variants: variants,
		Checks:   endsAt(guarantee, providerStall, inactivityWindow),
	}
}
