package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestrateLateApprovalNotRun: an approval belongs to the task that asked for it, and ends with it though the run goes on.
func orchestrateLateApprovalNotRun() harness.Scenario {
	const id = "orchestrate.late-approval-not-run"
	play := func(route harness.Approving) func(*harness.Trial) {
		return func(t *harness.Trial) {
			// The coordinator takes its time with the answer, so that the run is still going when the decision comes.
			slow := by(leader, script.Program{Steps: append([]script.Step{script.Headers{}, script.Pause{For: t.Windows.PerCall * 5 / 7}}, responds("rain it is").Steps...)})
			t.Script(plans(sideBySide(task(t, alpha), task(t, beta))), by(alpha, calling(script.Role{}, t.ToolCall("call_1", "book", `{"city":"Oslo"}`))),
				delivers(beta, "rain"), slow)
			t.Tools(toolOf("book", 0, "booked"))
			if route == harness.Webhook {
				t.Approver(decides(approver.Decide{Approved: true}, script.Pause{For: t.Windows.PerCall * 9 / 7}))
			}
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			if route == harness.Conversational {
				asked := t.AwaitAsked(1)
				t.Await(toldPlan())
				t.Pass(thinking(t.Windows))
				t.Decide("late", asked, true)
			}
			t.AwaitEnd(r)
		}
	}
	ends := func(route harness.Approving) []harness.Check {
		if route == harness.Conversational {
			return []harness.Check{answeredTo(id, "late", refused)}
		}
		return []harness.Check{{Name: "webhook-let-go", Guarantee: id, Noun: "webhook-left", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: approverLeft, After: asked(alpha), From: at.PerCall, To: at.PerCall}
		}}}
	}
	return harness.Scenario{
		ID:       "orchestrate/late-approval-not-run",
		Claim:    "when a worker is given up while its call waits for approval, the approval is over at that instant: a later yes is refused and the tool is not run, though the run goes on and ends well",
		Needs:    append(orchestrated(), harness.Approvals),
		Dialects: chat()[:1],
		Variants: bothRoutes(harness.Variant{Set: harness.Set{Orchestrated: true, PerCall: true}}, play, ends),
		Checks:   slices.Concat([]harness.Check{notRun(id), tellsCoordinator(id, "tells-why", "timed out")}, isWhole(id, "rain it is")),
	}
}
