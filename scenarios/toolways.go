package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// toolWays are those that have to do with a tool of an MCP server, panics aside.
func toolWays() []way {
	well := func(harness.Windows) []script.Step { return parting("all ", "said").Steps }
	refused := func(harness.Windows) []script.Step { return []script.Step{fault.Status{Code: 500}} }
	quick := func(name string, steps ...script.Step) mcp.Tool {
		return mcp.Tool{Name: name, Run: func(mcp.Call) []script.Step { return steps }}
	}
	never := func(name string) mcp.Tool { return mcp.Tool{Name: name, Takes: forever} }
	all := []way{
		{name: "tool-answers", tool: quick("answers", mcp.Result{Text: "rain"}), steps: well},
		{name: "tool-answers-whole", whole: true, tool: quick("answers-too", mcp.Result{Text: "rain"}), steps: well},
		{name: "tool-fails", tool: quick("fails", mcp.Result{Text: "no rain", IsError: true}), steps: well},
		{name: "tool-unanswered", tool: quick("unanswered", fault.Cut{}), steps: well},
		{name: "tool-then-refused", tool: quick("then-refused", mcp.Result{Text: "rain"}), steps: refused},
		{name: "tool-cap", clock: true, tool: never("cap")},
		{name: "tool-cap-whole", clock: true, whole: true, tool: never("cap-whole")},
		{name: "tool-left", leaves: caller.Close, tool: never("left")},
		{name: "tool-left-by-reset", leaves: caller.Reset, tool: never("left-by-reset")},
		{name: "tool-left-whole", whole: true, leaves: caller.Close, tool: never("left-whole")},
	}
	for i := range all {
		all[i].set.Tools = harness.HTTPTools
	}
	return all
}

// listing is the MCP server of these ways.
func listing(ways []way) mcp.Script {
	var s mcp.Script
	for _, y := range ways {
		if y.tool.Name != "" {
			s.Tools = append(s.Tools, y.tool)
		}
	}
	return s
}

// leakToolVariants are those with an MCP server.
func leakToolVariants() []harness.Variant {
	tools := harness.Set{Tools: harness.HTTPTools}
	quick, slow, _ := split(toolWays(), tools)
	_, _, faults := split(ways(), tools)
	return append(overTransports(harness.Variant{Name: "tools", Play: leaking(quick, slow)}),
		overTransports(harness.Variant{Name: "tools-panics", Needs: []harness.Feature{harness.FaultHooks}, Play: leaking(faults, nil)})...)
}
