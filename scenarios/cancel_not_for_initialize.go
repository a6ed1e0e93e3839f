package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// cancelNotForInitialize: what is not yet a session is left, not cancelled.
func cancelNotForInitialize() harness.Scenario {
	const id = "cancel.not-for-initialize"
	initialize := expect.Event{Lane: harness.ToolsLane, Kind: "request", Detail: "initialize"}
	var variants []harness.Variant
	for _, e := range append(leavings(), draining()) {
		play := func(t *harness.Trial) {
			t.Script(turns())
			// Without session ids a server can take what comes before there is one.
			t.Tools(mcp.Script{Manners: mcp.Manners{NoIDs: true}, Programs: []mcp.Program{{When: mcp.When{Method: "initialize"}, Steps: []script.Step{fault.Stall{}}}}})
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: !e.whole})
			t.Await(initialize)
			t.Pass(t.Windows.Heartbeat / 7)
			if e.over == signal {
				e.end(t, r)
				return
			}
			r.Leave(caller.Close)
		}
		for _, v := range e.inEachTransport(play, func(over harness.Tooling) []harness.Check {
			return []harness.Check{
				{Name: "cancels-nothing", Guarantee: id, Noun: "cancellation", Expect: shows(expect.Never{What: toolCancelled})},
				{Name: "leaves-the-server", Guarantee: "mcp.connect-is-bounded", Noun: "tool-connection", Expect: func(at harness.At) expect.Expectation {
					return expect.Happens{What: toolLeft, After: e.over, To: soon(at)}
				}},
			}
		}) {
			if v.Set.Tools == harness.ModernTools {
				continue // it has no initialize
			}
			v.Set.NoGrace = e.over == signal // a connection is given up before a grace would end
			variants = append(variants, v)
		}
	}
	return harness.Scenario{
		ID:       "cancel/not-for-initialize",
		Claim:    "a run that ends while a tool server is being initialized leaves it at once, without a cancellation",
		Alone:    true,
		Variants: variants,
	}
}
