package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// firstChunkCountsReasoning: a model that thinks aloud is not silent.
func firstChunkCountsReasoning() harness.Scenario {
	// The text comes long after the window that the reasoning alone has met.
	thinking := func(t *harness.Trial, thoughts ...string) {
		t.Script(script.Program{Steps: []script.Step{
			script.Pause{For: t.Windows.FirstChunk - t.Stage.Tick},
			script.Think{Chunks: thoughts, Every: t.Windows.Heartbeat / 7},
			script.Pause{For: t.Windows.FirstChunk * 3 / 7},
			script.Text{Chunks: []string{"forty-two"}},
			script.Finish{Reason: "stop"}, script.Usage{Prompt: 9, Completion: 2}, script.Done{}, script.End{},
		}})
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
	}
	return harness.Scenario{
		ID:    "first-chunk/counts-reasoning",
		Claim: "reasoning that comes just before the end of the first-chunk window is output: the run goes on",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "one-thought", Play: func(t *harness.Trial) { thinking(t, "let me see") }},
			{Name: "many-thoughts", Play: func(t *harness.Trial) { thinking(t, "let ", "me ", "see") }},
			{Name: "with-all-clocks", Set: harness.Set{Inactivity: true}, Play: func(t *harness.Trial) { thinking(t, "let me see") }},
		},
		Reached: []expect.Event{providerThink},
		Checks: []harness.Check{
			{Name: "whole-answer", Guarantee: "first-chunk.counts-reasoning", Noun: "answer", Expect: func(harness.At) expect.Expectation {
				return expect.Reads{What: clientText, Text: "forty-two"}
			}},
			{Name: "no-error", Guarantee: "first-chunk.counts-reasoning", Noun: "error-frame", Expect: func(harness.At) expect.Expectation {
				return expect.Never{What: clientError}
			}},
			{Name: "ends-well", Guarantee: "first-chunk.counts-reasoning", Noun: "end", Expect: func(harness.At) expect.Expectation {
				return expect.InOrder{clientText, clientFinish, clientDone, clientEnd}
			}},
		},
	}
}
