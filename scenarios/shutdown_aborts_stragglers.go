package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownAbortsStragglers: a client that does not take its last frames is waited for, but not for ever.
func shutdownAbortsStragglers() harness.Scenario {
	const id = "shutdown.aborts-stragglers"
	return harness.Scenario{
		ID:    "shutdown/aborts-stragglers",
		Claim: "a client that does not take its last frames is cut off when the stragglers' time, counted from the drain, is over",
		Needs: []harness.Feature{harness.Signals, harness.Streaming},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "unread", Play: shutUnread},
			{Name: "no-grace", Set: harness.Set{NoGrace: true}, Play: shutUnread},
			{Name: "beside-a-reader", Play: func(t *harness.Trial) {
				t.Script(proper(script.Role{}, flood(t.Stage)), silent(script.Role{}, script.Text{Chunks: []string{"one "}}))
				slow := t.Ask(caller.Ask{Prompt: "hello", Stream: true, Hold: true})
				stuck(t)
				reader := t.Ask(caller.Ask{Name: "reader", Prompt: "hello", Stream: true})
				t.Await(providerStall)
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.AwaitExit()
				slow.Read()
				t.AwaitEnd(slow)
				t.AwaitEnd(reader)
			}, Checks: []harness.Check{{Name: "ends-the-reader", Guarantee: "shutdown.drains-after-grace", Noun: "done", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: of(clientDone, "reader"), After: signal, From: at.Shutdown, To: at.Shutdown}
			}}}},
		},
		Checks: []harness.Check{
			exitsAt(id, stragglersEnd, abortEnd),
			{Name: "cuts-the-client", Guarantee: id, Noun: "end", Expect: shows(expect.Times{What: saying(of(clientEnd, "#1"), "cut"), Min: 1, Max: 1})},
			{Name: "leaves-the-provider", Guarantee: "shutdown.drains-after-grace", Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: of(providerLeft, "#1"), After: signal, From: at.Shutdown, To: at.Shutdown + soon(at)}
			}},
			{Name: "logs-it", Guarantee: id, Noun: "log-line", Needs: []harness.Feature{harness.LogFields}, Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: saying(serverLog, "aborting stragglers"), After: signal, From: stragglersEnd(at), To: stragglersEnd(at)}
			}},
		},
	}
}
