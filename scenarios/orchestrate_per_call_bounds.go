package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestratePerCallBounds: no call is longer than its limit, whatever comes of it.
func orchestratePerCallBounds() harness.Scenario {
	const id = "orchestrate.per-call-bounds"
	set := harness.Set{Orchestrated: true, PerCall: true, TaskInactivity: true}
	tools := set
	tools.Tools = harness.HTTPTools
	// Twice the limit, and never silent for long.
	talks := func(w harness.Windows) script.Text {
		every := w.TaskInactivity * 3 / 7
		return script.Text{Chunks: onAndOn(int(2 * w.PerCall / every)), Every: every}
	}
	lost := []harness.Check{tellsCoordinator(id, "tells-why", "timed out"), requests(id, leader, 2)}
	return harness.Scenario{
		ID:       "orchestrate/per-call-bounds",
		Claim:    "a call of a coordinator or worker is given up when the per-call limit is over, however much it says and whatever its tools do",
		Needs:    orchestrated(),
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "worker-talking", Set: set, Checks: append(lost, givesUp(id, "leaves-the-worker", alpha, 1, expect.Event{}, perCall)), Play: func(t *harness.Trial) {
				t.Script(plans(sideBySide(task(t, alpha), task(t, beta))), by(alpha, proper(script.Role{}, talks(t.Windows))), delivers(beta, "rain"), responds("rain it is"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}},
			// The limit is that of the call with all its turns.
			{Name: "worker-in-a-tool", Set: tools, Reached: []expect.Event{toolRequest}, Checks: append(lost, harness.Check{
				Name: "goes-on-without-it", Guarantee: id, Noun: "late-decision", Expect: func(at harness.At) expect.Expectation {
					return expect.Happens{What: nth(asked(leader), 2), After: asked(alpha), From: at.PerCall, To: at.PerCall}
				}}), Play: func(t *harness.Trial) {
				t.Script(plans(sideBySide(task(t, alpha), task(t, beta))), by(alpha, calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))),
					delivers(beta, "rain"), responds("rain it is"))
				t.Tools(toolOf("lookup", forever, "late"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}},
			{Name: "coordinator-talking", Set: set, Checks: []harness.Check{
				givesUp(id, "leaves-the-first", leader, 1, expect.Event{}, perCall), givesUp(id, "leaves-the-second", leader, 2, expect.Event{}, perCall),
				requests(id, leader, harness.PlanAttempts),
				{Name: "fails-visibly", Guarantee: id, Noun: "error-frame", Needs: []harness.Feature{harness.ErrorFrames}, Expect: shows(expect.Says{What: clientError, Text: "timed out"})},
				{Name: "is-no-success", Guarantee: id, Noun: "finish", Expect: shows(expect.Never{What: clientFinish})},
			}, Play: func(t *harness.Trial) {
				on := by(leader, proper(script.Role{}, talks(t.Windows)))
				on.Times = harness.PlanAttempts
				t.Script(on)
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}},
		},
	}
}
