package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// working is a script with these tools, each of which takes longer than the one behind it.
func working(t *harness.Trial, names ...string) mcp.Script {
	var tools []mcp.Tool
	for i, name := range names {
		takes := t.Windows.Heartbeat * 5 / 7 / (1 << i)
		tools = append(tools, mcp.Tool{Name: name, Takes: takes, Effect: mcp.AtAnswer, Result: mcp.Result{Text: name + "-result"}})
	}
	return mcp.Script{Tools: tools}
}

// callEach is a call of each tool, in this order; the id is that of its name.
func callEach(t *harness.Trial, names ...string) []script.Step {
	var calls []script.Step
	for i, name := range names {
		call := t.ToolCall("call_"+name, name, `{"for":"`+name+`"}`)
		call.Index = i
		calls = append(calls, call)
	}
	return calls
}

// toolsSequential: a call is announced when the one before has ended.
func toolsSequential() harness.Scenario {
	const guarantee = "tools.sequential"
	one := []string{"lookup", "book", "cancel"}
	play := func(t *harness.Trial) {
		t.Script(asks(t, callEach(t, one...)...)...)
		t.Tools(working(t, one...))
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
	}
	two := []string{"search", "lookup", "send"}
	across := func(t *harness.Trial) {
		t.Script(asks(t, callEach(t, two...)...)...)
		t.Tools(working(t, "lookup"), working(t, "search", "send"))
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
	}
	checks := func(names []string) []harness.Check {
		var wire, events expect.InOrder
		for _, name := range names {
			wire = append(wire, runsTool(name), ranTool(name))
			for _, kind := range []string{"requested", "start", "complete"} {
				events = append(events, eventOf(kind, "call_"+name))
			}
		}
		aura := []harness.Feature{harness.CustomEvents}
		return []harness.Check{
			{Name: "one-after-the-other", Guarantee: guarantee, Noun: "tool-call", Expect: shows(wire)},
			{Name: "announced-one-after-the-other", Guarantee: guarantee, Noun: "tool-event", Needs: aura, Expect: shows(events)},
			{Name: "announced-after-the-first-has-ended", Guarantee: guarantee, Noun: "announcement", Needs: aura,
				Expect: shows(expect.Never{What: eventOf("requested", "call_"+names[1]), Before: ranTool(names[0])})},
		}
	}
	return harness.Scenario{
		ID:    "tools/sequential",
		Claim: "each tool call of a turn is announced, executed and finished before the next is announced",
		Needs: []harness.Feature{harness.Streaming, harness.SequentialTools},
		Variants: slices.Concat(overTransports(harness.Variant{Play: play, Checks: checks(one)}), []harness.Variant{
			{Name: "across-servers", Set: harness.Set{Tools: harness.HTTPTools + "+" + harness.HTTPTools}, Play: across, Checks: checks(two)},
		}),
		Reached: []expect.Event{tells("call_lookup")},
	}
}
