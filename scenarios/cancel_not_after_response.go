package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// cancelNotAfterResponse: a call that has its answer is over, whatever becomes of its run.
func cancelNotAfterResponse() harness.Scenario {
	const id = "cancel.not-after-response"
	none := []harness.Check{{Name: "cancels-nothing", Guarantee: id, Noun: "cancellation", Expect: shows(expect.Never{What: toolCancelled})}}
	legacy := func(v harness.Variant) []harness.Variant {
		return slices.DeleteFunc(overTransports(v), func(v harness.Variant) bool { return v.Set.Tools == harness.ModernTools }) // it has no cancellations
	}
	// The run ends when the model is silent after the result.
	later := func(e callEnding, tool mcp.Tool) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`)), silent(script.Role{}))
			t.Tools(mcp.Script{Tools: []mcp.Tool{tool}})
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: !e.whole})
			t.Await(providerStall)
			e.end(t, r)
			t.Await(providerLeft)
		}
	}
	rain := mcp.Tool{Name: "lookup", Result: mcp.Result{Text: "rain"}}
	var variants []harness.Variant
	for _, e := range slices.Concat(leavings(), cappings(), []callEnding{draining()}) {
		variants = append(variants, legacy(harness.Variant{Name: e.name, Needs: e.needs, Play: later(e, rain), Checks: none, Reached: []expect.Event{toolResult}})...)
	}
	left := leavings()[0]
	failing := mcp.Tool{Name: "lookup", Run: func(mcp.Call) []script.Step { return []script.Step{mcp.Error{Code: -32000, Message: "no rain"}} }}
	// The second call of a turn is in flight when the run ends, and it alone is cancelled.
	second := harness.Variant{
		Name: "the-first-of-two", Needs: left.needs, Reached: []expect.Event{nth(toolRequest, 2)}, Checks: []harness.Check{
			left.cancels("cancel.notifies-tools", harness.HTTPTools),
			{Name: "cancels-one", Guarantee: id, Noun: "cancellation", Expect: shows(expect.Times{What: toolCancelled, Max: 1})},
		},
		Play: func(t *harness.Trial) {
			t.Script(asks(t, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`), t.ToolCall("call_2", "book", `{"city":"Oslo"}`))...)
			t.Tools(mcp.Script{Tools: []mcp.Tool{rain}, Programs: []mcp.Program{{When: mcp.When{Tool: "book"}, Steps: []script.Step{fault.Stall{}}}}})
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(saying(toolRequest, `"book"`))
			t.Await(toolResult)
			left.end(t, r)
			t.Await(toolCancelled)
		},
	}
	variants = append(variants, harness.Variant{
		Name: "answered-with-an-error", Set: harness.Set{Tools: harness.HTTPTools}, Needs: left.needs, Play: later(left, failing), Checks: none})
	return harness.Scenario{
		ID:       "cancel/not-after-response",
		Claim:    "a run that ends early cancels no tool call that has been answered",
		Alone:    true,
		Variants: append(variants, legacy(second)...),
	}
}
