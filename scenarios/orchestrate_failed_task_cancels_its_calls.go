package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestrateFailedTaskCancelsItsCalls: a task that is given up is given up by its tools as well, at once and not when the run ends.
func orchestrateFailedTaskCancelsItsCalls() harness.Scenario {
	const id = "orchestrate.failed-task-cancels-its-calls"
	var variants []harness.Variant
	for _, v := range overTransports(harness.Variant{}) {
		over := v.Set.Tools
		v.Set.Orchestrated, v.Set.PerCall, v.Dialects = true, true, nil
		v.Checks = []harness.Check{{Name: "cancels-the-call", Guarantee: id, Noun: "cancellation", Expect: func(at harness.At) expect.Expectation {
			return cancelsEach{over: asked(alpha), from: at.PerCall, to: at.PerCall, hangsUp: over == harness.ModernTools}
		}}}
		variants = append(variants, v)
	}
	return harness.Scenario{
		ID:       "orchestrate/failed-task-cancels-its-calls",
		Claim:    "when a worker is given up in a tool call, the call is cancelled at that instant, once and under its own id, while the run goes on and ends well",
		Needs:    orchestrated(),
		Dialects: chat()[:1],
		Variants: variants,
		Reached:  []expect.Event{toolRequest},
		Play: func(t *harness.Trial) {
			// The coordinator takes its time with the answer: what is cancelled only at the end of the run is cancelled late.
			slow := by(leader, script.Program{Steps: append([]script.Step{script.Headers{}, script.Pause{For: t.Windows.PerCall * 5 / 7}}, responds("rain it is").Steps...)})
			t.Script(plans(sideBySide(task(t, alpha), task(t, beta))), by(alpha, calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))),
				delivers(beta, "rain"), slow)
			t.Tools(toolOf("lookup", forever, "late"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		},
		Checks: append(isWhole(id, "rain it is"), tellsCoordinator(id, "tells-why", "timed out")),
	}
}
