package scenarios

import (
	"fmt"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// runSurvivesPanic: a panic is the failure of its own run and of nothing else.
func runSurvivesPanic() harness.Scenario {
	panics := func(stream bool) func(*harness.Trial) {
		return func(t *harness.Trial) {
			text := script.Text{Chunks: []string{"still ", "here ", "all along"}, Every: t.Windows.Heartbeat * 3 / 7}
			t.Script(script.Program{Steps: []script.Step{text, script.Finish{Reason: "stop"}, script.Usage{Prompt: 9, Completion: 3}, script.Done{}, script.End{}}}, script.Answer("and ", "afterwards"))
			neighbour := t.Ask(caller.Ask{Name: "neighbour", Prompt: "hello", Stream: true})
			t.Await(of(clientText, "neighbour"))
			t.Pass(t.Windows.Heartbeat / 7)
			victim := t.Ask(caller.Ask{Name: "victim", Prompt: "[[fault:panic]]", Stream: stream})
			t.AwaitEnd(victim)
			t.AwaitEnd(neighbour)
			t.AwaitEnd(t.Ask(caller.Ask{Name: "next", Prompt: "hello again", Stream: true}))
		}
	}
	// The victim's call panics while it waits for approval. Its model is the second that is asked.
	waiting := func(t *harness.Trial) {
		text := script.Text{Chunks: []string{"still ", "here ", "all along"}, Every: t.Windows.Heartbeat * 3 / 7}
		call := t.ToolCall("call_1", "book", fmt.Sprintf(`{"city":"Oslo","fault":"[[fault:panic %s]]"}`, thinking(t.Windows)))
		t.Script(script.Program{Steps: []script.Step{text, script.Finish{Reason: "stop"}, script.Usage{Prompt: 9, Completion: 3}, script.Done{}, script.End{}}},
			calling(script.Role{}, call), script.Answer("and ", "afterwards"))
		t.Tools(toolOf("book", 0, "booked"))
		neighbour := t.Ask(caller.Ask{Name: "neighbour", Prompt: "hello", Stream: true})
		t.Await(of(clientText, "neighbour"))
		t.Pass(t.Windows.Heartbeat / 7)
		t.AwaitEnd(t.Ask(caller.Ask{Name: "victim", Prompt: "hello", Stream: true}))
		t.AwaitEnd(neighbour)
		t.DecideAll()
		t.AwaitEnd(t.Ask(caller.Ask{Name: "next", Prompt: "hello again", Stream: true}))
	}
	// A worker of the victim's panics, in the middle of the work of the one beside it or after that of another.
	working := func(beside bool) func(*harness.Trial) {
		return func(t *harness.Trial) {
			one, other := task(t, alpha), task(t, beta)
			plan, worker := plans(other, one), delivers(beta, "rain")
			if beside {
				plan, worker = plans(sideBySide(one, other)), by(beta, silent(script.Role{}))
			}
			call := t.ToolCall("call_1", "book", fmt.Sprintf(`{"city":"Oslo","fault":"[[fault:panic %s]]"}`, thinking(t.Windows)))
			t.Tools(toolOf("book", 0, "booked"))
			answer := harness.PlainCall("respond_1", "respond_directly", map[string]any{"response": "still here all along", "routing_rationale": "it is known"})
			t.Script(by(leader, calling(script.Role{}, script.Pause{For: t.Windows.Heartbeat * 6 / 7}, answer)), plan, worker, by(alpha, calling(script.Role{}, call)), responds("and afterwards"))
			neighbour := t.Ask(caller.Ask{Name: "neighbour", Prompt: "hello", Stream: true})
			t.Await(asked(leader))
			t.Pass(t.Windows.Heartbeat / 7)
			t.AwaitEnd(t.Ask(caller.Ask{Name: "victim", Prompt: "hello", Stream: true}))
			t.AwaitEnd(neighbour)
			t.AwaitEnd(t.Ask(caller.Ask{Name: "next", Prompt: "hello again", Stream: true}))
		}
	}
	atOnce := func(after expect.Event, delay func(harness.Windows) time.Duration) harness.Check {
		return harness.Check{Name: "at-once", Guarantee: "run.survives-panic", Noun: "error-delay", Expect: func(at harness.At) expect.Expectation {
			from := delay(at.Windows)
			return expect.Happens{What: of(clientError, "victim"), After: after, From: from, To: from + at.Once}
		}}
	}
	none := func(harness.Windows) time.Duration { return 0 }
	check := func(name, noun string, x expect.Expectation) harness.Check {
		return harness.Check{Name: name, Guarantee: "run.survives-panic", Noun: noun, Expect: shows(x)}
	}
	orchestratedApprovals := []harness.Feature{harness.Orchestration, harness.Approvals}
	orchestratedApproving := approving(harness.Conversational)
	orchestratedApproving.Orchestrated = true
	return harness.Scenario{
		ID:    "run/survives-panic",
		Claim: "a panic ends its own run with one internal error at once, and neighbours and later requests are whole",
		Needs: []harness.Feature{harness.Streaming, harness.NonStreaming, harness.FaultHooks, harness.ErrorFrames},
		Variants: []harness.Variant{
			{Name: "streaming", Play: panics(true), Checks: []harness.Check{
				atOnce(of(clientAsk, "victim"), none),
				check("status", "status", expect.Says{What: of(clientStatus, "victim"), Text: "200 "}),
				check("ends-properly", "end", expect.InOrder{of(clientError, "victim"), of(clientDone, "victim"), saying(of(clientEnd, "victim"), "complete")}),
			}},
			{Name: "waiting-for-approval", Needs: []harness.Feature{harness.Approvals}, Dialects: chat()[:1], Set: approving(harness.Conversational), Play: waiting, Checks: []harness.Check{
				atOnce(approvalPending, thinking),
				check("ends-properly", "end", expect.InOrder{of(clientError, "victim"), of(clientDone, "victim"), saying(of(clientEnd, "victim"), "complete")}),
				answeredTo("run.survives-panic", "late-1", refused),
			}},
			{Name: "in-a-worker", Needs: orchestratedApprovals, Dialects: chat()[:1], Set: orchestratedApproving, Play: working(false), Checks: []harness.Check{
				atOnce(approvalPending, thinking),
			}},
			{Name: "in-a-worker-beside-another", Needs: orchestratedApprovals, Dialects: chat()[:1], Set: orchestratedApproving, Play: working(true), Checks: []harness.Check{
				atOnce(approvalPending, thinking),
				{Name: "ends-the-other-worker", Guarantee: "run.survives-panic", Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
					return expect.Happens{What: providerLeft, After: approvalPending, From: thinking(at.Windows), To: thinking(at.Windows)}
				}},
			}},
			{Name: "whole", Play: panics(false), Checks: []harness.Check{
				atOnce(of(clientAsk, "victim"), none),
				check("status", "status", expect.Says{What: of(clientStatus, "victim"), Text: "500 "}),
				check("ends-properly", "end", expect.InOrder{of(clientError, "victim"), saying(of(clientEnd, "victim"), "complete")}),
			}},
		},
		Checks: []harness.Check{
			check("one-error", "error-frame", expect.Times{What: of(clientError, "victim"), Min: 1, Max: 1}),
			check("names-it", "error-code", expect.Says{What: of(clientError, "victim"), Text: "internal_error"}),
			check("neighbour-whole", "neighbour", expect.Reads{What: of(clientText, "neighbour"), Text: "still here all along"}),
			check("neighbour-ends-well", "neighbour", expect.InOrder{of(clientFinish, "neighbour"), of(clientDone, "neighbour")}),
			check("next-whole", "next-request", expect.Reads{What: of(clientText, "next"), Text: "and afterwards"}),
			check("next-ends-well", "next-request", expect.InOrder{of(clientFinish, "next"), of(clientDone, "next")}),
			check("server-lives", "exit", expect.Never{What: exit}),
		},
	}
}
