package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
)

// orchestrateSparesApprovals: while a person thinks about a worker's call, nobody expects the worker's model to speak.
func orchestrateSparesApprovals() harness.Scenario {
	const id = "orchestrate.spares-approvals"
	// Off the windows and off the heartbeats.
	long := func(w harness.Windows) time.Duration { return 2*w.TaskInactivity + w.Heartbeat*2/7 }
	play := func(route harness.Approving) func(*harness.Trial) {
		return decidedAfter(route, true, long, false, func(t *harness.Trial) []script.Program {
			return []script.Program{plans(task(t, alpha)), by(alpha, calling(script.Role{}, t.ToolCall("call_1", "book", `{"city":"Oslo"}`))),
				delivers(alpha, "sun"), responds("sun it is")}
		})
	}
	return harness.Scenario{
		ID:       "orchestrate/spares-approvals",
		Claim:    "an approval of a worker's call that takes more than two orchestration inactivity windows is waited for, and the task ends well",
		Needs:    append(orchestrated(), harness.Approvals),
		Dialects: chat()[:1],
		Variants: bothRoutes(harness.Variant{Set: stalled()}, play, func(harness.Approving) []harness.Check { return nil }),
		Checks: slices.Concat([]harness.Check{
			runOnce(id), {Name: "tells-the-worker", Guarantee: id, Noun: "tool-result", Expect: shows(tellsOf{toldModel, "call_1", "booked"})},
			tellsCoordinator(id, "tells-the-coordinator", "sun"),
		}, isWhole(id, "sun it is")),
	}
}
