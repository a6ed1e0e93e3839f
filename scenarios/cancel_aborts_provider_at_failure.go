package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// cancelAbortsProviderAtFailure: a run that fails or times out does not leave its request to the model behind.
func cancelAbortsProviderAtFailure() harness.Scenario {
	const guarantee = "cancel.aborts-provider"
	play := func(stream bool, steps ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(silent(steps...))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
			t.Await(providerLeft)
		}
	}
	spoken := script.Text{Chunks: []string{"one "}}
	// The provider keeps its connection open behind the failure: a server that drains the body waits for ever. The silence
	// is no fault that must strike, as the server may be gone before it begins.
	failing := func(steps ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Steps: append(steps, script.Await{Gate: "never"})})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			t.Await(providerLeft)
		}
	}
	failed := script.Error{Code: "overloaded", Message: "try again later"}
	atOnce := func(failure expect.Event) []harness.Check {
		return []harness.Check{{Name: "leaves-the-failed-provider", Guarantee: guarantee, Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: providerLeft, After: failure, To: at.Once}
		}}}
	}
	streaming, notStreaming := []harness.Feature{harness.Streaming}, []harness.Feature{harness.NonStreaming}
	return harness.Scenario{
		ID:    "cancel/aborts-provider-at-failure",
		Claim: "the provider's connection is left at once when a run times out or fails, and no further request is made for it",
		Variants: []harness.Variant{
			{Name: "first-chunk-before-headers", Needs: streaming, Play: play(true)},
			{Name: "first-chunk-after-headers", Needs: streaming, Play: play(true, script.Headers{})},
			{Name: "inactivity", Needs: streaming, Set: harness.Set{Inactivity: true}, Play: play(true, spoken)},
			{Name: "stream-cap", Needs: streaming, Play: play(true, spoken)},
			{Name: "stream-cap-whole", Needs: notStreaming, Play: play(false, spoken)},
			{Name: "error-frame", Needs: streaming, Checks: atOnce(providerError), Play: failing(spoken, failed)},
			{Name: "garbled-frame", Needs: streaming, Checks: atOnce(providerGarble), Play: failing(spoken, fault.Garble{}, spoken)},
		},
		Checks: leavesWith(guarantee, clientEnd),
	}
}
