package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownSecondSignal: whoever says it twice means it.
func shutdownSecondSignal() harness.Scenario {
	const id = "shutdown.second-signal"
	second := nth(signal, 2)
	within := func(name, noun string, what expect.Event) harness.Check {
		return harness.Check{Name: name, Guarantee: id, Noun: noun, Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: what, After: second, To: at.Abort + soon(at)}
		}}
	}
	ended := []harness.Check{within("ends-the-answer", "end", clientEnd), within("leaves-the-provider", "provider-connection", providerLeft)}
	streamed := []harness.Feature{harness.Streaming}
	return harness.Scenario{
		ID:    "shutdown/second-signal",
		Claim: "a second signal cuts off what is left at once, and the server exits within the abort window",
		Needs: []harness.Feature{harness.Signals},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "in-the-grace-period", Play: shutTwice("SIGTERM", "SIGTERM", true), Checks: ended, Needs: streamed},
			{Name: "sigint-twice", Play: shutTwice("SIGINT", "SIGINT", true), Checks: ended, Needs: streamed},
			{Name: "whole", Play: shutTwice("SIGTERM", "SIGINT", false), Checks: ended, Needs: []harness.Feature{harness.NonStreaming}},
			{Name: "in-the-drain", Needs: streamed, Play: func(t *harness.Trial) {
				t.Script(proper(script.Role{}, flood(t.Stage)))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true, Hold: true})
				stuck(t)
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.Pass(t.Windows.Shutdown + t.Windows.Straggler*3/7)
				t.Signal("SIGTERM")
				t.AwaitExit()
				r.Read()
				t.AwaitEnd(r)
			}},
			{Name: "deaf", Needs: []harness.Feature{harness.Streaming, harness.FaultHooks}, Play: func(t *harness.Trial) {
				r := t.Ask(caller.Ask{Prompt: deaf(t.Windows), Stream: true})
				t.Await(clientStatus)
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.Pass(t.Windows.Shutdown * 2 / 7)
				t.Signal("SIGTERM")
				t.AwaitExit()
				t.AwaitEnd(r)
			}},
		},
		Checks: []harness.Check{within("exits", "exit", exit)},
	}
}
