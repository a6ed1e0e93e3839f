package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownIdleExitsAtOnce: a server with nothing to do has no grace period.
func shutdownIdleExitsAtOnce() harness.Scenario {
	const id = "shutdown.idle-exits-at-once"
	streamed := []harness.Feature{harness.Streaming}
	return harness.Scenario{
		ID:    "shutdown/idle-exits-at-once",
		Claim: "a server without runs exits the moment it is told to go",
		Needs: []harness.Feature{harness.Signals},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "never-used", Play: func(t *harness.Trial) {
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.AwaitExit()
			}},
			// Nothing has been done that a collector were to be told of.
			{Name: "never-used-watched", Set: watched, Needs: []harness.Feature{harness.Telemetry}, Dialects: chat()[:1], Play: func(t *harness.Trial) {
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.AwaitExit()
			}},
			{Name: "used", Play: shutIdle, Needs: streamed, Reached: []expect.Event{clientDone}},
			{Name: "used-and-failed", Needs: streamed, Reached: []expect.Event{providerCut}, Play: func(t *harness.Trial) {
				t.Script(script.Program{Steps: []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}, fault.Cut{}}})
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.AwaitExit()
			}},
			{Name: "used-and-left", Needs: streamed, Reached: []expect.Event{providerLeft}, Play: func(t *harness.Trial) {
				t.Script(silent(script.Role{}, script.Text{Chunks: []string{"one "}}))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
				t.Await(providerStall)
				r.Leave(caller.Close)
				t.Await(providerLeft)
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.AwaitExit()
			}},
			// A client that has not read its whole answer yet keeps its connection open, and the server has it idle.
			{Name: "idle-connection", Needs: streamed, Reached: []expect.Event{clientDone}, Play: func(t *harness.Trial) {
				t.Script(script.Answer("one ", "two"))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true, Hold: true})
				t.Await(providerEnd)
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.AwaitExit()
				r.Read()
				t.AwaitEnd(r)
			}},
		},
		Checks: []harness.Check{exitsAt(id, now, now)},
	}
}
