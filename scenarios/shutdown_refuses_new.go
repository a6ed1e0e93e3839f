package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownRefusesNew: whatever is asked of a server that is about to go, the answer is that it is.
func shutdownRefusesNew() harness.Scenario {
	const id = "shutdown.refuses-new"
	asking := func(a caller.Ask) func(*harness.Trial) {
		a.Name = "new"
		return func(t *harness.Trial) {
			t.Script(proper(script.Role{}, script.Text{Chunks: []string{"one "}}, script.Await{Gate: "end"}, script.Text{Chunks: []string{"two"}}))
			old := t.Ask(caller.Ask{Name: "old", Prompt: "hello", Stream: true})
			t.Await(providerAwait)
			t.Pass(awhile(t.Windows))
			t.Signal("SIGTERM")
			t.Pass(t.Stage.Tick) // a signal takes a moment to arrive
			t.AwaitEnd(t.Ask(a))
			t.Open("end")
			t.AwaitEnd(old)
			t.AwaitExit()
		}
	}
	refused := func(since func(harness.At) time.Duration) []harness.Check {
		return []harness.Check{
			// Counted from the signal: to a server that no longer listens nothing can be sent.
			{Name: "gets-503", Guarantee: id, Noun: "status", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: saying(of(clientStatus, "new"), "503 "), After: signal, From: since(at), To: since(at) + at.Once}
			}},
			{Name: "says-when-to-retry", Guarantee: id, Noun: "retry-after", Expect: shows(expect.Says{What: of(clientStatus, "new"), Text: "retry-after"})},
			{Name: "asks-no-model", Guarantee: id, Noun: "provider-request", Expect: shows(expect.Times{What: providerRequest, Min: 1, Max: 1})},
		}
	}
	unharmed := harness.Check{Name: "leaves-the-old-one-alone", Guarantee: "shutdown.lets-finish", Noun: "answer", Expect: shows(expect.Reads{What: of(clientText, "old"), Text: "one two"})}
	inGrace := append(refused(func(at harness.At) time.Duration { return at.Tick }), unharmed)
	inDrain := func(at harness.At) time.Duration { return at.Shutdown + at.Straggler*3/7 }
	return harness.Scenario{
		ID:    "shutdown/refuses-new",
		Claim: "from the signal on every new request gets 503 with Retry-After at once, and reaches no model",
		Needs: []harness.Feature{harness.Signals, harness.Streaming},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "streamed", Play: asking(caller.Ask{Prompt: "hello", Stream: true}), Checks: inGrace},
			{Name: "whole", Play: asking(caller.Ask{Prompt: "hello"}), Checks: inGrace, Needs: []harness.Feature{harness.NonStreaming}},
			{Name: "models", Play: asking(caller.Ask{Method: "GET", Path: "/v1/models"}), Checks: inGrace},
			{Name: "health", Play: asking(caller.Ask{Method: "GET", Path: "/health"}), Checks: inGrace},
			{Name: "unknown-path", Play: asking(caller.Ask{Method: "GET", Path: "/nowhere"}), Checks: inGrace},
			{Name: "unknown-path-to-post", Play: asking(caller.Ask{Path: "/v1/responses", Prompt: "hello"}), Checks: inGrace},
			{Name: "unknown-method", Play: asking(caller.Ask{Method: "DELETE"}), Checks: inGrace},
			{Name: "in-the-drain", Checks: refused(inDrain), Play: func(t *harness.Trial) {
				t.Script(proper(script.Role{}, flood(t.Stage)))
				old := t.Ask(caller.Ask{Name: "old", Prompt: "hello", Stream: true, Hold: true})
				stuck(t)
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.Pass(t.Windows.Shutdown + t.Windows.Straggler*3/7)
				t.AwaitEnd(t.Ask(caller.Ask{Name: "new", Prompt: "hello", Stream: true}))
				t.AwaitExit()
				old.Read()
				t.AwaitEnd(old)
			}},
		},
	}
}
