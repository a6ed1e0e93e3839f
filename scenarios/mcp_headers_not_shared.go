package scenarios

import (
	"net/http"
	"slices"
	"strings"

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
	telling := func(name string) mcp.Script {
		return mcp.Script{Tools: []mcp.Tool{{Name: name, Run: func(c mcp.Call) []script.Step {
			return []script.Step{mcp.Result{Text: "called with [" + c.Headers["authorization"] + "] of [" + c.Headers["x-account"] + "]"}}
		}}}}
	}
	type asker struct{ name, call, credentials, account string }
	asks := func(a asker) caller.Ask {
		ask := caller.Ask{Name: a.name, Prompt: "for-" + a.name + ".", Stream: true, Header: http.Header{}}
		for name, value := range map[string]string{"Authorization": a.credentials, "X-Account": a.account} {
			if value != "" {
				ask.Header[name] = strings.Split(value, ", ") // a value of several comes in as many lines
			}
		}
		return ask
	}
	anna, boris := asker{"anna", "call_1", "Bearer anna", ""}, asker{"boris", "call_2", "Bearer boris", ""}
	again, nobody := asker{"anna-again", "call_3", "Bearer anna", ""}, asker{"nobody", "call_4", "", ""}
	play := func(together bool, askers ...asker) func(*harness.Trial) {
		return func(t *harness.Trial) {
			last := len(t.Stage.Tools) - 1 // the server that is called
			tool := harness.ToolNames(last)[0]
			var programs []script.Program
			for _, a := range askers {
				for _, p := range []script.Program{
					calling(script.Role{}, t.ToolCall(a.call, tool, `{"city":"Oslo"}`)), proper(script.Role{}, script.Text{Chunks: []string{"done"}}),
				} {
					p.When = script.When{Contains: "for-" + a.name + "."}
					programs = append(programs, p)
				}
			}
			t.Script(programs...)
			t.Tools(append(make([]mcp.Script, last), telling(tool))...)
			var under []*caller.Request
			for _, a := range askers {
				r := t.Ask(asks(a))
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
			own := isTold(id, a.call, "called with ["+a.credentials+"] of ["+a.account+"]")
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
			v.Name, v.Set.Tools = v.Name+"-"+string(over), over
			variants = append(variants, v)
		}
	}
	// The first server is given no header of any caller, and so tells none from another.
	variants = append(variants, harness.Variant{
		Name: "of-the-second-server", Set: harness.Set{Tools: harness.StdioTools + "+" + harness.HTTPTools}, Play: play(false, all...), Checks: sees(all...),
	})
	// They differ in one of two headers, in whether they have it, and in which of the two has the value.
	accounts := []asker{
		{"anna", "call_1", "Bearer shared", "one"}, {"boris", "call_2", "Bearer shared", "two"}, {"clara", "call_3", "Bearer shared", ""},
		{"dora", "call_4", "Bearer other", ""}, {"emil", "call_5", "", "Bearer other"}, {"anna-again", "call_6", "Bearer shared", "one"},
	}
	variants = append(variants, harness.Variant{
		Name: "of-two-headers", Set: harness.Set{Tools: harness.HTTPTools}, Needs: []harness.Feature{harness.ForwardedHeaders}, Play: play(false, accounts...), Checks: sees(accounts...),
	})
	// The lines of one header are all of them the caller's.
	lines := []asker{{"anna", "call_1", "Bearer shared", "one, two"}, {"boris", "call_2", "Bearer shared", "one, three"}, {"clara", "call_3", "Bearer shared", "one"}}
	variants = append(variants, harness.Variant{
		Name: "of-two-lines", Set: harness.Set{Tools: harness.HTTPTools}, Needs: []harness.Feature{harness.ForwardedHeaders}, Play: play(false, lines...),
		Checks: append(sees(lines...), sessions(len(lines), len(lines))),
	})
	// Whether a lost session is renewed within the run or for the next is the server's choice: whose it is, is not.
	last := isTold(id, "call_4", "called with [Bearer anna]")
	last.Name, last.Noun = "acts-as-anna-again", "credentials"
	variants = append(variants, harness.Variant{
		Name: "after-a-lost-session", Set: harness.Set{Tools: harness.HTTPTools},
		Play: func(t *harness.Trial) {
			t.Script(slices.Concat(lookingUp(t, "call_1", "call_2", "call_3"), lookingUp(t, "call_4"))...)
			tools := telling("lookup")
			tools.Manners.Lives = mcp.Lives{LostAt: "restarted"}
			tools.Programs = []mcp.Program{{When: mcp.When{Contains: "call_1"}, Steps: []script.Step{script.Open{Gate: "restarted"}, mcp.Result{Text: "rain"}}}}
			t.Tools(tools)
			t.AwaitEnd(t.Ask(asks(anna)))
			t.AwaitEnd(t.Ask(asks(again)))
		},
		Reached: []expect.Event{saying(toolSession, "lost"), nth(saying(toolSession, "opened"), 2), tells("call_3")},
		Checks: []harness.Check{
			{Name: "acts-as-nobody", Guarantee: id, Noun: "credentials", Expect: shows(expect.Never{What: saying(modelTold, "called with []")})},
			last, endWell(id, 2),
		},
	})
	// What ends a session, and the cancellation before it, is the caller's as well.
	for _, over := range []harness.Tooling{harness.HTTPTools, harness.SSETools} {
		variants = append(variants, harness.Variant{
			Name: "to-the-end-" + string(over), Set: harness.Set{Tools: over}, Reached: []expect.Event{toolCancelled, closes(over)},
			Play: func(t *harness.Trial) {
				t.Script(lookingUp(t, "call_1")[:1]...)
				t.Tools(toolOf("lookup", forever, "late"))
				r := t.Ask(asks(anna))
				t.Await(toolRequest)
				r.Leave(caller.Close)
			},
			Checks: []harness.Check{{Name: "as-its-caller", Guarantee: id, Noun: "credentials", Expect: shows(expect.Never{What: expect.Event{Lane: harness.ToolsLane, Kind: "stranger"}})}},
		})
	}
	return harness.Scenario{
		ID:       "mcp/headers-not-shared",
		Claim:    "callers with different credentials never share a session or a connection's headers with a tool server, and the same caller's next run uses its session again",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true,
		Dialects: chat()[:1],
		Variants: variants,
	}
}
