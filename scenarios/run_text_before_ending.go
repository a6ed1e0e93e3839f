package scenarios

import (
	"slices"
	"strings"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// runTextBeforeEnding: the ending of a run does not overtake what its model said before.
func runTextBeforeEnding() harness.Scenario {
	const guarantee = "run.one-ending"
	const words, times = 12, 16
	// failing says many words and fails in one breath, so that some of them are still in the server when the ending is
	// decided: a few times, since how many there are is chance.
	failing := func(last ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			// More frames than there are, so that all go in one write.
			steps := []script.Step{fault.Batch{Frames: 2 * words}, script.Text{Chunks: slices.Repeat([]string{"word "}, words)}}
			t.Script(script.Program{Times: times, Steps: slices.Concat(steps, last, []script.Step{script.End{}})})
			for range times {
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}
		}
	}
	failed := []harness.Check{
		{Name: "every-word", Guarantee: guarantee, Noun: "text", Expect: shows(expect.Reads{What: clientText, Text: strings.Repeat("word ", words*times)})},
		{Name: "every-error", Guarantee: guarantee, Noun: "terminal-frame", Needs: []harness.Feature{harness.ErrorFrames}, Expect: shows(expect.Times{What: clientError, Min: times, Max: times})},
	}
	// drained keeps the words in the server by not reading, until the drain begins. A server may by chance still send some
	// of them after it has seen the ending; that it sends so many is none.
	drained := func(t *harness.Trial) {
		t.Script(silent(unreadable(t.Stage), script.Text{Chunks: onAndOn(9)}, script.Text{Chunks: []string{"the last word"}}))
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: true, Hold: true})
		t.Await(providerStall)
		t.Pass(awhile(t.Windows))
		t.Signal("SIGTERM")
		t.Await(providerLeft)
		r.Read()
		t.AwaitExit()
		t.AwaitEnd(r)
	}
	return harness.Scenario{
		ID:    "run/text-before-ending",
		Claim: "all that a model said before its run failed or was drained reaches the client, before the terminal frame",
		Needs: []harness.Feature{harness.Streaming},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "error-frame", Play: failing(script.Error{Code: "overloaded", Message: "try again later"}), Checks: failed},
			{Name: "cut-short", Play: failing(), Checks: failed},
			{Name: "drained", Play: drained, Needs: []harness.Feature{harness.Signals}, Reached: []expect.Event{clientStatus}, Checks: []harness.Check{
				{Name: "every-word", Guarantee: guarantee, Noun: "text", Expect: shows(expect.InOrder{saying(clientText, "the last word"), clientDone, saying(clientEnd, "complete")})},
			}},
		},
	}
}
