package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// inactivitySparesApprovals: while a person thinks, nobody expects the model to speak.
func inactivitySparesApprovals() harness.Scenario {
	const guarantee = "inactivity.spares-approvals"
	// Off the windows and off the heartbeats.
	long := func(w harness.Windows) time.Duration { return 2*w.Inactivity + w.Heartbeat*2/7 }
	play := func(route harness.Approving) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(books(t)...)
			t.Tools(toolOf("book", 0, "booked"))
			if route == harness.Webhook {
				t.Approver(decides(approver.Decide{Approved: true}, script.Pause{For: long(t.Windows)}))
			}
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			if route == harness.Conversational {
				id := t.AwaitAsked(1)
				t.Pass(long(t.Windows))
				t.Decide("yes", id, true)
			}
			t.AwaitEnd(r)
		}
	}
	return harness.Scenario{
		ID:       "inactivity/spares-approvals",
		Claim:    "an approval that takes more than two inactivity windows is waited for, and the run ends well",
		Needs:    needsApprovals(),
		Dialects: chat()[:1],
		Variants: bothRoutes(harness.Variant{Set: harness.Set{Inactivity: true}}, play, func(harness.Approving) []harness.Check { return nil }),
		Checks:   slices.Concat([]harness.Check{runOnce(guarantee), isTold(guarantee, "call_1", "booked")}, isWhole(guarantee, "done")),
	}
}
