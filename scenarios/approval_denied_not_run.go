package scenarios

import "github.com/stallwright/stallwright/harness"

// approvalDeniedNotRun: a no is obeyed.
func approvalDeniedNotRun() harness.Scenario {
	const guarantee = "approval.denied-not-run"
	play := func(route harness.Approving) func(*harness.Trial) {
		return decidedAfter(route, false, thinking, false, books)
	}
	return harness.Scenario{
		ID:       "approval/denied-not-run",
		Claim:    "a tool call that is denied is not run, the model is told why, and the run goes on",
		Needs:    needsApprovals(),
		Dialects: chat()[:1],
		Variants: bothRoutes(harness.Variant{}, play, func(route harness.Approving) []harness.Check {
			if route == harness.Conversational {
				return []harness.Check{answeredTo(guarantee, "no", taken), toldOfOutcome(guarantee, `"kind":"denied"`)}
			}
			return []harness.Check{toldOfOutcome(guarantee, `"kind":"denied"`)}
		}),
		Checks: []harness.Check{notRun(guarantee), isTold(guarantee, "call_1", "as no says"), endWell(guarantee, 1)},
	}
}
