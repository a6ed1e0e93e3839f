package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestrateStallFailsTask: a silent worker loses its task, and the coordinator is told why.
func orchestrateStallFailsTask() harness.Scenario {
	const id = "orchestrate.stall-fails-task"
	var variants []harness.Variant
	for _, p := range outputs() {
		leaves := []harness.Check{givesUp(id, "leaves-the-worker", alpha, 1, providerStall, taskInactivity)}
		variants = append(variants, harness.Variant{Name: p.name, Set: stalled(), Dialects: chat()[:1], Checks: leaves, Play: func(t *harness.Trial) {
			t.Script(plans(sideBySide(task(t, alpha), task(t, beta))), by(alpha, silent(p.steps...)), delivers(beta, "rain"), responds("so much is known"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}})
	}
	return harness.Scenario{
		ID:       "orchestrate/stall-fails-task",
		Claim:    "a worker whose model falls silent loses its task when the orchestration inactivity window is over, and the coordinator is told that it made no progress",
		Needs:    orchestrated(),
		Variants: append(variants, stallInSecondTurn()),
		Reached:  []expect.Event{providerStall},
		Checks: []harness.Check{
			requests(id, leader, 2),
			tellsCoordinator(id, "tells-why", "no stream progress"),
			{Name: "reports-the-task", Guarantee: id, Noun: "task-event", Needs: []harness.Feature{harness.CustomEvents}, Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: saying(orchestratorEvent("task_completed"), `"success":false`), After: providerStall, From: at.TaskInactivity, To: at.TaskInactivity}
			}},
		},
	}
}

// stallInSecondTurn is the variant in which a worker falls silent when it has been told of a tool.
func stallInSecondTurn() harness.Variant {
	set := stalled()
	set.Tools = harness.HTTPTools
	leaves := []harness.Check{givesUp("orchestrate.stall-fails-task", "leaves-the-worker", alpha, 2, providerStall, taskInactivity)}
	return harness.Variant{Name: "after-a-tool", Set: set, Dialects: chat()[:1], Checks: leaves, Reached: []expect.Event{toolResult}, Play: func(t *harness.Trial) {
		lookup := calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))
		t.Script(plans(sideBySide(task(t, alpha), task(t, beta))), by(alpha, lookup), by(alpha, silent(script.Role{}, script.Text{Chunks: []string{"so "}})),
			delivers(beta, "rain"), responds("so much is known"))
		t.Tools(toolOf("lookup", t.Windows.Heartbeat/7, "rain"))
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
	}}
}
