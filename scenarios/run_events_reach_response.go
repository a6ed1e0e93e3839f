package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// burst is how many pieces a model sends at one instant: above any buffer of a run that a server is set up with here.
const burst = 100

// runEventsReachResponse: the events of a run arrive, in order and before its terminal frame.
func runEventsReachResponse() harness.Scenario {
	ask := func(steps func(*harness.Trial) []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Steps: steps(t)})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	answer := func(think script.Think, text script.Text) []script.Step {
		return []script.Step{script.Role{}, think, script.Pause{For: text.Every}, text, script.Finish{Reason: "stop"}, script.Usage{Prompt: 11, Completion: 7}, script.Done{}, script.End{}}
	}
	check := func(name, noun string, x func(at harness.At) expect.Expectation) harness.Check {
		return harness.Check{Name: name, Guarantee: "run.events-reach-response", Noun: noun, Expect: x}
	}
	just := func(x expect.Expectation) func(harness.At) expect.Expectation {
		return func(harness.At) expect.Expectation { return x }
	}
	session, usage, reasoning := saying(clientEvent, "aura.session_info"), saying(clientEvent, "aura.usage"), saying(clientEvent, "aura.reasoning")
	firstThought, secondThought := saying(clientEvent, `"weigh it"`), saying(clientEvent, `"decide"`)
	counted := []harness.Check{
		check("usage-once", "usage-event", just(expect.Times{What: usage, Min: 1, Max: 1})),
		check("usage-prompt", "usage-content", just(expect.Says{What: usage, Text: `"prompt_tokens":11`})),
		check("usage-completion", "usage-content", just(expect.Says{What: usage, Text: `"completion_tokens":7`})),
		check("usage-total", "usage-content", just(expect.Says{What: usage, Text: `"total_tokens":18`})),
		check("usage-before-end", "usage-event", just(expect.InOrder{usage, clientFinish, clientDone})),
	}
	thoughts := []harness.Check{
		check("in-order", "event-order", just(expect.InOrder{session, firstThought, secondThought, saying(clientText, "first"), saying(clientText, "second"), usage, clientFinish, clientDone})),
		check("reasoning-count", "reasoning-event", just(expect.Times{What: reasoning, Min: 2, Max: 2})),
	}
	const told = 3 // times that the tool tells of its progress
	tool := func(next ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			every := t.Windows.Heartbeat * 2 / 7
			lookup := toolOf("lookup", every*(told+1), "rain")
			lookup.Tools[0].Progress = mcp.Progress{Every: every, Count: told, Text: "so far"}
			t.Script(calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`)), script.Program{Steps: next})
			t.Tools(lookup)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	requested, started, completed := eventOf("requested", "call_1"), eventOf("start", "call_1"), eventOf("complete", "call_1")
	ofTool := func(rest ...expect.Event) []harness.Check {
		checks := []harness.Check{
			check("tool-events-in-order", "event-order", just(append(expect.InOrder{
				session, requested, started, clientProgress, nth(clientProgress, told), completed}, rest...))),
			check("every-progress", "progress-event", just(expect.Times{What: clientProgress, Min: told, Max: told})),
			check("tool-completed-at-once", "tool-delay", func(at harness.At) expect.Expectation {
				return expect.Happens{What: completed, After: nth(toolResult, -1), To: at.Once}
			}),
		}
		for n := range told {
			checks = append(checks, check(fmt.Sprintf("progress-%d-at-once", n+1), "progress-delay", func(at harness.At) expect.Expectation {
				return expect.Happens{What: nth(clientProgress, n+1), After: nth(toolProgress, n+1), To: at.Once}
			}))
		}
		return checks
	}
	toolUsage := saying(clientEvent, "aura.tool_usage")
	ofTools := overTransports(harness.Variant{Name: "tool", Reached: []expect.Event{nth(toolProgress, told)}, Play: tool(proper(script.Text{Chunks: []string{"done"}}).Steps...),
		Checks: append(ofTool(toolUsage, usage, clientFinish, clientDone), check("tool-usage-once", "tool-usage-event", just(expect.Times{What: toolUsage, Min: 1, Max: 1})))})
	ofTools = append(ofTools, harness.Variant{Name: "tool-before-a-failure", Set: harness.Set{Tools: harness.HTTPTools}, Needs: []harness.Feature{harness.ErrorFrames},
		Play: tool(script.Error{Code: "overloaded", Message: "try again later"}, script.End{}), Checks: ofTool(clientError, clientDone)})
	ofTools = append(ofTools, harness.Variant{Name: "approval", Needs: []harness.Feature{harness.Approvals}, Dialects: chat()[:1], Set: approving(harness.Conversational),
		Play: func(t *harness.Trial) {
			t.Script(books(t)...)
			t.Tools(toolOf("book", 0, "booked"))
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			id := t.AwaitAsked(1)
			t.Pass(thinking(t.Windows))
			t.Decide("yes", id, true)
			t.AwaitEnd(r)
		}, Checks: []harness.Check{
			check("approval-events-in-order", "event-order", just(expect.InOrder{
				session, requested, approvalRequested, approvalPending, approvalCompleted, started, completed, usage, clientFinish, clientDone})),
			check("asked-once", "approval-event", just(expect.Times{What: approvalPending, Min: 1, Max: 1})),
			check("asked-at-once", "approval-delay", func(at harness.At) expect.Expectation {
				return expect.Happens{What: approvalPending, After: providerRequest, To: at.Once}
			}),
			check("told-at-once", "approval-delay", func(at harness.At) expect.Expectation {
				return expect.Happens{What: approvalCompleted, After: personAsk, To: at.Once}
			}),
			check("says-what-for", "approval-content", just(expect.Says{What: approvalPending, Text: `"arguments":{"city":"Oslo"`})),
		}})
	return harness.Scenario{
		ID:    "run/events-reach-response",
		Claim: "session, reasoning, tool, progress and usage events reach the client at once, in the model's order, before the terminal frame",
		Needs: []harness.Feature{harness.Streaming, harness.CustomEvents},
		Variants: append([]harness.Variant{
			{Name: "together", Checks: slices.Concat(counted, thoughts), Play: ask(func(*harness.Trial) []script.Step {
				return answer(script.Think{Chunks: []string{"weigh it", "decide"}}, script.Text{Chunks: []string{"first ", "second"}})
			})},
			{Name: "paced", Play: ask(func(t *harness.Trial) []script.Step {
				every := t.Windows.Heartbeat * 3 / 7
				return answer(script.Think{Chunks: []string{"weigh it", "decide"}, Every: every}, script.Text{Chunks: []string{"first ", "second"}, Every: every})
			}), Checks: slices.Concat(counted, thoughts, []harness.Check{
				check("reasoning-at-once", "reasoning-delay", func(at harness.At) expect.Expectation {
					from := at.Heartbeat * 3 / 7
					return expect.Happens{What: secondThought, After: providerRequest, From: from, To: from + at.Once}
				}),
			})},
			{Name: "burst", Play: ask(func(*harness.Trial) []script.Step {
				return answer(script.Think{Chunks: pieces(burst)}, script.Text{Chunks: pieces(burst)})
			}), Checks: slices.Concat(counted, []harness.Check{
				check("every-thought", "reasoning-event", just(expect.Times{What: reasoning, Min: burst, Max: burst})),
				check("every-text", "text", just(expect.Reads{What: clientText, Text: strings.Join(pieces(burst), "")})),
			})},
			{Name: "before-a-failure", Needs: []harness.Feature{harness.ErrorFrames}, Play: ask(func(*harness.Trial) []script.Step {
				return []script.Step{script.Think{Chunks: []string{"weigh it", "decide"}}, script.Error{Code: "overloaded", Message: "try again later"}, script.End{}}
			}), Checks: []harness.Check{
				check("in-order", "event-order", just(expect.InOrder{session, firstThought, secondThought, clientError, clientDone})),
			}},
		}, ofTools...),
		Checks: []harness.Check{
			check("session-first", "first-event", just(expect.Says{What: clientEvent, Text: "aura.session_info"})),
			check("session-before-text", "event-order", just(expect.Never{What: clientText, Before: session})),
			check("session-once", "session-event", just(expect.Times{What: session, Min: 1, Max: 1})),
		},
	}
}

// pieces are n different pieces of text.
func pieces(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = string(rune('a'+i%26)) + strings.Repeat(".", i/26) + " "
	}
	return out
}
