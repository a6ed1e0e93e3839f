package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/harness"
)

// inactivitySparesApprovals: while a person thinks, nobody expects the model to speak.
func inactivitySparesApprovals() harness.Scenario {
	const guarantee = "inactivity.spares-approvals"
	// Off the windows and off the heartbeats.
	long := func(w harness.Windows) time.Duration { return 2*w.Inactivity + w.Heartbeat*2/7 }
	play := func(route harness.Approving) func(*harness.Trial) {
		return decidedAfter(route, true, long, false, books)
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
