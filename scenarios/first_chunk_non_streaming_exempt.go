package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// firstChunkNonStreamingExempt: a request that does not stream has no first-chunk window.
func firstChunkNonStreamingExempt() harness.Scenario {
	slow := func(opening ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			pause := script.Pause{For: t.Windows.FirstChunk * 10 / 7}
			t.Script(script.Program{Steps: slices.Concat(opening, []script.Step{pause}, script.Answer("slow ", "but whole").Steps)})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello"}))
		}
	}
	return harness.Scenario{
		ID:    "first-chunk/non-streaming-exempt",
		Claim: "a request that does not stream survives a silence longer than the first-chunk window",
		Needs: []harness.Feature{harness.NonStreaming},
		Variants: []harness.Variant{
			{Name: "before-headers", Play: slow()},
			{Name: "after-headers", Play: slow(script.Headers{})},
			{Name: "with-all-clocks", Set: harness.Set{Inactivity: true}, Play: slow()},
		},
		Checks: []harness.Check{
			{Name: "answers-when-the-model-does", Guarantee: "first-chunk.non-streaming-exempt", Noun: "response", Expect: func(at harness.At) expect.Expectation {
				from := at.FirstChunk * 10 / 7
				return expect.Happens{What: saying(clientStatus, "200"), After: providerRequest, From: from, To: from + at.Once}
			}},
			{Name: "whole-answer", Guarantee: "first-chunk.non-streaming-exempt", Noun: "answer", Expect: func(harness.At) expect.Expectation {
				return expect.Reads{What: clientText, Text: "slow but whole"}
			}},
			{Name: "ends-well", Guarantee: "first-chunk.non-streaming-exempt", Noun: "end", Expect: func(harness.At) expect.Expectation {
				return expect.InOrder{clientText, saying(clientFinish, "stop"), saying(clientEnd, "complete")}
			}},
		},
	}
}
