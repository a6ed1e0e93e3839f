package harness

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

// ToolsLane is the lane of the fake MCP servers.
const ToolsLane = mcp.Lane

// Tooling says which MCP servers the server under test has: transports, joined by +. Empty is none.
type Tooling string

// The transports of MCP servers, and the era over each. Several stand for as many servers, such as http+http.
const (
	NoTools     Tooling = ""
	HTTPTools   Tooling = "http"   // Streamable HTTP with sessions, revision 2025-11-25
	ModernTools Tooling = "modern" // Streamable HTTP without sessions, revision 2026-07-28
	SSETools    Tooling = "sse"    // HTTP+SSE, revision 2024-11-05
	StdioTools  Tooling = "stdio"  // a child process, revision 2025-11-25
)

// Transports lists the four.
func Transports() []Tooling { return []Tooling{HTTPTools, ModernTools, SSETools, StdioTools} }

// Servers are the transports of the servers, in their order.
func (t Tooling) Servers() []Tooling {
	if t == NoTools {
		return nil
	}
	var out []Tooling
	for _, one := range strings.Split(string(t), "+") {
		out = append(out, Tooling(one))
	}
	return out
}

// Begins says whether the servers of t begin with those of needs. A server under test that has t can then play a case that needs
// fewer: the further ones behave well and nobody calls their tools. Which tools one lists depends on its place, so that another order
// will not do.
func (t Tooling) Begins(needs Tooling) bool {
	has, want := t.Servers(), needs.Servers()
	return len(want) <= len(has) && slices.Equal(want, has[:len(want)])
}

// Revision is the protocol revision that a server of this transport speaks.
func (t Tooling) Revision() string {
	switch t {
	case ModernTools:
		return mcp.Modern
	case SSETools:
		return mcp.V20241105
	}
	return mcp.V20251125
}

// ToolServer is a fake MCP server on a stage.
type ToolServer struct {
	Name      string // as the server under test and the timeline know it
	Transport Tooling
	Fake      *mcp.Fake
	URL       string   // of all but [StdioTools]
	Command   []string // of [StdioTools]: how it is started
}

// ToolServerName is the name of the n-th of several servers, from 0.
func ToolServerName(n int) string { return "tools" + strconv.Itoa(n+1) }

// ToolNames are the tools of the n-th server: those that scripts may have the model call. What they do is the trial's script's,
// and without one they answer at once.
func ToolNames(n int) []string {
	names := [][]string{{"lookup", "book", "cancel"}, {"search", "send"}, {"count", "sum"}, {"read", "write"}}
	return names[n%len(names)]
}

// StandardTools are the tools that the n-th server lists, with the given ones in the place of those of their names, and behind them.
func StandardTools(n int, given ...mcp.Tool) []mcp.Tool {
	var tools []mcp.Tool
	for _, name := range ToolNames(n) {
		tools = append(tools, mcp.Tool{Name: name, Description: "The tool " + name + ".", Result: mcp.Result{Text: name + " is done"}})
	}
	for _, g := range given {
		if at := slices.IndexFunc(tools, func(o mcp.Tool) bool { return o.Name == g.Name }); at >= 0 {
			tools[at] = g
		} else {
			tools = append(tools, g)
		}
	}
	return tools
}

// Tools tells the fake MCP servers what to do in this trial, the n-th script the n-th server; those without one behave well. It
// comes before the first Ask. A script's tools take the place of those of the same names that the server lists. Programs for anything
// but a call, and manners, need a trial that is alone on its server.
func (t *Trial) Tools(scripts ...mcp.Script) {
	if t.tools != nil {
		panic("harness: a trial tells its tools once")
	}
	servers := t.Stage.Tools
	if len(scripts) > len(servers) {
		panic(fmt.Sprintf("harness: scripts for %d MCP servers, and the case has %d", len(scripts), len(servers)))
	}
	t.tools = make([]mcp.Script, len(servers))
	copy(t.tools, scripts)
	for n, s := range servers {
		script := &t.tools[n]
		script.Tools = StandardTools(n, script.Tools...)
		if !t.Stage.Apart && serverWide(*script) {
			panic("harness: only a trial that is alone on its server has programs for more than calls, or manners")
		}
		if script.Revisions == nil {
			script.Revisions = []string{s.Transport.Revision()}
		}
		err := s.Fake.Open(t.toolMarker(), &mcp.Session{Script: *script, Timeline: t.Stage.Timeline, Gates: t.gates, Seed: t.Seed})
		if err != nil {
			panic(err)
		}
	}
}

// toolMarker leads calls to this trial's scripts. A trial that has the servers to itself needs none: all that comes to them is
// its own.
func (t *Trial) toolMarker() string {
	if t.Stage.Apart {
		return ""
	}
	return t.marker
}

// serverWide says whether a script is about more than the calls of one trial.
func serverWide(s mcp.Script) bool {
	return s.Manners != (mcp.Manners{}) || slices.ContainsFunc(s.Programs, func(p mcp.Program) bool {
		return p.When.Method != "" && p.When.Method != "tools/call"
	})
}

// ToolCall is the step with which a model calls a tool: its arguments are a JSON object, see [Trial.Arguments].
func (t *Trial) ToolCall(id, name, arguments string) script.Tool {
	return script.Tool{ID: id, Name: name, Args: []string{t.Arguments(arguments)}}
}

// Arguments are a JSON object that is not empty, with the trial's marker as one more member where trials share the MCP servers: so
// the call leads to this trial's script.
func (t *Trial) Arguments(object string) string {
	if t.Stage.Apart {
		return object
	}
	marker, _ := json.Marshal("[[sw:" + t.marker + "]]") // a string cannot fail
	return strings.TrimSuffix(object, "}") + `,"trial":` + string(marker) + "}"
}

// releaseTools ends the trial's sessions on the fake MCP servers, and returns what of their scripts was not played.
func (t *Trial) releaseTools() []string {
	var left []string
	for n := range t.tools {
		s := t.Stage.Tools[n]
		for _, what := range s.Fake.Release(t.toolMarker()) {
			left = append(left, s.Name+": "+what)
		}
	}
	return left
}
