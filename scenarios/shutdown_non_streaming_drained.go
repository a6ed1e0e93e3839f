package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownNonStreamingDrained: a client that waits for a whole answer is told, too, when the grace period is over.
func shutdownNonStreamingDrained() harness.Scenario {
	const id = "shutdown.non-streaming-drained"
	said := []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}}
	return harness.Scenario{
		ID:    "shutdown/non-streaming-drained",
		Claim: "a request that does not stream and outlives the grace period gets 503 exactly when the period is over",
		Needs: []harness.Feature{harness.Signals, harness.NonStreaming},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "before-headers", Play: shutSilent("SIGTERM", false)},
			{Name: "in-text", Play: shutSilent("SIGTERM", false, said...)},
			{Name: "sigint", Play: shutSilent("SIGINT", false, said...)},
			{Name: "no-grace", Set: harness.Set{NoGrace: true}, Play: shutSilent("SIGTERM", false, said...)},
			{Name: "beside-a-stream", Needs: []harness.Feature{harness.Streaming}, Play: func(t *harness.Trial) {
				t.Script(silent(said...), silent(said...))
				streamed := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
				t.Await(providerStall)
				whole := t.Ask(caller.Ask{Name: "whole", Prompt: "hello"})
				t.Await(nth(providerStall, 2))
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.AwaitExit()
				t.AwaitEnd(streamed)
				t.AwaitEnd(whole)
			}},
		},
		Checks: []harness.Check{
			{Name: "gets-503", Guarantee: id, Noun: "status", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: saying(clientStatus, "503 application/json"), After: signal, From: at.Shutdown, To: at.Shutdown}
			}},
			{Name: "says-why", Guarantee: id, Noun: "error-code", Needs: []harness.Feature{harness.ErrorFrames}, Expect: shows(expect.Says{What: nth(clientError, -1), Text: "server_shutdown"})},
			{Name: "leaves-the-provider", Guarantee: id, Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: providerLeft, After: signal, From: at.Shutdown, To: at.Shutdown + soon(at)}
			}},
			exitsAt(id, graceEnd, graceEnd),
		},
	}
}
