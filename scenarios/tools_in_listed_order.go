package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// toolsInListedOrder: the order of the calls is the model's.
func toolsInListedOrder() harness.Scenario {
	both := harness.HTTPTools + "+" + harness.HTTPTools
	play := func(names ...string) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(asks(t, callEach(t, names...)...)...)
			t.Tools(working(t, "lookup", "book", "cancel"), working(t, "search", "send"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	// The last call is complete first, and the first one last.
	interleaved := func(t *harness.Trial) {
		open := func(index string, name, fragment string) script.Step {
			return script.ToolChunk{Parts: []script.ToolPart{{Index: script.Is(index), ID: script.Is("call_" + name), Name: script.Is(name), Args: script.Is(fragment)}}}
		}
		more := func(index string, fragment string) script.Step {
			return script.ToolChunk{Parts: []script.ToolPart{{Index: script.Is(index), Args: script.Is(fragment)}}}
		}
		rest := t.Arguments(`{"for":"all"}`)[1:]
		t.Script(asks(t, open("0", "search", "{"), open("1", "lookup", "{"), open("2", "book", "{"), more("2", rest), more("1", rest), more("0", rest))...)
		t.Tools(working(t, "lookup", "book"), working(t, "search"))
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
	}
	checks := func(names ...string) []harness.Check {
		var order expect.InOrder
		for _, name := range names {
			order = append(order, runsTool(name))
		}
		return []harness.Check{{Name: "in-the-models-order", Guarantee: "tools.in-listed-order", Noun: "tool-call", Expect: shows(order)}}
	}
	return harness.Scenario{
		ID:    "tools/in-listed-order",
		Claim: "the tool calls of a turn are started in the order in which the model listed them, whatever their names and servers",
		Needs: []harness.Feature{harness.Streaming},
		Variants: slices.Concat(overTransports(harness.Variant{Play: func(t *harness.Trial) {
			t.Script(asks(t, callEach(t, "lookup", "book", "cancel")...)...)
			t.Tools(working(t, "lookup", "book", "cancel"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}, Checks: checks("lookup", "book", "cancel")}), []harness.Variant{
			{Name: "across-servers", Set: harness.Set{Tools: both}, Play: play("send", "cancel", "search", "lookup"), Checks: checks("send", "cancel", "search", "lookup")},
			{Name: "quick-ones-last", Set: harness.Set{Tools: both}, Play: play("search", "lookup", "book", "send"), Checks: checks("search", "lookup", "book", "send")},
			{Name: "completed-backwards", Set: harness.Set{Tools: both}, Dialects: chat()[:1], Play: interleaved, Checks: checks("search", "lookup", "book")},
		}),
		Reached: []expect.Event{tells("call_lookup")},
	}
}
