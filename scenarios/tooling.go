package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// overTransports is a variant for each transport of MCP servers, Streamable HTTP first. That one is played on every dialect of the
// model's provider, the others on one: what a transport does to a call does not depend on who asked for it.
func overTransports(v harness.Variant) []harness.Variant {
	var out []harness.Variant
	for _, t := range harness.Transports() {
		one := v
		one.Name, one.Set.Tools = string(t), t
		if v.Name != "" {
			one.Name = v.Name + "-" + string(t)
		}
		if t != harness.HTTPTools {
			one.Dialects = chat()[:1]
		}
		out = append(out, one)
	}
	return out
}

// toolOf is a script with one tool that takes a while and answers with this text.
func toolOf(name string, takes time.Duration, text string) mcp.Script {
	return mcp.Script{Tools: []mcp.Tool{{Name: name, Takes: takes, Result: mcp.Result{Text: text}}}}
}

// slow is a tool that no scenario waits out.
const forever = 1000 * time.Hour

// asks is a model that calls a tool and is then asked again.
func asks(t *harness.Trial, calls ...script.Step) []script.Program {
	return []script.Program{calling(append([]script.Step{script.Role{}}, calls...)...), turns()}
}

// The events of the MCP lane.
var (
	toolRequest   = expect.Event{Lane: harness.ToolsLane, Kind: "request", Detail: "tools/call"}
	toolResult    = expect.Event{Lane: harness.ToolsLane, Kind: "result"}
	toolProgress  = expect.Event{Lane: harness.ToolsLane, Kind: "progress"}
	toolCancelled = expect.Event{Lane: harness.ToolsLane, Kind: "cancelled"}
	toolLeft      = expect.Event{Lane: harness.ToolsLane, Kind: "left"}
	toolEnded     = expect.Event{Lane: harness.ToolsLane, Kind: "ended"}
	toolSession   = expect.Event{Lane: harness.ToolsLane, Kind: "session"}
	toolDelete    = expect.Event{Lane: harness.ToolsLane, Kind: "delete"}
	toolConnect   = expect.Event{Lane: harness.ToolsLane, Kind: "connect"}
	childStart    = expect.Event{Lane: harness.ToolsLane, Kind: "start"}
	childInput    = expect.Event{Lane: harness.ToolsLane, Kind: "eof"} // has ended
	childSignal   = expect.Event{Lane: harness.ToolsLane, Kind: "signal"}
	childExit     = expect.Event{Lane: harness.ToolsLane, Kind: "exit", Detail: " child"} // and no grandchild's
	toolEffect    = expect.Event{Lane: harness.ToolsLane, Kind: "effect"}

	grandchildExit = expect.Event{Lane: harness.ToolsLane, Kind: "exit", Detail: " grandchild"}

	providerTold = expect.Event{Lane: "provider", Kind: "told"}

	clientRequested = saying(clientEvent, "aura.tool_requested ")
	clientStarted   = saying(clientEvent, "aura.tool_start ")
	clientProgress  = saying(clientEvent, "aura.progress ")
	clientCompleted = saying(clientEvent, "aura.tool_complete ")
)
