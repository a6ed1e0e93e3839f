package scenarios

import (
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// mcpLostSessionIsAnError: a server that has forgotten its sessions answers a call with 404. Whether the server under test begins a new
// session within the run or for the next is its own choice.
func mcpLostSessionIsAnError() harness.Scenario {
	const id = "mcp.death-is-an-error"
	refused := expect.Event{Lane: harness.ToolsLane, Kind: "refused", Detail: "404"}
	return harness.Scenario{
		ID:       "mcp/lost-session-is-an-error",
		Claim:    "a call in a session that its server has lost fails at once, the run ends well, and the next begins a session of its own",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true,
		Variants: []harness.Variant{{Name: "http", Set: harness.Set{Tools: harness.HTTPTools}}},
		Play: func(t *harness.Trial) {
			t.Tools(mcp.Script{
				Manners:  mcp.Manners{Lives: mcp.Lives{LostAt: "restarted"}},
				Programs: []mcp.Program{{When: mcp.When{Contains: "call_1"}, Steps: []script.Step{script.Open{Gate: "restarted"}, mcp.Result{Text: "rain"}}}},
			})
			looksUpInTurn(t, []string{"call_1", "call_2"}, []string{"call_3"})
		},
		Reached: []expect.Event{refused, saying(toolSession, "lost")},
		Checks: []harness.Check{
			isTold(id, "call_1", "rain"),
			happens("fails-at-once", id, "tool-result", saying(modelTold, "call_2 "), refused, now, once),
			isTold(id, "call_3", "lookup is done"),
			endWell(id, 2),
			{Name: "begins-another", Guarantee: id, Noun: "session", Expect: shows(expect.InOrder{saying(toolSession, "lost"), nth(saying(toolSession, "opened"), 2)})},
		},
	}
}
