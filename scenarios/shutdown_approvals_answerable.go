package scenarios

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// shutdownApprovalsAnswerable: a run that waits for a decision can use its grace.
func shutdownApprovalsAnswerable() harness.Scenario {
	const guarantee = "shutdown.approvals-answerable"
	checks := []harness.Check{
		answeredTo(guarantee, "yes", taken), runOnce(guarantee), endWell(guarantee, 1),
		{Name: "exits-at-once", Guarantee: guarantee, Noun: "exit", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: exit, After: personAsk, To: soon(at)}
		}},
		{Name: "exits-clean", Guarantee: guarantee, Noun: "exit-code", Expect: shows(expect.Says{What: exit, Text: "0"})},
	}
	for i, c := range checks {
		checks[i].Expect = func(at harness.At) expect.Expectation { return unlessRefused{c.Expect(at)} }
	}
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
		Checks: checks,
	}
}

// unlessRefused expects something of a server that does not answer the decision as it answers every new request while it drains: one that
// does so follows the source text, which knows no exception, and nothing more can be asked of it.
type unlessRefused struct{ expect.Expectation }

// Judge is that of the expectation, and passes after a 503.
func (x unlessRefused) Judge(h expect.History) expect.Judgement {
	e, ok := h.Find(saying(of(personStatus, "yes"), "503 "))
	if !ok {
		return x.Expectation.Judge(h)
	}
	return expect.Judgement{Verdict: verdict.Pass, Evidence: verdict.Evidence{
		Kind: verdict.Value, At: e.At, Because: []int{e.Seq}, Expected: x.String() + ", or 503 as for every new request", Found: "503, as for every new request",
	}}
}
