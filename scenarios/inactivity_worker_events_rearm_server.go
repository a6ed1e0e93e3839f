package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// inactivityWorkerEventsRearmServer: workers that show what they do keep their run alive.
func inactivityWorkerEventsRearmServer() harness.Scenario {
	const id = "inactivity.worker-events-rearm-server"
	const pieces = 4 // more than twice the window from the first to the last
	pace := func(w harness.Windows) time.Duration { return w.Inactivity * 5 / 7 }
	set := harness.Set{Orchestrated: true, Inactivity: true}
	tools := set
	tools.Tools = harness.HTTPTools
	return harness.Scenario{
		ID:       "inactivity/worker-events-rearm-server",
		Claim:    "reasoning, tool calls and tool progress of a worker, each within the server's inactivity window, keep an orchestrated run alive for more than two windows",
		Needs:    orchestrated(),
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "reasoning", Set: set, Reached: []expect.Event{nth(providerThink, pieces)}, Play: func(t *harness.Trial) {
				t.Script(plans(task(t, alpha)), delivers(alpha, "rain", script.Think{Chunks: onAndOn(pieces), Every: pace(t.Windows)}), responds("rain it is"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}},
			{Name: "tool-calls", Set: tools, Reached: []expect.Event{nth(toolResult, pieces)}, Play: func(t *harness.Trial) {
				programs := []script.Program{plans(task(t, alpha))}
				for range pieces {
					programs = append(programs, by(alpha, calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))))
				}
				t.Script(append(programs, delivers(alpha, "rain"), responds("rain it is"))...)
				t.Tools(toolOf("lookup", pace(t.Windows), "rain"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}},
			{Name: "tool-progress", Set: tools, Reached: []expect.Event{nth(toolProgress, pieces)}, Play: func(t *harness.Trial) {
				lookup := by(alpha, calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`)))
				t.Script(plans(task(t, alpha)), lookup, delivers(alpha, "rain"), responds("rain it is"))
				s := toolOf("lookup", pace(t.Windows)*pieces+t.Windows.Heartbeat*2/7, "rain")
				s.Tools[0].Progress = mcp.Progress{Count: pieces, Every: pace(t.Windows), Text: "so far"}
				t.Tools(s)
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}},
		},
		Checks: isWhole(id, "rain it is"),
	}
}
