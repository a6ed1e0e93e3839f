package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// mcpForeignIDIgnored: an answer counts for the call whose identifier it has, and for no other.
func mcpForeignIDIgnored() harness.Scenario {
	const id = "mcp.foreign-id-ignored"
	answers := func(first script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Tools(onCall(first, script.Pause{For: t.Windows.Heartbeat * 3 / 7}, mcp.Result{Text: "rain"}))
			looksUp(t, "call_1", "call_2")
		}
	}
	wrong := func(id mcp.ID) script.Step { return mcp.Result{Text: "wrong", ID: id} }
	var variants []harness.Variant
	for _, v := range []struct {
		name  string
		first script.Step
	}{
		{"unknown", wrong(mcp.WrongID)},
		{"text-for-a-number", wrong(mcp.TextID)}, // and the other way round
		{"null", wrong(mcp.NullID)},
		{"missing", wrong(mcp.NoID)},
		{"error-of-another", mcp.Error{Code: -32603, Message: "wrong", ID: mcp.WrongID}},
		{"many", mcp.Result{Text: "wrong", ID: mcp.WrongID, Times: 300}},
	} {
		variants = append(variants, overTransports(harness.Variant{Name: v.name, Play: answers(v.first)})...)
	}
	for _, over := range harness.Transports()[:2] { // over the others it is that call's answer for all that a client can see
		variants = append(variants, harness.Variant{Name: "of-another-call-" + string(over), Set: harness.Set{Tools: over}, Dialects: chat()[:1], Play: func(t *harness.Trial) {
			steps := []script.Step{wrong(mcp.ForeignID), script.Pause{For: t.Windows.Heartbeat * 3 / 7}, mcp.Result{Text: "rain"}}
			t.Tools(mcp.Script{
				Tools:    []mcp.Tool{{Name: "lookup", Takes: t.Windows.Heartbeat / 7, Result: mcp.Result{Text: "lookup is done"}}},
				Programs: []mcp.Program{{When: mcp.When{Contains: "call_1"}, Steps: steps}},
			})
			t.Script(asks(t, t.ToolCall("call_1", "lookup", `{"for":"call_1"}`), t.ToolCall("call_2", "lookup", `{"for":"call_2"}`))...)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}})
	}
	return harness.Scenario{
		ID:       "mcp/foreign-id-ignored",
		Claim:    "an answer whose identifier is not the call's is ignored, and the call gets the answer that comes after it",
		Needs:    []harness.Feature{harness.Streaming},
		Variants: variants,
		Reached:  []expect.Event{toolRequest},
		Checks: []harness.Check{
			isTold(id, "call_1", "rain"), isTold(id, "call_2", "lookup is done"), endWell(id, 1),
			// With two calls in a turn the other one may take its time before or after it.
			happens("waits-for-its-own", id, "tool-result", saying(modelTold, "call_1 "), toolRequest,
				func(at harness.At) time.Duration { return at.Heartbeat * 3 / 7 }, func(at harness.At) time.Duration { return at.Heartbeat*4/7 + at.Once }),
			{Name: "tells-no-wrong", Guarantee: id, Noun: "foreign-result", Expect: shows(expect.Never{What: saying(modelTold, "wrong")})},
		},
	}
}
