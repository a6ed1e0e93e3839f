package scenarios

import (
	"fmt"
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// What scenarios about approvals share. The tool book needs one, lookup does not.

var (
	approvalRequested = saying(clientEvent, "aura.approval_requested ")
	approvalPending   = saying(clientEvent, "aura.approval_pending ")
	approvalCompleted = saying(clientEvent, "aura.approval_completed ")

	personAsk    = expect.Event{Lane: harness.PersonLane, Kind: "ask"}
	personStatus = expect.Event{Lane: harness.PersonLane, Kind: "status"}

	approverRequest = expect.Event{Lane: harness.ApproverLane, Kind: "request"}
	approverDecide  = expect.Event{Lane: harness.ApproverLane, Kind: "decide"}
	approverStall   = expect.Event{Lane: harness.ApproverLane, Kind: "stall"}
	approverLeft    = expect.Event{Lane: harness.ApproverLane, Kind: "left"}
)

// The statuses of decisions that are taken and of those that are not.
const (
	taken   = "204 "
	refused = "404 "
)

// needsApprovals is what the scenarios need: even their events come whatever else is on.
func needsApprovals(more ...harness.Feature) []harness.Feature {
	return append([]harness.Feature{harness.Streaming, harness.Approvals}, more...)
}

// approving is a server with a tool that needs approval, by either route.
func approving(route harness.Approving) harness.Set {
	return harness.Set{Tools: harness.HTTPTools, Approval: route}
}

// expiring is one whose approvals expire within a run.
func expiring(route harness.Approving) harness.Set {
	s := approving(route)
	s.Expires = true
	return s
}

// bothRoutes is a variant for each.
func bothRoutes(v harness.Variant, play func(route harness.Approving) func(*harness.Trial), checks func(route harness.Approving) []harness.Check) []harness.Variant {
	var out []harness.Variant
	for _, route := range []harness.Approving{harness.Conversational, harness.Webhook} {
		one := v
		one.Name = string(route)
		if v.Name != "" {
			one.Name = v.Name + "-" + string(route)
		}
		one.Set.Tools, one.Set.Approval = harness.HTTPTools, route
		one.Play, one.Checks = play(route), slices.Concat(v.Checks, checks(route))
		out = append(out, one)
	}
	return out
}

// books is a model that calls book and is then asked again.
func books(t *harness.Trial) []script.Program {
	return asks(t, t.ToolCall("call_1", "book", `{"city":"Oslo"}`))
}

// decides is a webhook that decides so.
func decides(d approver.Decide, before ...script.Step) approver.Program {
	return approver.Program{Steps: append(before, d)}
}

// decidedAfter has a run play these programs, and its call of book, which waits for approval, decided after so long by either route.
func decidedAfter(route harness.Approving, yes bool, wait func(harness.Windows) time.Duration, whole bool, programs func(*harness.Trial) []script.Program) func(*harness.Trial) {
	name, decision := "yes", approver.Decide{Approved: true}
	if !yes {
		name, decision = "no", approver.Decide{Reason: "as no says"} // as a person says it
	}
	return func(t *harness.Trial) {
		t.Script(programs(t)...)
		t.Tools(toolOf("book", 0, "booked"))
		if route == harness.Webhook {
			t.Approver(decides(decision, script.Pause{For: wait(t.Windows)}))
		}
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: !whole})
		if route == harness.Conversational {
			id := t.AwaitAsked(1)
			t.Pass(wait(t.Windows))
			t.Decide(name, id, yes)
		}
		t.AwaitEnd(r)
	}
}

// askedAbout has a run call book, which waits for approval, and returns when a person or the webhook knows of it. The webhook never answers.
func askedAbout(t *harness.Trial, whole bool) *caller.Request {
	t.Script(books(t)...)
	return waits(t, caller.Ask{Name: "first", Prompt: "hello", Stream: !whole})
}

// waits does so with a script that is told already.
func waits(t *harness.Trial, a caller.Ask) *caller.Request {
	keepWaiting(t)
	return askedIn(t, a)
}

// keepWaiting tells the tool what to do for a run that waits for approval, and the webhook never to answer.
func keepWaiting(t *harness.Trial) {
	t.Tools(toolOf("book", 0, "booked"))
	if t.Stage.Approver != nil {
		t.Approver(approver.Program{Steps: []script.Step{fault.Stall{}}})
	}
}

// askedIn has a run ask for its approval.
func askedIn(t *harness.Trial, a caller.Ask) *caller.Request {
	r := t.Ask(a)
	if t.Stage.Approver != nil {
		t.Await(approverStall)
	} else {
		t.AwaitAsked(1)
	}
	return r
}

// thinking is how long a person takes: off every window and heartbeat, and within the grace.
func thinking(w harness.Windows) time.Duration { return w.Heartbeat * 2 / 7 }

// approvalEnding is a way in which a run ends early while a call of it waits for approval.
type approvalEnding struct {
	callEnding
	told  string // why, as the client is told; it is gone when empty
	fault bool   // the call itself is at fault
}

// approvalEndings are those of calls, and a panic.
func approvalEndings() []approvalEnding {
	var out []approvalEnding
	for _, e := range slices.Concat(leavings(), cappings(), []callEnding{draining()}) {
		out = append(out, approvalEnding{callEnding: e, told: map[string]string{"timeout": "timeout", "server shutdown": "shutdown"}[e.reason]})
	}
	return append(out, approvalEnding{told: "run_failed", fault: true, callEnding: callEnding{
		name: "panic", over: approvalPending, window: func(at harness.At) time.Duration { return thinking(at.Windows) },
		needs: []harness.Feature{harness.Streaming, harness.FaultHooks}, end: (*harness.Trial).AwaitEnd,
	}})
}

// by says whether a run can end so on this route: without a stream nobody could be asked, and a fault is one of conversations.
func (e approvalEnding) by(route harness.Approving) bool {
	return route == harness.Conversational && !e.whole || route == harness.Webhook && !e.fault
}

// exits says whether the server ends with the run.
func (e approvalEnding) exits() bool { return e.over == signal }

// arguments are those of the call that waits.
func (e approvalEnding) arguments(w harness.Windows) string {
	if e.fault {
		return fmt.Sprintf(`{"city":"Oslo","fault":"[[fault:panic %s]]"}`, thinking(w))
	}
	return `{"city":"Oslo"}`
}

// play has a run end so. What was asked is then decided once more, while there is a server.
func (e approvalEnding) play(t *harness.Trial) {
	t.Script(asks(t, t.ToolCall("call_1", "book", e.arguments(t.Windows)))...)
	e.end(t, waits(t, caller.Ask{Name: "first", Prompt: "hello", Stream: !e.whole}))
	if !e.exits() {
		t.Stage.Settle()
		t.Pass(t.Stage.Once) // a server may take so long to see that a client has left
		t.DecideAll()
		t.Pass(t.Stage.Tick) // for what a decision that is taken would bring about
	}
}

// inEachApproval are the variants of these endings on each route that they are for.
func inEachApproval(checks func(e approvalEnding, route harness.Approving) []harness.Check) []harness.Variant {
	var out []harness.Variant
	for _, e := range approvalEndings() {
		for _, route := range []harness.Approving{harness.Conversational, harness.Webhook} {
			if e.by(route) {
				out = append(out, harness.Variant{Name: e.name + "-" + string(route), Needs: e.needs, Set: approving(route), Play: e.play, Checks: checks(e, route)})
			}
		}
	}
	return out
}

// notRun is the check that the tool is never called.
func notRun(guarantee string) harness.Check {
	return harness.Check{Name: "tool-not-run", Guarantee: guarantee, Noun: "tool-call", Expect: shows(expect.Never{What: runsTool("book")})}
}

// runOnce is the check that it is called once.
func runOnce(guarantee string) harness.Check {
	return harness.Check{Name: "tool-run-once", Guarantee: guarantee, Noun: "tool-call", Expect: shows(expect.Times{What: runsTool("book"), Min: 1, Max: 1})}
}

// answeredTo is the check that a decision is answered with this status.
func answeredTo(guarantee, decision, status string) harness.Check {
	return harness.Check{Name: "status-of-" + decision, Guarantee: guarantee, Noun: "decision-status", Expect: shows(expect.Says{What: of(personStatus, decision), Text: status})}
}

// stops is the check that nobody waits for the decision any more when the run has ended.
func (e approvalEnding) stops(guarantee string, route harness.Approving) []harness.Check {
	if route == harness.Webhook {
		return []harness.Check{{Name: "webhook-let-go", Guarantee: guarantee, Noun: "webhook-left", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: approverLeft, After: e.over, From: e.window(at), To: e.window(at) + soon(at)}
		}}}
	}
	if e.exits() {
		return nil
	}
	return []harness.Check{answeredTo(guarantee, "late-1", refused)}
}

// toldOfOutcome is the check that the client is told how an approval ended.
func toldOfOutcome(guarantee, outcome string) harness.Check {
	return harness.Check{Name: "client-told", Guarantee: guarantee, Noun: "outcome", Expect: shows(expect.Says{What: approvalCompleted, Text: outcome})}
}
