package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/harness"
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
	return harness.Scenario{
		ID:    "tools/error-reported-as-error",
		Claim: "a tool call that failed is marked as failed to the model and in the stream's events, and the call beside it is not",
		Needs: []harness.Feature{harness.Streaming},
		Variants: failingTools(func(toolFailure) []harness.Check {
			aura := []harness.Feature{harness.CustomEvents}
			return []harness.Check{
				{Name: "to-the-model", Guarantee: guarantee, Noun: "tool-result", Expect: shows(toldAsFailed{"call_lookup"})},
				{Name: "in-the-event", Guarantee: guarantee, Noun: "tool-complete", Needs: aura,
					Expect: shows(tellsOf{clientCompleted, "call_lookup", `"success":false`})},
				{Name: "not-of-the-other", Guarantee: guarantee, Noun: "tool-complete", Needs: aura,
					Expect: shows(tellsOf{clientCompleted, "call_book", `"success":true`})},
			}
		}),
		Reached: []expect.Event{runsTool("lookup"), ranTool("book")},
	}
}
