package scenarios

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// cancelStopsApprovals: a call that waits for approval stops waiting when its run ends.
func cancelStopsApprovals() harness.Scenario {
	const guarantee = "cancel.stops-approvals"
	return harness.Scenario{
		ID:    "cancel/stops-approvals",
		Claim: "when a run ends early, a tool call that waits for approval stops waiting at once and is not run, and the answer ends at once",
		Needs: needsApprovals(),
		Variants: inEachApproval(func(e approvalEnding, route harness.Approving) []harness.Check {
			checks := append(e.stops(guarantee, route), notRun(guarantee))
			if e.told == "" {
				return checks
			}
			return append(checks, harness.Check{Name: "answer-ends-at-once", Guarantee: guarantee, Noun: "end", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: clientEnd, After: e.over, From: e.window(at), To: e.window(at) + soon(at)}
			}})
		}),
		Dialects: chat()[:1],
	}
}
