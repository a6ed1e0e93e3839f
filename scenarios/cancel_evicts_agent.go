package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// cancelEvictsAgent: the connections of a run that was given up serve no other run.
func cancelEvictsAgent() harness.Scenario {
	const id = "cancel.evicts-agent"
	// The first run ends well and may leave its connections to the second, which ends early; the third is the next.
	play := func(e callEnding, books []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			book := calling(script.Role{}, t.ToolCall("call_1", "book", `{"city":"Oslo"}`))
			next := calling(script.Role{}, t.ToolCall("call_2", "lookup", `{"city":"Oslo"}`))
			second := []script.Program{book}
			if books[0].Kind() == "result" { // the model is silent after it
				second = append(second, silent(script.Role{}))
			}
			t.Script(slices.Concat([]script.Program{script.Answer("first")}, second, []script.Program{next, turns()})...)
			t.Tools(mcp.Script{Tools: []mcp.Tool{{Name: "book", Run: func(mcp.Call) []script.Step { return books }}, {Name: "lookup", Result: mcp.Result{Text: "rain"}}}})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			r := t.Ask(caller.Ask{Name: "given-up", Prompt: "hello", Stream: !e.whole})
			if len(second) > 1 {
				t.Await(providerStall)
			} else {
				t.Await(toolRequest)
			}
			e.end(t, r)
			t.Pass(t.Stage.Tick) // what the clean-up connects for is none of the next
			t.AwaitEnd(t.Ask(caller.Ask{Name: "next", Prompt: "hello", Stream: true}))
		}
	}
	checks := []harness.Check{
		{Name: "next-connects-anew", Guarantee: id, Noun: "tool-connection", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: toolConnect, After: of(clientAsk, "next"), To: at.Once}
		}},
		{Name: "next-gets-its-result", Guarantee: "cancel.next-request-unharmed", Noun: "result", Expect: shows(expect.Times{What: saying(providerTold, "rain"), Min: 1, Max: 1})},
	}
	var variants []harness.Variant
	for _, e := range slices.Concat(leavings(), cappings()) {
		needs := append([]harness.Feature{harness.Streaming}, e.needs...)
		working, answered := []script.Step{script.Pause{For: forever}, mcp.Result{}}, []script.Step{mcp.Result{}}
		variants = append(variants, overTransports(harness.Variant{Name: e.name, Needs: needs, Play: play(e, working), Checks: checks})...)
		variants = append(variants, overTransports(harness.Variant{Name: e.name + "-after-the-call", Needs: needs, Play: play(e, answered), Checks: checks})...)
	}
	// Pools let go of old connections, which those of a run are when the stream clock ends it. Another clock finds them young.
	silence := overTransports(harness.Variant{
		Name: "inactivity-after-the-call", Set: harness.Set{Inactivity: true}, Needs: []harness.Feature{harness.Streaming},
		Play: play(cappings()[0], []script.Step{mcp.Result{}}), Checks: checks,
	})
	variants = append(variants, silence...)
	// An agent whose run ended well is kept, by servers with a pool.
	for _, over := range []harness.Tooling{harness.HTTPTools, harness.SSETools} {
		variants = append(variants, harness.Variant{
			Name: "completed-" + string(over), Set: harness.Set{Tools: over}, Needs: []harness.Feature{harness.Streaming, harness.CustomEvents},
			Play: func(t *harness.Trial) {
				t.Script(asks(t, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))...)
				t.Tools(toolOf("lookup", 0, "rain"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
				t.Pass(t.Stage.Tick) // an agent may be given back when its answer has gone
				t.AwaitEnd(t.Ask(caller.Ask{Name: "next", Prompt: "hello", Stream: true}))
			},
			Checks: []harness.Check{{Name: "next-has-the-same", Guarantee: id, Noun: "session", Expect: shows(expect.Times{What: saying(toolSession, "opened"), Min: 1, Max: 1})}},
		})
	}
	return harness.Scenario{
		ID:       "cancel/evicts-agent",
		Claim:    "the run after one that timed out, or whose client left, has fresh connections to its tools",
		Alone:    true,
		Variants: variants,
	}
}
