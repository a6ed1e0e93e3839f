package scenarios

import (
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// noise is what a server says in a call beside its answer.
type noise struct {
	name    string
	over    []harness.Tooling
	steps   func(harness.Windows) []script.Step // made by who says it: some are megabytes
	manners mcp.Manners
	asks    bool // the client is to answer each
}

func noises() []noise {
	all, stdio := harness.Transports(), []harness.Tooling{harness.StdioTools}
	events := []harness.Tooling{harness.HTTPTools, harness.ModernTools, harness.SSETools}
	legacy := []harness.Tooling{harness.HTTPTools, harness.SSETools, harness.StdioTools} // a modern server asks nothing
	raw := func(end string, lines ...string) []script.Step {
		var steps []script.Step
		for _, l := range lines {
			steps = append(steps, script.Raw{Bytes: l + end})
		}
		return steps
	}
	odd := func() []string {
		deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
		return []string{
			`DEBUG loading noise`, `{"level":"info","noise":1}`, `{"jsonrpc":"2.0"}`, `[1,2]`, `null`, `"noise"`, `{"jsonrpc":`, "caf\xe9 \xff\xfe noise", "",
			strings.Repeat("noise ", 20_000), `{"noise":"` + strings.Repeat("x", 2<<20) + `"}`, `{"noise":` + deep + `}`, deep,
		}
	}
	data := func() []string {
		var out []string
		for _, l := range odd() {
			out = append(out, "data: "+l)
		}
		return append(out, "event: ping\ndata: {}", "event: noise", "data", "retry: 10", "id: 7", "noise: 1", ": noise", "event: error\ndata: noise")
	}
	says := func(steps ...script.Step) func(harness.Windows) []script.Step {
		return func(harness.Windows) []script.Step { return steps }
	}
	ask := func(method string, as mcp.ID) func(harness.Windows) []script.Step {
		return func(w harness.Windows) []script.Step {
			return []script.Step{mcp.Ask{Method: method, ID: as, For: w.Heartbeat / 7}}
		}
	}
	return []noise{
		{name: "comments", over: events, steps: says(script.Headers{}, script.Comment{Text: "noise"}, script.Comment{Text: ""}, script.Comment{Text: "noise"})},
		{name: "log", over: all, steps: func(harness.Windows) []script.Step {
			return []script.Step{mcp.Log{Text: "noise"}, mcp.Log{Level: "emergency", Text: strings.Repeat("noise ", 20_000)}}
		}},
		{name: "notifications", over: all, steps: says(
			mcp.Notify{Method: "notifications/tools/list_changed"}, mcp.Notify{Method: "notifications/noise", Params: `{"noise":1}`}, mcp.Notify{Method: "noise", Params: `[]`},
			mcp.Notify{Method: "notifications/cancelled", Params: `{"requestId":"noise"}`}, mcp.Notify{Method: "notifications/message", Params: `{"level":7}`},
			mcp.Notify{Method: "notifications/resources/updated", Params: `{"uri":null}`},
		)},
		{name: "lines", over: stdio, steps: func(harness.Windows) []script.Step { return raw("\n", odd()...) }},
		{name: "frames", over: events, steps: func(harness.Windows) []script.Step { return raw("\n\n", data()...) }},
		{name: "banner", over: stdio, steps: says(), manners: mcp.Manners{Banner: "Noise server 1.0\nlistening on stdio\n\n{\"noise\":true}\n"}},
		{name: "ping", over: legacy, asks: true, steps: ask("ping", mcp.OwnID)},
		{name: "roots", over: legacy, asks: true, steps: ask("roots/list", mcp.OwnID)},
		{name: "sampling", over: legacy, asks: true, steps: ask("sampling/createMessage", mcp.OwnID)},
		{name: "elicitation", over: legacy, asks: true, steps: ask("elicitation/create", mcp.OwnID)},
		{name: "unknown-request", over: legacy, asks: true, steps: ask("noise", mcp.OwnID)},
		{name: "ping-as-the-call", over: legacy, asks: true, steps: ask("ping", mcp.SameID)},
	}
}

// mcpNoiseTolerated: whatever else a server says, its call gets its answer.
func mcpNoiseTolerated() harness.Scenario {
	const id = "mcp.noise-tolerated"
	var variants []harness.Variant
	for _, n := range noises() {
		for _, over := range n.over {
			v := harness.Variant{Name: n.name + "-" + string(over), Set: harness.Set{Tools: over}, Dialects: chat()[:1], Play: func(t *harness.Trial) {
				s := onCall(slices.Concat(n.steps(t.Windows), []script.Step{mcp.Result{Text: "rain"}})...)
				s.Manners = n.manners
				t.Tools(s)
				looksUp(t, "call_1", "call_2")
			}}
			if n.asks {
				asked, answered := expect.Event{Lane: harness.ToolsLane, Kind: "ask"}, expect.Event{Lane: harness.ToolsLane, Kind: "answered"}
				v.Checks = []harness.Check{happens("answers-it", id, "answer-to-the-server", answered, asked, now, func(at harness.At) time.Duration { return min(at.Once, at.Heartbeat/7) })}
			}
			variants = append(variants, v)
		}
	}
	variants = append(variants, harness.Variant{
		// The child says nothing on its output before all that is read: above what a pipe holds.
		Name: "flood-of-errors-stdio", Set: harness.Set{Tools: harness.StdioTools}, Dialects: chat()[:1], Needs: []harness.Feature{harness.Children},
		Reached: []expect.Event{childStart}, Play: func(t *harness.Trial) {
			s := onCall(mcp.Result{Text: "rain"})
			s.Manners.Process.Floods = 1 << 20
			t.Tools(s)
			looksUp(t, "call_1", "call_2")
		},
	})
	return harness.Scenario{
		ID:       "mcp/noise-tolerated",
		Claim:    "a call gets its answer whatever lines, comments, notifications and requests come before it, and so does the next on the same connection",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true,
		Variants: variants,
		Checks: []harness.Check{
			isTold(id, "call_1", "rain"), isTold(id, "call_2", "lookup is done"), endWell(id, 1),
			{Name: "connects-once", Guarantee: id, Noun: "connection", Expect: shows(expect.Times{What: expect.Event{Lane: harness.ToolsLane, Kind: "request", Detail: "tools/list"}, Min: 1, Max: 1})},
		},
	}
}
