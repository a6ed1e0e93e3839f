package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownEarlyExit: when nothing is left to wait for, the server does not wait.
func shutdownEarlyExit() harness.Scenario {
	const id = "shutdown.early-exit"
	until := func(gate string, then ...script.Step) script.Program {
		return script.Program{Steps: append([]script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}, script.Await{Gate: gate}}, then...)}
	}
	ending := func(stream bool, then ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(until("end", then...))
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: stream})
			t.Await(providerAwait)
			t.Pass(awhile(t.Windows))
			t.Signal("SIGTERM")
			t.Pass(t.Windows.Shutdown / 7)
			t.Open("end")
			t.AwaitExit()
			t.AwaitEnd(r)
		}
	}
	one := func(at harness.At) time.Duration { return at.Shutdown / 7 }
	two := func(at harness.At) time.Duration { return at.Shutdown/7 + at.Shutdown/7 }
	atOne, atTwo := []harness.Check{exitsAt(id, one, one)}, []harness.Check{exitsAt(id, two, two)}
	endsWell := func(ref string) harness.Check {
		return harness.Check{Name: "ends-the-" + ref + "-well", Guarantee: "shutdown.lets-finish", Noun: "end",
			Expect: shows(expect.InOrder{of(clientFinish, ref), of(clientDone, ref), saying(of(clientEnd, ref), "complete")})}
	}
	streamed := []harness.Feature{harness.Streaming}
	return harness.Scenario{
		ID:    "shutdown/early-exit",
		Claim: "a server that was told to go exits the moment its last run has ended, not at the end of the grace period",
		Needs: []harness.Feature{harness.Signals},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "streamed", Play: ending(true, closing("stop")...), Checks: atOne, Needs: streamed},
			{Name: "whole", Play: ending(false, closing("stop")...), Checks: atOne, Needs: []harness.Feature{harness.NonStreaming}},
			{Name: "fails", Play: ending(true, fault.Cut{}), Checks: atOne, Needs: streamed},
			{Name: "client-leaves", Checks: atOne, Needs: streamed, Play: func(t *harness.Trial) {
				t.Script(silent(script.Role{}, script.Text{Chunks: []string{"one "}}))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
				t.Await(providerStall)
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.Pass(t.Windows.Shutdown / 7)
				r.Leave(caller.Close)
				t.AwaitExit()
			}},
			{Name: "two-runs", Checks: append(atTwo, endsWell("first"), endsWell("second")), Needs: streamed, Play: func(t *harness.Trial) {
				t.Script(until("first", closing("stop")...), until("second", closing("stop")...))
				first := t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true})
				t.Await(saying(providerAwait, "first"))
				second := t.Ask(caller.Ask{Name: "second", Prompt: "hello", Stream: true})
				t.Await(saying(providerAwait, "second"))
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.Pass(t.Windows.Shutdown / 7)
				t.Open("first")
				t.AwaitEnd(first)
				t.Pass(t.Windows.Shutdown / 7)
				t.Open("second")
				t.AwaitEnd(second)
				t.AwaitExit()
			}},
		},
	}
}
