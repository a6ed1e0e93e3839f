package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// orchestrateSparesApprovals: while a person thinks about a worker's call, nobody expects the worker's model to speak.
func orchestrateSparesApprovals() harness.Scenario {
	const id = "orchestrate.spares-approvals"
	// Off the windows and off the heartbeats.
	long := func(w harness.Windows) time.Duration { return 2*w.TaskInactivity + w.Heartbeat*2/7 }
	play := func(route harness.Approving) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(plans(task(t, alpha)), by(alpha, calling(script.Role{}, t.ToolCall("call_1", "book", `{"city":"Oslo"}`))),
				delivers(alpha, "sun"), responds("sun it is"))
			t.Tools(toolOf("book", 0, "booked"))
			if route == harness.Webhook {
				t.Approver(decides(approver.Decide{Approved: true}, script.Pause{For: long(t.Windows)}))
			}
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			if route == harness.Conversational {
				asked := t.AwaitAsked(1)
				t.Pass(long(t.Windows))
				t.Decide("yes", asked, true)
			}
			t.AwaitEnd(r)
		}
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
