package scenarios

import (
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// cancelAbortsProvider: when the client of a stream leaves, the request to the model is aborted, wherever it is.
func cancelAbortsProvider() harness.Scenario {
	const guarantee = "cancel.aborts-provider"
	checks := leavesWith(guarantee, clientLeft)
	var variants []harness.Variant
	for _, how := range []caller.Leaving{caller.Close, caller.Reset} {
		for _, p := range phases() {
			variants = append(variants, harness.Variant{Name: p.name + "-by-" + string(how), Dialects: p.on, Checks: checks, Play: func(t *harness.Trial) {
				t.Script(silent(p.steps...))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
				t.Await(providerStall)
				t.Pass(t.Windows.Heartbeat * 3 / 7) // between two writes
				r.Leave(how)
				t.Await(providerLeft)
			}})
		}
		variants = append(variants, harness.Variant{Name: "in-steady-text-by-" + string(how), Checks: checks, Play: func(t *harness.Trial) {
			t.Script(proper(script.Role{}, script.Text{Chunks: onAndOn(beyond), Every: t.Windows.Heartbeat * 4 / 7}))
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(nth(clientText, 3))
			t.Pass(t.Windows.Heartbeat / 7)
			r.Leave(how)
			t.Await(providerLeft)
		}})
	}
	for _, e := range leavings()[:2] {
		variants = append(variants, inSecondTurn(e, checks)...)
		variants = append(variants, inTool(e, asksOnce(guarantee)))
	}
	return harness.Scenario{
		ID:       "cancel/aborts-provider",
		Claim:    "the provider's connection is left at once when the client of a stream leaves, and no further request is made for it",
		Needs:    []harness.Feature{harness.Streaming},
		Variants: variants,
	}
}

// inSecondTurn are the variants in which a run ends when the model was told the result of a tool call.
func inSecondTurn(e callEnding, checks []harness.Check) []harness.Variant {
	var variants []harness.Variant
	for _, p := range phases()[:3] {
		variants = append(variants, harness.Variant{
			Name: "second-turn-" + p.name + "-" + e.name, Set: harness.Set{Tools: harness.HTTPTools}, Checks: checks, Reached: []expect.Event{nth(providerRequest, 2)},
			Play: func(t *harness.Trial) {
				t.Script(calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`)), silent(p.steps...))
				t.Tools(toolOf("lookup", t.Windows.Heartbeat/7, "rain"))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: !e.whole})
				t.Await(providerStall)
				e.end(t, r)
				t.Await(providerLeft)
			},
		})
	}
	return variants
}

// asksOnce is the check that the model is not asked again.
func asksOnce(guarantee string) []harness.Check {
	return []harness.Check{{Name: "asks-once", Guarantee: guarantee, Noun: "provider-request", Expect: shows(expect.Times{What: providerRequest, Min: 1, Max: 1})}}
}

// inTool is the variant in which a run ends in a tool call whose server answers it all the same.
func inTool(e callEnding, checks []harness.Check) harness.Variant {
	return harness.Variant{Name: "in-tool-" + e.name, Set: harness.Set{Tools: harness.HTTPTools}, Checks: checks, Play: func(t *harness.Trial) {
		t.Script(asks(t, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))...)
		t.Tools(mcp.Script{Tools: []mcp.Tool{{Name: "lookup", Takes: forever, OnCancel: mcp.OnCancel{Do: mcp.AnswerWell}, Result: mcp.Result{Text: "late"}}}})
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: !e.whole})
		t.Await(toolRequest)
		e.end(t, r)
		t.Await(toolCancelled)
	}}
}
