package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// leakChildren: however runs end, the server holds no more child processes afterwards than before.
func leakChildren() harness.Scenario {
	// Those that have other tool servers hold no children.
	variants := slices.DeleteFunc(leakVariants(), func(v harness.Variant) bool {
		return v.Set.Tools != harness.NoTools && v.Set.Tools != harness.StdioTools
	})
	variants = append(variants, harness.Variant{Name: "in-tools", Play: leakingInTools(3), Reached: []expect.Event{nth(saying(childExit, "3 child"), 3)}})
	for i := range variants {
		variants[i].Set.Tools = harness.StdioTools
	}
	return harness.Scenario{
		ID:       "leak/children",
		Claim:    "after many runs with every ending the server has no more child processes, alive or dead, than after its first request",
		Needs:    []harness.Feature{harness.Streaming, harness.NonStreaming, harness.Children},
		Alone:    true,
		Dialects: chat()[:1],
		Variants: variants,
		Reached:  []expect.Event{of(clientFinish, "first"), of(clientFinish, "last"), childStart},
		Checks: []harness.Check{
			{Name: "back-at-the-baseline", Guarantee: "leak.children", Noun: "children-held", Expect: shows(expect.Returns{What: children})},
		},
	}
}

// leakingInTools has, so many times, a client leave during a call, and a tool server die in one.
func leakingInTools(rounds int) func(*harness.Trial) {
	var programs []script.Program
	for range rounds {
		programs = append(programs, calling(script.Role{}, lookup), calling(script.Role{}, script.Tool{ID: "call_2", Name: "book", Args: []string{`{"city":"Oslo"}`}}), proper(script.Role{}, script.Text{Chunks: []string{"done"}}))
	}
	tools := toolOf("lookup", forever, "late")
	tools.Programs = []mcp.Program{{When: mcp.When{Tool: "book"}, Times: rounds, Steps: []script.Step{mcp.Exit{Code: 3}}}}
	return childUsed(tools, func(t *harness.Trial) {
		for n := range rounds {
			r := t.Ask(caller.Ask{Prompt: "look it up", Stream: true})
			t.Await(nth(saying(toolRequest, "tool=\"lookup\""), n+1))
			r.Leave(caller.Close)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "book it", Stream: true}))
		}
	}, programs...)
}
