package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// failureWords are those of which a model is told at least one when a call failed; no result of a scenario's tool has any.
var failureWords = []string{"error", "fail", "invalid", "malformed", "not valid", "not found", "unknown", "no such", "no tool", "does not exist", "not a"}

// toldAsFailed expects what the model is told of a call to say that it failed: in words, in its JSON or by a flag.
type toldAsFailed struct{ id string }

// Judge fails as a value when it reads as a result; it is inconclusive when the model is told nothing.
func (x toldAsFailed) Judge(h expect.History) expect.Judgement {
	e, ok := h.Find(tells(x.id))
	if !ok {
		return missed(x, tells(x.id).String())
	}
	text := strings.ToLower(e.Detail)
	says := slices.ContainsFunc(failureWords, func(word string) bool { return strings.Contains(text, word) })
	return found(says, e, x.String(), fmt.Sprintf("%.80q", e.Detail))
}

func (x toldAsFailed) String() string { return "the model told that call " + x.id + " failed" }

// toolsErrorReportedAsError: a failure does not read like a result.
func toolsErrorReportedAsError() harness.Scenario {
	const guarantee = "tools.error-reported-as-error"
	aura := []harness.Feature{harness.CustomEvents}
	checks := []harness.Check{
		{Name: "to-the-model", Guarantee: guarantee, Noun: "tool-result", Expect: shows(toldAsFailed{"call_lookup"})},
		{Name: "in-the-event", Guarantee: guarantee, Noun: "tool-complete", Needs: aura,
			Expect: shows(tellsOf{clientCompleted, "call_lookup", `"success":false`})},
		{Name: "not-of-the-other", Guarantee: guarantee, Noun: "tool-complete", Needs: aura,
			Expect: shows(tellsOf{clientCompleted, "call_book", `"success":true`})},
	}
	variants := failingTools(func(toolFailure) []harness.Check { return checks })
	for i := range variants {
		variants[i].Reached = []expect.Event{runsTool("lookup")}
	}
	// What never reaches a server is called second, and so is what takes the session along.
	second := func(name string, over harness.Tooling, call script.Tool, steps ...script.Step) {
		v := harness.Variant{Name: name, Set: harness.Set{Tools: over}, Dialects: chat()[:1], Checks: checks, Play: func(t *harness.Trial) {
			failing := call
			if steps != nil {
				failing = t.ToolCall(call.ID, call.Name, call.Args[0])
			}
			failing.Index = 1
			t.Script(asks(t, append(callEach(t, "book"), failing)...)...)
			s := working(t, "book")
			if steps != nil {
				s.Programs = []mcp.Program{{When: mcp.When{Tool: "lookup"}, Steps: append([]script.Step{script.Pause{For: t.Windows.Heartbeat / 7}}, steps...)}}
			}
			t.Tools(s)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}}
		if steps != nil {
			v.Reached = []expect.Event{runsTool("lookup")}
		}
		variants = append(variants, v)
	}
	good := script.Tool{ID: "call_lookup", Name: "lookup", Args: []string{`{"for":"lookup"}`}}
	unknown, broken := good, good
	unknown.Name, broken.Args = "teleport", []string{`Oslo`}
	second("unknown-tool", harness.HTTPTools, unknown)
	second("invalid-arguments", harness.HTTPTools, broken)
	second("session-gone", harness.HTTPTools, good, fault.Status{Code: 404})
	second("stream-cut", harness.SSETools, good, fault.Cut{})
	second("dead-child", harness.StdioTools, good, mcp.Exit{Code: 3})
	return harness.Scenario{
		ID:       "tools/error-reported-as-error",
		Claim:    "a tool call that failed, at its server or on the way there, is marked as failed to the model and in the stream's events, and the call beside it is not",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true, // a call without its arguments could not be told from another trial's
		Variants: variants,
		Reached:  []expect.Event{ranTool("book")},
	}
}
