package scenarios

import (
	"fmt"
	"strings"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// approvalDecidedOnce: of several decisions one counts.
func approvalDecidedOnce() harness.Scenario {
	const guarantee = "approval.decided-once"
	// The decisions come one after the other, the next when the one before was answered, or all at once.
	play := func(together bool, decisions ...bool) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(books(t)...)
			t.Tools(toolOf("book", thinking(t.Windows), "booked"))
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			id := t.AwaitAsked(1)
			t.Pass(thinking(t.Windows))
			var sent []*caller.Request
			for n, yes := range decisions {
				word := map[bool]string{true: "yes", false: "no"}[yes]
				d := t.Decide(fmt.Sprintf("%s-%d", word, n+1), id, yes)
				if !together {
					t.AwaitEnd(d)
				}
				sent = append(sent, d)
			}
			for _, d := range sent {
				t.AwaitEnd(d)
			}
			t.AwaitEnd(r)
			t.DecideAll()
			t.Pass(t.Stage.Tick)
		}
	}
	oneTaken := func(of int) []harness.Check {
		return []harness.Check{
			{Name: "one-is-taken", Guarantee: guarantee, Noun: "decisions-taken", Expect: shows(expect.Times{What: saying(personStatus, taken), Min: 1, Max: 1})},
			{Name: "others-are-refused", Guarantee: guarantee, Noun: "decisions-refused", Expect: shows(expect.Times{What: saying(personStatus, refused), Min: of, Max: of})},
		}
	}
	conversation := func(name string, checks []harness.Check, together bool, decisions ...bool) harness.Variant {
		return harness.Variant{Name: name, Set: approving(harness.Conversational), Play: play(together, decisions...), Checks: append(checks, oneTaken(len(decisions))...)}
	}
	var many []bool
	for range 8 {
		many = append(many, true, false)
	}
	return harness.Scenario{
		ID:       "approval/decided-once",
		Claim:    "of several decisions on one approval the first counts, and the others are answered with 404",
		Needs:    needsApprovals(),
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			conversation("yes-twice", []harness.Check{runOnce(guarantee)}, false, true, true),
			conversation("no-then-yes", []harness.Check{notRun(guarantee)}, false, false, true),
			conversation("yes-then-no", []harness.Check{runOnce(guarantee), answeredTo(guarantee, "yes-1", taken)}, false, true, false),
			conversation("yes-twice-at-once", []harness.Check{runOnce(guarantee)}, true, true, true),
			conversation("many-at-once", []harness.Check{{Name: "runs-for-yes-only", Guarantee: guarantee, Noun: "tool-call", Expect: shows(runsForYes{})}}, true, many...),
			{Name: "webhook", Set: approving(harness.Webhook), Play: func(t *harness.Trial) {
				t.Script(books(t)...)
				t.Tools(toolOf("book", 0, "booked"))
				t.Approver(approver.Program{Times: script.Any, Steps: []script.Step{script.Pause{For: thinking(t.Windows)}, approver.Decide{Approved: true}}})
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}, Checks: []harness.Check{runOnce(guarantee), {
				Name: "asked-once", Guarantee: guarantee, Noun: "question", Expect: shows(expect.Times{What: approverRequest, Min: 1, Max: 1}),
			}}},
		},
		Checks: []harness.Check{endWell(guarantee, 1)},
	}
}

// runsForYes expects the tool to be called once when the decision that was taken is a yes, and never else.
type runsForYes struct{}

// Judge fails as a count, and is inconclusive when none was taken.
func (x runsForYes) Judge(h expect.History) expect.Judgement {
	e, ok := h.Find(saying(personStatus, taken))
	if !ok {
		return missed(x, "decision that was taken")
	}
	want := 0
	if strings.HasPrefix(e.Ref, "yes") {
		want = 1
	}
	return expect.Times{What: runsTool("book"), Min: want, Max: want}.Judge(h)
}

func (x runsForYes) String() string {
	return "the tool called when the decision that was taken is a yes"
}
