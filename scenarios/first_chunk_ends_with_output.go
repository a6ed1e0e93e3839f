package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// firstChunkEndsWithOutput: the first-chunk clock is no clock of gaps.
func firstChunkEndsWithOutput() harness.Scenario {
	begun := func(output func(silence time.Duration) []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			steps := append([]script.Step{script.Pause{For: t.Windows.FirstChunk / 7}}, output(t.Windows.FirstChunk*10/7)...)
			steps = append(steps, script.Text{Chunks: []string{"after the silence"}}, script.Finish{Reason: "stop"}, script.Usage{Prompt: 9, Completion: 3}, script.Done{}, script.End{})
			// A server that answers a call asks the model again.
			t.Script(script.Program{Steps: steps}, script.Program{Times: script.Any, Steps: script.Answer("again").Steps})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	return harness.Scenario{
		ID:    "first-chunk/ends-with-output",
		Claim: "once a model has given output, a silence longer than the first-chunk window is survived",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "text", Reached: []expect.Event{nth(providerText, 2)}, Play: begun(func(silence time.Duration) []script.Step {
				return []script.Step{script.Text{Chunks: []string{"so "}}, script.Pause{For: silence}}
			})},
			{Name: "reasoning", Reached: []expect.Event{providerThink}, Play: begun(func(silence time.Duration) []script.Step {
				return []script.Step{script.Think{Chunks: []string{"let me see"}}, script.Pause{For: silence}}
			})},
			{Name: "tool-call-opening", Dialects: inPieces(), Reached: []expect.Event{nth(providerTool, 2)}, Play: begun(func(silence time.Duration) []script.Step {
				return []script.Step{script.Tool{ID: "call_1", Name: "lookup", Args: []string{"{}"}, Every: silence}}
			})},
		},
		Checks: []harness.Check{
			{Name: "later-output-arrives", Guarantee: "first-chunk.ends-with-output", Noun: "later-output", Expect: func(at harness.At) expect.Expectation {
				from := at.FirstChunk/7 + at.FirstChunk*10/7
				return expect.Happens{What: saying(clientText, "after the silence"), After: providerRequest, From: from, To: from + at.Once}
			}},
			{Name: "no-error", Guarantee: "first-chunk.ends-with-output", Noun: "error-frame", Expect: func(harness.At) expect.Expectation {
				return expect.Never{What: clientError}
			}},
			{Name: "ends-well", Guarantee: "first-chunk.ends-with-output", Noun: "end", Expect: func(harness.At) expect.Expectation {
				return expect.InOrder{saying(clientText, "after the silence"), clientFinish, clientDone, clientEnd}
			}},
		},
	}
}
