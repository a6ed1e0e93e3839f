package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// ailment is what is wrong with a server that nobody can connect to.
type ailment struct {
	name   string
	over   []harness.Tooling
	script func(harness.Windows) mcp.Script
	spoil  func(*mcp.Fake) // before it is told its script
	down   bool            // nobody listens
	sooner bool            // it can be known before the window is over
	why    *expect.Event   // what makes the test a test
}

func ailments() []ailment {
	all, http := harness.Transports(), []harness.Tooling{harness.HTTPTools}
	overHTTP := []harness.Tooling{harness.HTTPTools, harness.ModernTools, harness.SSETools}
	greeted := []harness.Tooling{harness.HTTPTools, harness.SSETools, harness.StdioTools} // modern servers are asked for their tools at once
	does := func(method string, steps ...script.Step) func(harness.Windows) mcp.Script {
		return func(harness.Windows) mcp.Script { return onMethod(method, steps...) }
	}
	drips := func(method string) func(harness.Windows) mcp.Script {
		return func(w harness.Windows) mcp.Script {
			return onMethod(method, fault.Drip{Bytes: 1, Every: w.Connect / 20}, mcp.Result{})
		}
	}
	// The lists are made by who plays them: some are large.
	lists := func(tools func() string) func(harness.Windows) mcp.Script {
		return func(harness.Windows) mcp.Script {
			return onMethod("tools/list", mcp.Result{JSON: `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[` + tools() + `]}`})
		}
	}
	mcpEvent := func(kind string) *expect.Event { return &expect.Event{Lane: harness.ToolsLane, Kind: kind} }
	second := nth(expect.Event{Lane: harness.ToolsLane, Kind: "request", Detail: "tools/list"}, 3) // the good server is asked too
	connection, stall, drip := mcpEvent("connection"), mcpEvent("stall"), mcpEvent("drip")
	deep := func() string {
		return `{"name":"deep","inputSchema":{"type":"object","properties":` + strings.Repeat(`{"a":`, 9900) + `{}` + strings.Repeat(`}`, 9900) + `}}`
	}
	many := func() string {
		var tools []string
		for n := range 5000 {
			tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":"One of many.","inputSchema":{"type":"object"}}`, n))
		}
		return strings.Join(tools, ",")
	}
	notUTF8 := func() string {
		return "{\"name\":\"caf\xe9\",\"inputSchema\":{\"type\":\"object\"}},{\"name\":\"\xff\xfe\",\"description\":\"\xc3\",\"inputSchema\":{\"type\":\"object\"}}"
	}
	late := func(method string, by time.Duration, steps ...script.Step) mcp.Program {
		return mcp.Program{When: mcp.When{Method: method}, Steps: append([]script.Step{script.Pause{For: by}}, steps...)}
	}
	return []ailment{
		{name: "mute", over: overHTTP, why: connection, spoil: func(f *mcp.Fake) { f.Connections.Mute = 1000 }},
		{name: "resets", over: overHTTP, sooner: true, why: connection, spoil: func(f *mcp.Fake) { f.Connections.Refuse = 1000 }},
		{name: "down", over: overHTTP, sooner: true, down: true},
		{name: "initialize-unanswered", over: greeted, why: stall, script: does("initialize", fault.Stall{})},
		{name: "initialize-only-begun", over: http, why: stall, script: does("initialize", script.Headers{}, fault.Stall{})},
		{name: "initialize-drips", over: greeted, why: drip, script: drips("initialize")},
		{name: "initialize-refused", over: http, sooner: true, why: mcpEvent("status"), script: does("initialize", fault.Status{Code: 500})},
		{name: "list-unanswered", over: all, why: stall, script: does("tools/list", fault.Stall{})},
		// Each step is in time, and all of them together are not.
		{name: "late-then-unanswered", over: greeted[:1], why: stall, script: func(w harness.Windows) mcp.Script {
			return mcp.Script{Programs: []mcp.Program{late("initialize", w.Connect*2/5, mcp.Result{}), late("tools/list", 0, fault.Stall{})}}
		}},
		{name: "list-page-by-page", over: http, why: &second, script: func(w harness.Windows) mcp.Script {
			list := func(tool, next string) mcp.Program { return late("tools/list", w.Connect*3/5, page(tool, next)) }
			return mcp.Script{Programs: []mcp.Program{list("book", "page 2"), list("cancel", "")}}
		}},
		{name: "list-drips", over: all, why: drip, script: drips("tools/list")},
		{name: "list-refused", over: all, sooner: true, script: does("tools/list", mcp.Error{Code: -32603})},
		{name: "list-of-5000", over: all, sooner: true, script: lists(many)},
		{name: "list-too-deep", over: all, sooner: true, script: lists(deep)},
		{name: "list-not-utf-8", over: all, sooner: true, script: lists(notUTF8)},
	}
}

// page is one of a list of tools, with one tool and the cursor of the next, if there is one.
func page(tool, next string) mcp.Result {
	if next != "" {
		next = fmt.Sprintf(`,"nextCursor":%q`, next)
	}
	return mcp.Result{JSON: fmt.Sprintf(`{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":%q,"inputSchema":{"type":"object"}}]%s}`, tool, next)}
}

// variant has a good server stand beside bad ones.
func (a ailment) variant(name string, bad ...harness.Tooling) harness.Variant {
	const id = "mcp.connect-is-bounded"
	tooling := harness.HTTPTools
	for _, over := range bad {
		tooling += "+" + over
	}
	from, to := connectWindow, connectWindow
	if a.sooner {
		from, to = now, func(at harness.At) time.Duration { return at.Connect + at.Once }
	}
	v := harness.Variant{Name: name, Set: harness.Set{Tools: tooling, Connect: true}, Dialects: chat()[:1], Play: func(t *harness.Trial) {
		t.Script(lookingUp(t, "call_1")...)
		scripts := []mcp.Script{toolOf("lookup", 0, "rain")}
		for n := range bad {
			if a.spoil != nil {
				a.spoil(t.Stage.Tools[n+1].Fake)
			}
			var s mcp.Script
			if a.script != nil {
				s = a.script(t.Windows)
			}
			scripts = append(scripts, s)
		}
		t.Tools(scripts...)
		if a.down {
			for n := range bad {
				_ = t.Stage.Tools[n+1].Fake.Close()
			}
		}
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
	}}
	if a.why != nil {
		v.Reached = []expect.Event{*a.why}
	}
	v.Checks = []harness.Check{happens("goes-on", id, "model-request", providerRequest, clientAsk, from, to)}
	if !a.sooner {
		v.Checks = append(v.Checks, harness.Check{Name: "says-so", Guarantee: id, Noun: "server-status", Needs: []harness.Feature{harness.CustomEvents},
			Expect: shows(reported{harness.ToolServerName(1), "failed"})})
	}
	if a.why != nil && a.why.Kind == "stall" {
		// A DELETE on another connection may reach the server first: it ends what is open in its session.
		v.Checks = append(v.Checks, harness.Check{Name: "leaves-the-server", Guarantee: id, Noun: "open-request", Expect: func(at harness.At) expect.Expectation {
			return goneAt{*a.why, from(at), to(at)}
		}})
	}
	return v
}

// mcpConnectIsBounded: a server that cannot be connected to costs a run the window for it, and its tools, but no more.
func mcpConnectIsBounded() harness.Scenario {
	const id = "mcp.connect-is-bounded"
	var variants []harness.Variant
	for _, a := range ailments() {
		for _, over := range a.over {
			variants = append(variants, a.variant(a.name+"-"+string(over), over))
		}
	}
	// They are waited for together, not one after another.
	variants = append(variants, ailments()[0].variant("three-mute", harness.HTTPTools, harness.SSETools, harness.ModernTools))
	variants = append(variants, harness.Variant{Name: "list-in-two-pages", Set: harness.Set{Tools: harness.HTTPTools}, Dialects: chat()[:1], Play: func(t *harness.Trial) {
		list := mcp.When{Method: "tools/list"}
		t.Tools(mcp.Script{Tools: toolOf("lookup", 0, "rain").Tools, Programs: []mcp.Program{
			{When: list, Steps: []script.Step{page("book", "page 2")}}, {When: list, Steps: []script.Step{page("lookup", "")}},
		}})
		looksUp(t, "call_1")
	}})
	return harness.Scenario{
		ID:       "mcp/connect-is-bounded",
		Claim:    "a run whose tool server does not connect, greet or list all of its tools asks its model when the connect window is over, and uses the tools of the other servers",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true,
		Variants: variants,
		Checks: []harness.Check{
			isTold(id, "call_1", "rain"),
			endWell(id, 1),
		},
	}
}
