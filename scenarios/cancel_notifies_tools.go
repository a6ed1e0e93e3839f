package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// cancelNotifiesTools: a tool learns that nobody waits for it any more.
func cancelNotifiesTools() harness.Scenario {
	const id = "cancel.notifies-tools"
	var variants []harness.Variant
	endings := slices.Concat(leavings(), cappings(), []callEnding{draining()})
	for _, e := range endings {
		variants = append(variants, e.inEachTransport(func(t *harness.Trial) { e.end(t, inCall(t, e.whole)) }, func(over harness.Tooling) []harness.Check {
			if over == harness.ModernTools {
				return []harness.Check{e.cancels(id, over), {
					Name: "sends-no-notification", Guarantee: id, Noun: "notification", Expect: shows(expect.Never{What: toolCancelled}),
				}}
			}
			return []harness.Check{e.cancels(id, over), {
				Name: "says-why", Guarantee: id, Noun: "reason", Needs: []harness.Feature{harness.CustomEvents},
				Expect: shows(expect.Says{What: toolCancelled, Text: `reason="` + e.reason + `"`}),
			}}
		})...)
	}
	// Servers that work on the calls of a turn one by one have one in flight in each run, others all of them.
	several := func(e callEnding, name string, set harness.Set) harness.Variant {
		return harness.Variant{Name: name, Set: set, Needs: e.needs, Checks: []harness.Check{e.cancels(id, set.Tools.Servers()[0])}, Play: func(t *harness.Trial) {
			lookup, search := t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`), t.ToolCall("call_2", "search", `{"for":"rain"}`)
			t.Script(calling(script.Role{}, lookup, search), calling(script.Role{}, search, lookup), turns())
			t.Tools(toolOf("lookup", forever, "late"), toolOf("search", forever, "late"))
			other := t.Ask(caller.Ask{Name: "other", Prompt: "hello", Stream: true})
			r := t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true})
			t.Await(nth(toolRequest, 2))
			e.end(t, r)
			t.AwaitEnd(other)
		}}
	}
	// Here all calls of the one run are in flight together.
	allOf := func(e callEnding, tools harness.Tooling) harness.Variant {
		calls := []string{"lookup", "book", "cancel", "pay", "send"} // more than a server may have been tried with
		return harness.Variant{
			Name: "all-of-a-run-" + e.name + "-" + string(tools), Set: harness.Set{Tools: tools, Execution: "concurrent"}, Needs: append(e.needs[:len(e.needs):len(e.needs)], harness.ToolExecution),
			Reached: []expect.Event{nth(toolRequest, len(calls))},
			Checks:  []harness.Check{e.cancels(id, tools)},
			Play: func(t *harness.Trial) {
				t.Script(calling(append([]script.Step{script.Role{}}, callEach(t, calls...)...)...))
				var slow mcp.Script
				for _, name := range calls {
					slow.Tools = append(slow.Tools, toolOf(name, forever, "late").Tools...)
				}
				t.Tools(slow)
				r := t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true})
				t.Await(nth(toolRequest, len(calls)))
				e.end(t, r)
			},
		}
	}
	for _, over := range harness.Transports() {
		variants = append(variants, allOf(leavings()[0], over))
	}
	variants = append(variants, allOf(cappings()[0], harness.HTTPTools))
	// A client that leaves at the very instant at which the tool has the call.
	left := leavings()[0]
	for _, over := range harness.Transports() {
		variants = append(variants, harness.Variant{
			Name: "left-at-once-" + string(over), Set: harness.Set{Tools: over}, Needs: left.needs, Dialects: chat()[:1], Checks: []harness.Check{left.cancels(id, over)},
			Play: func(t *harness.Trial) { inCall(t, false).Leave(caller.Close) },
		})
	}
	two, twoModern := harness.Set{Tools: "http+http"}, harness.Set{Tools: "modern+modern"}
	variants = append(variants,
		several(cappings()[0], "several-runs-stream-cap", two), several(draining(), "several-runs-shutdown", two),
		several(draining(), "several-runs-shutdown-modern", twoModern))
	return harness.Scenario{
		ID:       "cancel/notifies-tools",
		Claim:    "when a run ends early, each tool call in flight is cancelled at once, once and under its own id",
		Alone:    true,
		Variants: variants,
	}
}
