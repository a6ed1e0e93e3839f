package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownNoPoolEviction: agents are evicted so that no later run gets them, and after a signal there is none.
func shutdownNoPoolEviction() harness.Scenario {
	evicted := saying(serverLog, "evicted")
	return harness.Scenario{
		ID:    "shutdown/no-pool-eviction",
		Claim: "a server that reports the eviction of an agent whose client left reports none while it shuts down",
		Needs: []harness.Feature{harness.Signals, harness.LogFields, harness.Streaming},
		Alone: true,
		Variants: []harness.Variant{{Name: "drained-in-a-tool", Set: harness.Set{Tools: harness.HTTPTools}, Play: func(t *harness.Trial) {
			call := calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))
			call.Times = 2
			t.Script(call, script.Answer("kept"))
			t.Tools(toolOf("lookup", forever, "late"))
			// One agent is evicted, one is idle in the pool, and one is in use.
			left := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(toolRequest)
			left.Leave(caller.Close)
			t.Await(evicted)
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(nth(toolRequest, 2))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			t.Pass(t.Stage.Tick)
			draining().end(t, r)
		}}},
		Reached: []expect.Event{evicted},
		Checks: []harness.Check{
			{Name: "evicts-none", Guarantee: "shutdown.no-pool-eviction", Noun: "evictions", Expect: shows(expect.Times{What: evicted, After: signal, Max: 0})},
		},
	}
}
