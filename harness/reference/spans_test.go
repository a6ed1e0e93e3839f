package reference

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// One orchestrated run, with a tool call that is approved: every piece of work has its span, below that of what it is part of.
func TestTheSpansOfARunAreItsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		defer network.Close()
		tl, spans := timeline.New(), timeline.New()
		calls := func(model, id, tool string, arguments any) script.Program {
			return script.Program{When: script.When{Model: model}, Steps: []script.Step{harness.PlainCall(id, tool, arguments),
				script.Finish{Reason: "tool_calls"}, script.Done{}, script.End{}}}
		}
		type fields map[string]any
		task := fields{"type": "task", "worker": "alpha", "task": "book a room"}
		fake := &provider.Provider{Dialects: []provider.Dialect{openai.Dialect{}}, Fallback: &provider.Session{Timeline: tl, Script: script.Script{
			calls(harness.CoordinatorModel, "1", "create_plan", fields{"goal": "a room", "steps": []any{task}, "routing_rationale": "r", "planning_summary": "s"}),
			calls("alpha", "2", "book", fields{"city": "Oslo"}),
			calls("alpha", "3", "submit_result", fields{"summary": "s", "result": "booked", "confidence": "high"}),
			calls(harness.CoordinatorModel, "4", "respond_directly", fields{"response": "it is booked", "routing_rationale": "r"}),
		}}}
		atProvider, err := network.Listen("provider.test:80")
		require.NoError(t, err)
		go fake.Serve(atProvider)
		defer fake.Close()
		set := harness.Set{Tools: harness.HTTPTools, Approval: harness.Webhook, Telemetry: true, Orchestrated: true}
		peers, err := harness.OpenPeers(set, false, nil, func(name string) (net.Listener, error) {
			return network.Listen(strings.Replace(name, harness.ApproverName, "localhost", 1) + ":80")
		})
		require.NoError(t, err)
		defer peers.Close()
		require.NoError(t, peers.Servers[0].Fake.Open("", &mcp.Session{Script: mcp.Script{Tools: harness.StandardTools(0)}, Timeline: tl}))
		require.NoError(t, peers.Approver.Open("", &approver.Session{Script: approver.Script{{Steps: []script.Step{approver.Decide{Approved: true}}}}, Timeline: tl}))
		require.NoError(t, peers.Collector.Open(&collector.Session{Timeline: spans}))

		setup := peers.Setup(set, Target(""), harness.Production().With(set), "http://provider.test/v1")
		setup.Dial, setup.Log = network.DialContext, &bytes.Buffer{}
		setup.Listener, err = network.Listen("agent.test:80")
		require.NoError(t, err)
		server, err := Target("").Start(setup)
		require.NoError(t, err)
		c := &caller.Caller{Dial: network.DialContext, Address: "agent.test:80", Timeline: tl}
		<-c.Ask(caller.Ask{Prompt: "hello", Stream: true}).Ended()
		synctest.Wait()
		server.Signal("SIGTERM")
		<-server.Done()

		// A span's line is its name, and then parent=ID … span=ID.
		name, parent := map[string]string{}, map[string]string{}
		for _, e := range spans.Events() {
			if e.Kind != "span" {
				continue
			}
			said, rest, _ := strings.Cut(e.Detail, " parent=")
			above, _, _ := strings.Cut(rest, " ")
			_, own, _ := strings.Cut(rest, " span=")
			own, _, _ = strings.Cut(own, " ")
			name[own], parent[own] = strings.Trim(said, `"`), above
		}
		var tree []string
		for own := range name {
			line := name[own]
			for at := parent[own]; name[at] != ""; at = parent[at] {
				line = name[at] + " / " + line
			}
			tree = append(tree, line)
		}
		require.ElementsMatch(t, []string{
			"invoke_agent reference",
			"invoke_agent reference / chat stallwright", "invoke_agent reference / execute_tool create_plan",
			"invoke_agent reference / invoke_agent alpha",
			"invoke_agent reference / invoke_agent alpha / chat alpha", "invoke_agent reference / invoke_agent alpha / chat alpha",
			"invoke_agent reference / invoke_agent alpha / execute_tool book", "invoke_agent reference / invoke_agent alpha / execute_tool book / approval book",
			"invoke_agent reference / invoke_agent alpha / execute_tool submit_result",
			"invoke_agent reference / chat stallwright", "invoke_agent reference / execute_tool respond_directly",
		}, tree, "%v", tl.Events())
	})
}
