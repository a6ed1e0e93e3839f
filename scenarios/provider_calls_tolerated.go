package scenarios

import (
	"fmt"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerCallsTolerated: calls in whatever form a vendor sends them reach their tools, each with its own arguments.
func providerCallsTolerated() harness.Scenario {
	const guarantee = "provider.deltas-tolerated"
	var variants []harness.Variant
	for _, d := range deltas() {
		if d.gets == nil {
			continue
		}
		v := d.Variant
		answer := v.Play
		v.Set.Tools = harness.HTTPTools
		v.Play = func(t *harness.Trial) {
			t.Tools(mcp.Script{Tools: []mcp.Tool{{Name: "other", Result: mcp.Result{Text: "other is done"}}}})
			answer(t)
		}
		n := len(d.gets)
		v.Checks = append(v.Checks,
			harness.Check{Name: "calls-no-more", Guarantee: guarantee, Noun: "tool-call", Expect: shows(expect.Times{What: toolRequest, Min: n, Max: n})},
			harness.Check{Name: "answers-each", Guarantee: guarantee, Noun: "tool-result", Expect: shows(expect.Times{What: toldModel, Min: n, Max: n})})
		for _, g := range d.gets {
			v.Checks = append(v.Checks, harness.Check{Name: fmt.Sprintf("reaches-%s", g.tool), Guarantee: guarantee, Noun: "arguments", Expect: shows(g)})
		}
		variants = append(variants, v)
	}
	return harness.Scenario{
		ID:       "provider/calls-tolerated",
		Claim:    "tool calls whose index, id or name is missing, empty, repeated or interleaved reach their tools, each once and with its own arguments",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true, // what is sent byte for byte has no marker of the trial
		Variants: variants,
		Reached:  []expect.Event{providerEnd},
	}
}
