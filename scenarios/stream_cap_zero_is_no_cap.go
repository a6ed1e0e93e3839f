package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// streamCapZeroIsNoCap: with the stream clock off a run may last longer than any usual cap.
func streamCapZeroIsNoCap() harness.Scenario {
	const guarantee = "stream-cap.zero-is-no-cap"
	play := func(stream bool, answer func(harness.Windows) script.Program) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(answer(t.Stage.Usual))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	steady := func(w harness.Windows) script.Program {
		return proper(script.Role{}, script.Text{Chunks: onAndOn(beyond), Every: pace(w.Stream)})
	}
	quiet := func(w harness.Windows) script.Program {
		return proper(script.Role{}, script.Text{Chunks: []string{"one "}}, fault.Stall{For: w.Stream * 8 / 7}, script.Text{Chunks: []string{"two"}})
	}
	mute := func(w harness.Windows) script.Program {
		return proper(script.Headers{}, fault.Stall{For: w.Stream * 8 / 7}, script.Text{Chunks: []string{"at last"}})
	}
	// From the request to the last output longer than the usual cap: else nothing is shown.
	long := func(last expect.Event) harness.Check {
		return harness.Check{Name: "outlasts-the-usual-cap", Guarantee: guarantee, Noun: "answer", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: last, After: clientAsk, From: at.Stage.Usual.Stream, To: at.Stage.Usual.Stream * 9 / 7}
		}}
	}
	streaming, notStreaming := []harness.Feature{harness.Streaming}, []harness.Feature{harness.NonStreaming}
	return harness.Scenario{
		ID:    "stream-cap/zero-is-no-cap",
		Claim: "with the stream window set to zero, an answer that lasts longer than the usual window arrives whole",
		Variants: []harness.Variant{
			{Name: "steady", Needs: streaming, Set: harness.Set{NoStream: true}, Checks: isWhole(guarantee, onAndOn(beyond)...), Play: play(true, steady)},
			{Name: "silent-after-output", Needs: streaming, Set: harness.Set{NoStream: true}, Checks: isWhole(guarantee, "one two"), Play: play(true, quiet)},
			{Name: "with-no-clock", Needs: streaming, Set: harness.Set{NoStream: true, NoFirstChunk: true}, Checks: isWhole(guarantee, "at last"), Play: play(true, mute)},
			{Name: "whole-steady", Needs: notStreaming, Set: harness.Set{NoStream: true}, Checks: isWhole(guarantee, onAndOn(beyond)...), Play: play(false, steady)},
			{Name: "whole-silent", Needs: notStreaming, Set: harness.Set{NoStream: true}, Checks: isWhole(guarantee, "at last"), Play: play(false, mute)},
		},
		Checks: []harness.Check{long(clientFinish)},
	}
}
