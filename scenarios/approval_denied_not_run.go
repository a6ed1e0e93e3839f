package scenarios

import (
	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// approvalDeniedNotRun: a no is obeyed.
func approvalDeniedNotRun() harness.Scenario {
	const guarantee = "approval.denied-not-run"
	play := func(route harness.Approving) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(books(t)...)
			t.Tools(toolOf("book", 0, "booked"))
			if route == harness.Webhook {
				t.Approver(decides(approver.Decide{Reason: "as no says"}, script.Pause{For: thinking(t.Windows)}))
			}
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			if route == harness.Conversational {
				id := t.AwaitAsked(1)
				t.Pass(thinking(t.Windows))
				t.Decide("no", id, false)
			}
			t.AwaitEnd(r)
		}
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
