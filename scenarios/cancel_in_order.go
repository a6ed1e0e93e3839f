package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// cancelInOrder: the work stops, then its calls are cancelled, then what they went over is closed.
func cancelInOrder() harness.Scenario {
	const id = "cancel.in-order"
	var variants []harness.Variant
	endings := slices.Concat(leavings(), cappings(), []callEnding{draining()})
	for _, e := range endings {
		for _, v := range e.inEachTransport(func(t *harness.Trial) { e.end(t, inCall(t, e.whole)) }, func(over harness.Tooling) []harness.Check {
			return []harness.Check{{Name: "cancels-then-closes", Guarantee: id, Noun: "order", Expect: shows(expect.InOrder{toolRequest, toolCancelled, closes(over)})}}
		}) {
			if v.Set.Tools != harness.ModernTools { // there one act is both
				variants = append(variants, v)
			}
		}
	}
	// A server that does not answer to the end of its session shows what comes before it.
	for _, e := range endings {
		variants = append(variants, harness.Variant{
			Name: "work-first-" + e.name, Needs: e.needs, Set: harness.Set{Tools: harness.HTTPTools}, Play: func(t *harness.Trial) {
				t.Script(calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`)), silent(script.Role{}))
				t.Tools(mcp.Script{Manners: mcp.Manners{Delete: mcp.DeleteHangs}})
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: !e.whole})
				t.Await(providerStall)
				e.end(t, r)
			}, Reached: []expect.Event{toolDelete},
			Checks: []harness.Check{{Name: "stops-the-work", Guarantee: id, Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: providerLeft, After: e.over, From: e.window(at), To: e.window(at) + soon(at)}
			}}},
		})
	}
	return harness.Scenario{
		ID:       "cancel/in-order",
		Claim:    "when a run ends early, its work stops at once, its tool calls are cancelled next and their session is closed last",
		Alone:    true,
		Variants: variants,
	}
}
