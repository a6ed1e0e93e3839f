package scenarios

import (
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// mcpHeadersNotShared: whoever asks, tool servers see that caller's credentials and nobody else's, in sessions of that caller alone.
func mcpHeadersNotShared() harness.Scenario {
	const id = "mcp.headers-not-shared"
	// The tool shows whose credentials it was called with.
	telling := mcp.Script{Tools: []mcp.Tool{{Name: "lookup", Run: func(c mcp.Call) []script.Step {
		return []script.Step{mcp.Result{Text: "called with [" + c.Headers["authorization"] + "]"}}
	}}}}
	as := func(name, credentials string) caller.Ask {
		a := caller.Ask{Name: name, Prompt: "for-" + name + ".", Stream: true}
		if credentials != "" {
			a.Header = map[string]string{"Authorization": credentials}
		}
		return a
	}
	type asker struct{ name, call, credentials string }
	anna, boris, again := asker{"anna", "call_1", "Bearer anna"}, asker{"boris", "call_2", "Bearer boris"}, asker{"anna-again", "call_3", "Bearer anna"}
	nobody := asker{"nobody", "call_4", ""}
	play := func(together bool, askers ...asker) func(*harness.Trial) {
		return func(t *harness.Trial) {
			var programs []script.Program
			for _, a := range askers {
				for _, p := range lookingUp(t, a.call) {
					p.When = script.When{Contains: "for-" + a.name + "."}
					programs = append(programs, p)
				}
			}
			t.Script(programs...)
			t.Tools(telling)
			var under []*caller.Request
			for _, a := range askers {
				r := t.Ask(as(a.name, a.credentials))
				if under = append(under, r); !together {
					t.AwaitEnd(r)
				}
			}
			for _, r := range under {
				t.AwaitEnd(r)
			}
		}
	}
	sees := func(askers ...asker) []harness.Check {
		var out []harness.Check
		for _, a := range askers {
			own := isTold(id, a.call, "called with ["+a.credentials+"]")
			own.Name, own.Noun = "acts-as-"+a.name, "credentials"
			out = append(out, own)
		}
		return append(out, endWell(id, len(askers)))
	}
	sessions := func(least, most int) harness.Check {
		return harness.Check{Name: "opens-sessions", Guarantee: id, Noun: "session", Expect: shows(expect.Times{What: saying(toolSession, "opened"), Min: least, Max: most})}
	}
	all := []asker{anna, boris, again, nobody} // of whom the third may use the session of the first
	var variants []harness.Variant
	for _, over := range []harness.Tooling{harness.HTTPTools, harness.ModernTools, harness.SSETools} {
		inTurn, same := sees(all...), sees(anna, again)
		if over != harness.ModernTools {
			inTurn, same = append(inTurn, sessions(3, len(all))), append(same, sessions(1, 1))
		}
		for _, v := range []harness.Variant{
			{Name: "in-turn", Play: play(false, all...), Checks: inTurn},
			{Name: "together", Play: play(true, all...), Checks: sees(all...)},
			{Name: "same-caller", Play: play(false, anna, again), Checks: same},
			{Name: "after-nobody", Play: play(false, nobody, anna), Checks: sees(nobody, anna)},
		} {
			v.Name, v.Set.Tools, v.Dialects = v.Name+"-"+string(over), over, chat()[:1]
			variants = append(variants, v)
		}
	}
	return harness.Scenario{
		ID:       "mcp/headers-not-shared",
		Claim:    "callers with different credentials never share a session or a connection's headers with a tool server, and the same caller's next run uses its session again",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true,
		Variants: variants,
	}
}
