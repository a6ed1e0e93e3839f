package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// toolsUnknownToolAnswered: a name that the model made up costs one turn.
func toolsUnknownToolAnswered() harness.Scenario {
	const guarantee = "tools.unknown-tool-answered"
	variant := func(name string, calls ...string) harness.Variant {
		return harness.Variant{Name: name, Set: harness.Set{Tools: harness.HTTPTools}, Play: func(t *harness.Trial) {
			var steps []script.Step
			for i, tool := range calls {
				id := "call_" + tool
				if tool != "book" {
					id = "call_unknown"
				}
				call := t.ToolCall(id, tool, `{"for":"nobody"}`)
				call.Index = i
				steps = append(steps, call)
			}
			// One that is known comes in the next turn: the run does go on.
			t.Script(calling(steps...), calling(t.ToolCall("call_known", "lookup", `{"for":"lookup"}`)), turns())
			t.Tools(working(t, "lookup", "book"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}}
	}
	beside := variant("beside-a-known-one", "teleport", "book")
	beside.Checks = []harness.Check{
		{Name: "runs-the-known-one", Guarantee: guarantee, Noun: "tool-call", Expect: shows(getsArguments{"book", `{"for":"nobody"}`})},
		{Name: "answers-the-known-one", Guarantee: guarantee, Noun: "tool-result", Expect: shows(tellsOf{toldModel, "call_book", "book-result"})},
	}
	return harness.Scenario{
		ID:    "tools/unknown-tool-answered",
		Claim: "a call of a tool that does not exist is answered to the model with an error, and the run goes on with what it calls next",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			variant("alone", "teleport"), variant("in-another-case", "LOOKUP"), variant("of-a-longer-name", "lookup_all"), beside,
		},
		Reached: []expect.Event{saying(providerTool, "nobody")},
		Checks: append(isWhole(guarantee, "done"),
			harness.Check{Name: "tells-the-model", Guarantee: guarantee, Noun: "tool-result", Expect: shows(expect.Times{What: tells("call_unknown"), Min: 1, Max: 1})},
			harness.Check{Name: "as-a-failure", Guarantee: guarantee, Noun: "failure-told", Expect: shows(toldAsFailed{"call_unknown"})},
			harness.Check{Name: "goes-on", Guarantee: guarantee, Noun: "next-call", Expect: shows(tellsOf{toldModel, "call_known", "lookup-result"})},
			harness.Check{Name: "calls-nothing-else", Guarantee: guarantee, Noun: "unknown-call", Expect: shows(expect.Never{What: expect.Event{Lane: harness.ToolsLane, Kind: "violation"}})},
		),
	}
}
