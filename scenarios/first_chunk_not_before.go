package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// firstChunkNotBefore: the first-chunk window is the model's to its end.
func firstChunkNotBefore() harness.Scenario {
	lastMoment := func(opening ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			pause := script.Pause{For: t.Windows.FirstChunk - t.Stage.Tick}
			t.Script(script.Program{Steps: slices.Concat(opening, []script.Step{pause}, script.Answer("just ", "in time").Steps)})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	return harness.Scenario{
		ID:    "first-chunk/not-before",
		Claim: "a model whose first output comes just before the end of the first-chunk window is heard to its end",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "late-headers", Play: lastMoment()},
			{Name: "early-headers", Play: lastMoment(script.Headers{})},
			{Name: "early-role", Play: lastMoment(script.Role{})},
			{Name: "with-all-clocks", Set: harness.Set{Inactivity: true}, Play: lastMoment(script.Headers{})},
		},
		Checks: []harness.Check{
			{Name: "output-at-once", Guarantee: "first-chunk.not-before", Noun: "first-output", Expect: func(at harness.At) expect.Expectation {
				from := at.FirstChunk - at.Tick
				return expect.Happens{What: clientText, After: providerRequest, From: from, To: from + at.Once}
			}},
			{Name: "whole-answer", Guarantee: "first-chunk.not-before", Noun: "answer", Expect: func(harness.At) expect.Expectation {
				return expect.Reads{What: clientText, Text: "just in time"}
			}},
			{Name: "no-error", Guarantee: "first-chunk.not-before", Noun: "error-frame", Expect: func(harness.At) expect.Expectation {
				return expect.Never{What: clientError}
			}},
			{Name: "ends-well", Guarantee: "first-chunk.not-before", Noun: "end", Expect: func(harness.At) expect.Expectation {
				return expect.InOrder{clientText, clientFinish, clientDone, clientEnd}
			}},
		},
	}
}
