package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerNoSilentRetryAfterOutput: once the client has text, a failed request is not made again.
func providerNoSilentRetryAfterOutput() harness.Scenario {
	failing := func(how ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			steps := []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}, script.Await{Gate: "read"}}
			again := script.Answer("one ", "two")
			again.Times = script.Any
			t.Script(script.Program{Steps: append(steps, how...)}, again)
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(saying(clientText, "one "))
			t.Open("read")
			t.AwaitEnd(r)
		}
	}
	overloaded := script.Error{Type: "server_error", Code: "overloaded", Message: "The engine is currently overloaded."}
	return harness.Scenario{
		ID:    "provider/no-silent-retry-after-output",
		Claim: "a model's answer that fails after its first text reached the client is not asked for again",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "cut", Play: failing(fault.Cut{}), Reached: []expect.Event{providerCut}},
			{Name: "reset", Play: failing(fault.Reset{}), Reached: []expect.Event{providerReset}},
			{Name: "error-frame", Play: failing(overloaded, script.End{}), Reached: []expect.Event{providerError}},
			{Name: "end-without-finish", Play: failing(script.End{}), Reached: []expect.Event{of(providerEnd, "#1")}},
		},
		Checks: []harness.Check{
			{Name: "one-request", Guarantee: "provider.no-silent-retry-after-output", Noun: "provider-request", Expect: shows(expect.Times{What: providerRequest, Min: 1, Max: 1})},
			{Name: "text-once", Guarantee: "provider.no-silent-retry-after-output", Noun: "text", Expect: shows(expect.Reads{What: clientText, Text: "one "})},
		},
	}
}
