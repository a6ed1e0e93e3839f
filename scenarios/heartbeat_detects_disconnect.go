package scenarios

import (
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
	spoken := script.Text{Chunks: []string{"one"}}
	// Only the stream cap, far beyond two intervals, would end these runs as well.
	set := harness.Set{NoFirstChunk: true}
	return harness.Scenario{
		ID:    "heartbeat/detects-disconnect",
		Claim: "a client that leaves while the model is silent is noticed within two heartbeat intervals, and the model is left",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "closed-before-headers", Set: set, Play: silent(caller.Close)},
			{Name: "reset-before-the-first-item", Set: set, Play: silent(caller.Reset, script.Headers{})},
			{Name: "closed-between-items", Set: set, Play: silent(caller.Close, spoken)},
			{Name: "reset-between-items", Set: set, Play: silent(caller.Reset, spoken)},
		},
		Reached: []expect.Event{providerStall, clientLeft},
		Checks: []harness.Check{
			{Name: "leaves-the-provider", Guarantee: "heartbeat.detects-disconnect", Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: providerLeft, After: clientLeft, To: 2 * at.Heartbeat}
			}},
			{Name: "not-without-cause", Guarantee: "heartbeat.detects-disconnect", Noun: "provider-left-early", Expect: shows(expect.Never{What: providerLeft, Before: clientLeft})},
		},
	}
}
