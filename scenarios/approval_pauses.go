package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// approvalPauses: a tool call waits for its yes.
func approvalPauses() harness.Scenario {
	const guarantee = "approval.pauses"
	play := func(route harness.Approving, whole bool, calls ...string) func(*harness.Trial) {
		return decidedAfter(route, true, thinking, whole, func(t *harness.Trial) []script.Program { return asks(t, callEach(t, calls...)...) })
	}
	checks := func(route harness.Approving) []harness.Check {
		yes := of(personAsk, "yes")
		if route == harness.Webhook {
			yes = approverDecide
		}
		out := []harness.Check{
			{Name: "not-before-yes", Guarantee: guarantee, Noun: "tool-call", Expect: shows(afterYes{runsTool("book"), yes})},
			{Name: "at-once-after-yes", Guarantee: guarantee, Noun: "tool-delay", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: runsTool("book"), After: yes, To: at.Once}
			}},
			runOnce(guarantee), isTold(guarantee, "call_book", "booked"),
		}
		if route == harness.Conversational {
			out = append(out, answeredTo(guarantee, "yes", taken))
		}
		return out
	}
	variants := bothRoutes(harness.Variant{}, func(route harness.Approving) func(*harness.Trial) { return play(route, false, "book") }, checks)
	variants = append(variants, bothRoutes(harness.Variant{Name: "among-others"}, func(route harness.Approving) func(*harness.Trial) {
		return play(route, false, "lookup", "book")
	}, func(route harness.Approving) []harness.Check {
		return append(checks(route), harness.Check{Name: "others-run-at-once", Guarantee: guarantee, Noun: "other-call", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: runsTool("lookup"), After: clientAsk, To: at.Once}
		}})
	})...)
	variants = append(variants, harness.Variant{Name: "whole-webhook", Needs: []harness.Feature{harness.NonStreaming}, Set: approving(harness.Webhook),
		Play: play(harness.Webhook, true, "book"), Checks: checks(harness.Webhook)})
	variants = append(variants, pausesMore(guarantee)...)
	return harness.Scenario{
		ID:       "approval/pauses",
		Claim:    "a tool call that needs approval reaches its tool at once when the yes has come, and not before",
		Needs:    needsApprovals(),
		Dialects: chat()[:1],
		Variants: variants,
		Reached:  []expect.Event{nth(providerRequest, 2)},
		Checks:   []harness.Check{endWell(guarantee, 1)},
	}
}

// afterYes expects no call before there is a yes, also when there never is one.
type afterYes struct{ call, yes expect.Event }

// Judge fails as forbidden.
func (x afterYes) Judge(h expect.History) expect.Judgement {
	if _, ok := h.Find(x.yes); !ok {
		return expect.Never{What: x.call}.Judge(h)
	}
	return expect.Never{What: x.call, Before: x.yes}.Judge(h)
}

func (x afterYes) String() string { return expect.Never{What: x.call, Before: x.yes}.String() }
