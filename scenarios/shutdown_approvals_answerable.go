package scenarios

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownApprovalsAnswerable: a run that waits for a decision can use its grace.
func shutdownApprovalsAnswerable() harness.Scenario {
	const guarantee = "shutdown.approvals-answerable"
	return harness.Scenario{
		ID:       "shutdown/approvals-answerable",
		Claim:    "a decision that comes while the server drains is taken, and the run ends well within its grace",
		Needs:    needsApprovals(harness.Signals),
		Dialects: chat()[:1],
		Variants: []harness.Variant{{Set: approving(harness.Conversational)}},
		Play: func(t *harness.Trial) {
			r := askedAbout(t, false)
			id := t.AwaitAsked(1)
			t.Pass(awhile(t.Windows))
			t.Signal("SIGTERM")
			t.Pass(t.Windows.Shutdown / 2)
			t.Decide("yes", id, true)
			t.AwaitEnd(r)
			t.AwaitExit()
		},
		Checks: []harness.Check{
			answeredTo(guarantee, "yes", taken), runOnce(guarantee), endWell(guarantee, 1),
			{Name: "exits-at-once", Guarantee: guarantee, Noun: "exit", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: exit, After: personAsk, To: soon(at)}
			}},
			{Name: "exits-clean", Guarantee: guarantee, Noun: "exit-code", Expect: shows(expect.Says{What: exit, Text: "0"})},
		},
	}
}
