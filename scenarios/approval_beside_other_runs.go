package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// approvalBesideOtherRuns: who waits for a decision holds nobody else, and takes nobody along.
func approvalBesideOtherRuns() harness.Scenario {
	const isolated = "run.isolated"
	return harness.Scenario{
		ID:       "approval/beside-other-runs",
		Claim:    "while two runs wait for approvals a third is answered at once; when the client of the first leaves, the second's approval is still taken",
		Needs:    needsApprovals(),
		Dialects: chat()[:1],
		Variants: []harness.Variant{{Set: approving(harness.Conversational)}},
		Play: func(t *harness.Trial) {
			booking := func(id string) []script.Program { return asks(t, t.ToolCall(id, "book", `{"city":"Oslo"}`)) }
			t.Script(slices.Concat(forOnly("anna", booking("call_1")[:1]...), forOnly("boris", booking("call_2")...), forOnly("carl", script.Answer("one ", "two")))...)
			t.Tools(toolOf("book", 0, "booked"))
			anna := t.Ask(askFor("anna", true))
			hers := t.AwaitAsked(1)
			boris := t.Ask(askFor("boris", true))
			his := t.AwaitAsked(2)
			t.AwaitEnd(t.Ask(askFor("carl", true)))
			anna.Leave(caller.Close)
			t.Stage.Settle()
			t.Pass(t.Stage.Once) // a server may take so long to see that a client has left
			t.Decide("late", hers, true)
			t.Decide("yes", his, true)
			t.AwaitEnd(boris)
		},
		Checks: []harness.Check{
			{Name: "answers-the-third", Guarantee: isolated, Noun: "neighbour-pace", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: of(clientFinish, "carl"), After: of(clientAsk, "carl"), To: at.Once}
			}},
			answeredTo("approval.late-decision-refused", "late", refused), answeredTo(isolated, "yes", taken),
			runOnce("approval.late-decision-refused"), isTold(isolated, "call_2", "booked"),
		},
	}
}
