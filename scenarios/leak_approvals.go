package scenarios

import (
	"fmt"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// leakApprovals: however approvals and runs end, no approval is open afterwards.
func leakApprovals() harness.Scenario {
	const guarantee = "leak.approvals"
	check := func(name, noun string, x expect.Expectation) harness.Check {
		return harness.Check{Name: name, Guarantee: guarantee, Noun: noun, Expect: shows(x)}
	}
	call := func(t *harness.Trial, n int, more string) script.Program {
		return calling(script.Role{}, t.ToolCall(fmt.Sprintf("call_%d", n), "book", fmt.Sprintf(`{"trip":%d%s}`, n, more)))
	}
	done := func() script.Program { return proper(script.Role{}, script.Text{Chunks: []string{"done"}}) }
	ask := func(t *harness.Trial, n int) *caller.Request {
		return t.Ask(caller.Ask{Name: fmt.Sprintf("run-%d", n), Prompt: "hello", Stream: true})
	}
	finish := func(t *harness.Trial) {
		t.DecideAll()
		t.Pass(t.Stage.Tick)
		t.Signal("SIGTERM")
		t.AwaitExit()
	}
	// One each of yes, no, two leavings, a panic where one can be had, and two runs that are ended by the stream clock.
	conversation := func(panics bool) func(*harness.Trial) {
		return func(t *harness.Trial) {
			programs := []script.Program{call(t, 1, ""), done(), call(t, 2, ""), done(), call(t, 3, ""), call(t, 4, "")}
			if panics {
				programs = append(programs, call(t, 5, fmt.Sprintf(`,"fault":"[[fault:panic %s]]"`, thinking(t.Windows))))
			}
			t.Script(append(programs, call(t, 6, ""), call(t, 7, ""))...)
			t.Tools(toolOf("book", 0, "booked"))
			n := 0
			next := func() (*caller.Request, string) {
				n++
				r := ask(t, n)
				return r, t.AwaitAsked(n)
			}
			for _, yes := range []bool{true, false} {
				r, id := next()
				t.Decide(map[bool]string{true: "yes", false: "no"}[yes], id, yes)
				t.AwaitEnd(r)
			}
			for _, how := range []caller.Leaving{caller.Close, caller.Reset} {
				r, _ := next()
				r.Leave(how)
			}
			if panics {
				r, _ := next()
				t.AwaitEnd(r)
			}
			r, _ := next()
			other, _ := next()
			t.AwaitEnd(r)
			t.AwaitEnd(other)
			finish(t)
		}
	}
	webhook := func(t *harness.Trial) {
		t.Script(call(t, 1, ""), done(), call(t, 2, ""), done(), call(t, 3, ""), call(t, 4, ""), call(t, 5, ""))
		t.Tools(toolOf("book", 0, "booked"))
		t.Approver(decides(approver.Decide{Approved: true}), decides(approver.Decide{}), approver.Program{Times: 3, Steps: []script.Step{fault.Stall{}}})
		t.AwaitEnd(ask(t, 1))
		t.AwaitEnd(ask(t, 2))
		for n, how := range []caller.Leaving{caller.Close, caller.Reset} {
			r := ask(t, n+3)
			t.Await(nth(approverStall, n+1))
			r.Leave(how)
		}
		t.AwaitEnd(ask(t, 5))
		finish(t)
	}
	open := func(asked int) []harness.Check {
		return []harness.Check{
			check("all-were-asked", "questions", expect.Times{What: approvalRequested, Min: 2, Max: asked}),
			check("none-is-open", "open-approvals", expect.Times{What: saying(personStatus, refused), Min: asked, Max: asked}),
			check("only-yes-was-run", "tool-call", expect.Times{What: runsTool("book"), Min: 1, Max: 1}),
		}
	}
	return harness.Scenario{
		ID:       "leak/approvals",
		Claim:    "after runs with every ending no approval that was ever asked for can be decided any more, and a server told to stop exits at once",
		Needs:    needsApprovals(harness.Signals),
		Alone:    true,
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "conversational", Set: approving(harness.Conversational), Play: conversation(false), Checks: open(6)},
			{Name: "conversational-panics", Set: approving(harness.Conversational), Needs: []harness.Feature{harness.FaultHooks}, Play: conversation(true), Checks: open(7)},
			{Name: "webhook", Set: approving(harness.Webhook), Play: webhook, Checks: []harness.Check{
				check("each-was-let-go", "open-approvals", expect.Times{What: approverLeft, Min: 3, Max: 3}),
				check("only-yes-was-run", "tool-call", expect.Times{What: runsTool("book"), Min: 1, Max: 1}),
			}},
		},
		Checks: []harness.Check{{Name: "exits-at-once", Guarantee: guarantee, Noun: "exit", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: exit, After: signal, To: soon(at)}
		}}},
	}
}
