package scenarios

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// approvalCancelledWithRun: an approval does not outlive the run that asks for it.
func approvalCancelledWithRun() harness.Scenario {
	const guarantee = "approval.cancelled-with-run"
	return harness.Scenario{
		ID:    "approval/cancelled-with-run",
		Claim: "when a run ends while a call of it waits for approval, nobody is asked any more, and the client is told why",
		Needs: needsApprovals(),
		Variants: inEachApproval(func(e approvalEnding, route harness.Approving) []harness.Check {
			checks := append(e.stops(guarantee, route), notRun(guarantee))
			if e.told == "" || e.whole {
				return checks
			}
			return append(checks, toldOfOutcome(guarantee, `"outcome":{"kind":"cancelled","reason":"`+e.told+`"}`),
				harness.Check{Name: "told-in-time", Guarantee: guarantee, Noun: "outcome-order", Expect: shows(expect.InOrder{approvalRequested, approvalCompleted, clientDone})},
				harness.Check{Name: "told-once", Guarantee: guarantee, Noun: "outcome-count", Expect: shows(expect.Times{What: approvalCompleted, Min: 1, Max: 1})})
		}),
		Dialects: chat()[:1],
	}
}
