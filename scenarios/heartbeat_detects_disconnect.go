package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// heartbeatDetectsDisconnect: with nothing else to write, the heartbeat is what notices that nobody reads.
func heartbeatDetectsDisconnect() harness.Scenario {
	silent := func(how caller.Leaving, opening ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Steps: append(opening[:len(opening):len(opening)], fault.Stall{})})
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(providerStall)
			t.Await(clientStatus)
			t.Pass(t.Windows.Heartbeat * 3 / 7)
			r.Leave(how)
			t.Await(providerLeft)
		}
	}
	// The tool says nothing either, and goes on until it is told to stop.
	silentTool := func(how caller.Leaving) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`)))
			t.Tools(toolOf("lookup", forever, "late"))
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			call := t.Await(runsTool("lookup"))
			t.Await(clientStatus)
			t.Pass(t.Windows.Heartbeat * 3 / 7)
			r.Leave(how)
			t.Await(of(toolEnded, call.Ref))
		}
	}
	spoken := script.Text{Chunks: []string{"one"}}
	// Only the stream cap, far beyond two intervals, would end these runs as well.
	set := harness.Set{NoFirstChunk: true}
	const guarantee = "heartbeat.detects-disconnect"
	within := func(noun string, over func(limit time.Duration) expect.Expectation) harness.Check {
		return harness.Check{Name: "leaves-it", Guarantee: guarantee, Noun: noun, Expect: func(at harness.At) expect.Expectation { return over(2 * at.Heartbeat) }}
	}
	ofModel := func(name string, play func(*harness.Trial)) harness.Variant {
		return harness.Variant{Name: name, Set: set, Play: play, Reached: []expect.Event{providerStall}, Checks: []harness.Check{
			within("provider-connection", func(limit time.Duration) expect.Expectation {
				return expect.Happens{What: providerLeft, After: clientLeft, To: limit}
			}),
			{Name: "not-without-cause", Guarantee: guarantee, Noun: "provider-left-early", Expect: shows(expect.Never{What: providerLeft, Before: clientLeft})},
		}}
	}
	ofTool := harness.Variant{Set: set, Reached: []expect.Event{runsTool("lookup")}, Checks: []harness.Check{
		within("tool-call", func(limit time.Duration) expect.Expectation { return callEnds{"lookup", clientLeft, 0, limit} }),
	}}
	closed, reset := ofTool, ofTool
	closed.Name, closed.Play = "closed-in-a-tool", silentTool(caller.Close)
	reset.Name, reset.Play, reset.Set.Tools = "reset-in-a-tool", silentTool(caller.Reset), harness.HTTPTools
	return harness.Scenario{
		ID:    "heartbeat/detects-disconnect",
		Claim: "a client that leaves while the model or a tool is silent is noticed within two heartbeat intervals, and the model or the tool is left",
		Needs: []harness.Feature{harness.Streaming},
		Variants: append([]harness.Variant{
			ofModel("closed-before-headers", silent(caller.Close)),
			ofModel("reset-before-the-first-item", silent(caller.Reset, script.Headers{})),
			ofModel("closed-between-items", silent(caller.Close, spoken)),
			ofModel("reset-between-items", silent(caller.Reset, spoken)),
			reset,
		}, overTransports(closed)...),
		Reached: []expect.Event{clientLeft},
	}
}
