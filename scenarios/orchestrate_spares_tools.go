package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestrateSparesTools: while a worker's tool works, nobody expects the worker's model to speak.
func orchestrateSparesTools() harness.Scenario {
	const id = "orchestrate.spares-tools"
	set := stalled()
	set.Tools = harness.HTTPTools
	long := func(w harness.Windows) time.Duration { return 2*w.TaskInactivity + w.Heartbeat*2/7 }
	lookup := func(t *harness.Trial) script.Program {
		return by(alpha, calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`)))
	}
	waited := []harness.Check{
		{Name: "not-cancelled", Guarantee: id, Noun: "tool-cancelled", Expect: shows(expect.Never{What: toolCancelled})},
		{Name: "tells-the-worker", Guarantee: id, Noun: "tool-result", Expect: shows(tellsOf{toldModel, "call_1", "rain"})},
		tellsCoordinator(id, "tells-the-coordinator", "sun"),
	}
	waited = append(waited, isWhole(id, "sun it is")...)
	play := func(tool func(takes time.Duration) mcp.Script) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(plans(task(t, alpha)), lookup(t), delivers(alpha, "sun"), responds("sun it is"))
			t.Tools(tool(long(t.Windows)))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	return harness.Scenario{
		ID:       "orchestrate/spares-tools",
		Claim:    "a worker's tool that takes more than two orchestration inactivity windows is waited for, and the window runs whole when it has ended",
		Needs:    orchestrated(),
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "silent", Set: set, Checks: waited, Play: play(func(takes time.Duration) mcp.Script { return toolOf("lookup", takes, "rain") })},
			{Name: "telling-progress", Set: set, Checks: waited, Reached: []expect.Event{toolProgress}, Play: play(func(takes time.Duration) mcp.Script {
				s := toolOf("lookup", takes, "rain")
				s.Tools[0].Progress = mcp.Progress{Count: 3, Every: takes / 4, Text: "so far"}
				return s
			})},
			{Name: "then-silent", Set: set, Reached: []expect.Event{providerStall}, Checks: []harness.Check{
				givesUp(id, "leaves-the-worker", alpha, 2, providerStall, taskInactivity), tellsCoordinator(id, "tells-why", "no stream progress"),
			}, Play: func(t *harness.Trial) {
				t.Script(plans(sideBySide(task(t, alpha), task(t, beta))), lookup(t), by(alpha, silent(script.Role{}, script.Text{Chunks: []string{"so "}})),
					delivers(beta, "snow"), responds("snow it is"))
				t.Tools(toolOf("lookup", t.Windows.TaskInactivity*4/7, "rain"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}},
			// Of the window some is used up before the tool, and more is needed after it than was left: only one that runs whole has that.
			{Name: "then-slow", Set: set, Checks: waited, Play: func(t *harness.Trial) {
				late := []script.Step{script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`), script.Finish{Reason: "tool_calls"},
					script.Usage{Prompt: 9, Completion: 9}, script.Pause{For: t.Windows.TaskInactivity * 4 / 7}, script.Done{}, script.End{}}
				slow := append([]script.Step{script.Pause{For: t.Windows.TaskInactivity * 5 / 7}}, delivers(alpha, "sun").Steps...)
				t.Script(plans(task(t, alpha)), by(alpha, script.Program{Steps: late}), by(alpha, script.Program{Steps: slow}), responds("sun it is"))
				t.Tools(toolOf("lookup", t.Windows.TaskInactivity*4/7, "rain"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}},
		},
		Reached: []expect.Event{runsTool("lookup")},
	}
}
