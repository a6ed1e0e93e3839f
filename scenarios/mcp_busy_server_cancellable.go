package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// mcpBusyServerCancellable: a server that does one thing at a time, or takes no message while it works, is told of a cancellation all the
// same, and holds nobody.
func mcpBusyServerCancellable() harness.Scenario {
	const id = "mcp.busy-server-cancellable"
	takes := func(w harness.Windows) time.Duration { return w.Heartbeat * 2 / 7 }
	// The first call works for a long time, the second waits for its turn; then one of the clients leaves.
	single := func(leaver string) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(twoRuns(t, leaver)...)
			first := []script.Step{fault.Stall{}}
			if leaver == "boris" {
				first = []script.Step{script.Pause{For: 3 * takes(t.Windows)}, mcp.Result{Text: "rain"}}
			}
			t.Tools(mcp.Script{
				Manners:  mcp.Manners{Single: true},
				Tools:    []mcp.Tool{{Name: "lookup", Takes: takes(t.Windows), Result: mcp.Result{Text: "fog"}}},
				Programs: []mcp.Program{{When: mcp.When{Contains: "call_1"}, Steps: first}},
			})
			asked := map[string]*caller.Request{}
			asked["anna"] = t.Ask(askFor("anna", true))
			t.Await(saying(toolRequest, "call_1"))
			asked["boris"] = t.Ask(askFor("boris", true))
			t.Await(saying(toolRequest, "call_2"))
			t.Pass(awhile(t.Windows))
			asked[leaver].Leave(caller.Close)
			delete(asked, leaver)
			for _, r := range asked {
				t.AwaitEnd(r)
			}
		}
	}
	// The server leaves the cancellation unread, or unanswered.
	unread := func(leaves bool) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(append(lookingUp(t, "call_1")[:1], lookingUp(t, "call_2")...)...)
			s := mcp.Script{Programs: []mcp.Program{{When: mcp.When{Contains: "call_1"}, Steps: []script.Step{fault.Stall{}}}}}
			if t.Case.Variant.Set.Tools == harness.StdioTools {
				// One more message is read: it is the answer to a ping.
				s.Programs[0].Steps = []script.Step{script.Pause{For: t.Stage.Tick}, mcp.StopReading{}, mcp.Ask{Method: "ping", Blind: true}, fault.Stall{}}
			} else {
				s.Programs = append(s.Programs, mcp.Program{When: mcp.When{Method: "notifications/cancelled"}, Times: script.Any, Steps: []script.Step{fault.Stall{}}})
			}
			t.Tools(s)
			r := t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true})
			t.Await(expect.Event{Lane: harness.ToolsLane, Kind: "stall"})
			t.Pass(awhile(t.Windows))
			if leaves {
				r.Leave(caller.Close)
			} else {
				t.AwaitEnd(r)
			}
			t.AwaitEnd(t.Ask(caller.Ask{Name: "second", Prompt: "hello again", Stream: true}))
		}
	}
	told := func(over harness.Tooling) harness.Check {
		what := toolCancelled
		if over == harness.ModernTools {
			what = toolLeft
		}
		return happens("is-told-at-once", id, "cancellation", what, clientLeft, now, once)
	}
	var variants []harness.Variant
	for _, over := range harness.Transports() {
		on := func(name string, play func(*harness.Trial), checks ...harness.Check) harness.Variant {
			return harness.Variant{Name: name + "-" + string(over), Set: harness.Set{Tools: over}, Dialects: chat()[:1], Play: play, Checks: checks}
		}
		ofWindow := func(n time.Duration) func(harness.At) time.Duration {
			return func(at harness.At) time.Duration { return n * takes(at.Windows) }
		}
		soonAfter := func(n time.Duration) func(harness.At) time.Duration {
			return func(at harness.At) time.Duration { return n*takes(at.Windows) + at.Once }
		}
		variants = append(variants,
			on("working", single("anna"), told(over), endWell(id, 1), isTold(id, "call_2", "fog"),
				happens("is-free-at-once", id, "next-call", saying(modelTold, "call_2 "), clientLeft, ofWindow(1), soonAfter(1))),
			on("waiting", single("boris"), told(over), endWell(id, 1), isTold(id, "call_1", "rain"),
				happens("goes-on", id, "other-call", saying(modelTold, "call_1 "), saying(toolRequest, "call_1"), ofWindow(3), soonAfter(3))))
		if over != harness.HTTPTools && over != harness.StdioTools {
			continue // over the others nobody waits for the server to take a cancellation
		}
		again := []harness.Check{isTold(id, "call_2", "lookup is done"), endWell(id, 1)}
		left := append(again, happens("holds-nobody", id, "next-run", of(clientFinish, "second"), clientLeft, now, once))
		capped := append(again,
			happens("ends-in-time", id, "error-frame", clientError, clientAsk, streamWindow, streamWindow),
			happens("ends-the-answer", id, "end", of(clientEnd, "first"), clientAsk, streamWindow, func(at harness.At) time.Duration { return at.Stream + at.Cleanup }))
		capped[2].Needs = []harness.Feature{harness.ErrorFrames}
		variants = append(variants, on("unread-left", unread(true), left...), on("unread-capped", unread(false), capped...))
	}
	return harness.Scenario{
		ID:       "mcp/busy-server-cancellable",
		Claim:    "a tool server that is busy is told of a cancellation at once, and one that does not take it delays neither the end of the run nor the next one",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true,
		Variants: variants,
		Reached:  []expect.Event{toolRequest},
	}
}
