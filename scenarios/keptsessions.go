package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// keptSessions are the variants of mcp/session-closed about sessions that no call is in flight in when they are over: one whose run was
// left before it began, one in the place of a lost one, and one that was kept for long.
func keptSessions(id string) []harness.Variant {
	var variants []harness.Variant
	// The second server never answers its handshake. What was opened on the first is for nobody.
	for _, over := range []harness.Tooling{harness.HTTPTools, harness.SSETools, harness.StdioTools} {
		v := harness.Variant{Name: "left-while-connecting-" + string(over), Set: harness.Set{Tools: over + "+" + harness.HTTPTools}, Dialects: chat()[:1]}
		v.Play = func(t *harness.Trial) {
			t.Tools(mcp.Script{}, onMethod("initialize", fault.Stall{}))
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(expect.Event{Lane: harness.ToolsLane, Kind: "stall"})
			t.Await(listed)
			t.Pass(awhile(t.Windows))
			r.Leave(caller.Close)
			t.Pass(t.Windows.Cleanup)
		}
		v.Reached = []expect.Event{listed, clientLeft}
		v.Checks = []harness.Check{happens("closes-the-session", id, "session", of(sessionEnd(over), harness.ToolServerName(0)), clientLeft, now, soon)}
		variants = append(variants, v)
	}
	each := []harness.Check{{Name: "ends-each-session", Guarantee: id, Noun: "session", Expect: shows(sessionsEnd{harness.ToolServerName(0)})}}
	exits := func(t *harness.Trial) {
		t.Signal("SIGTERM")
		t.AwaitExit()
	}
	// The server chooses whether it renews a lost session within the run or for the next: in either case its own exit is the end of it.
	variants = append(variants, harness.Variant{
		Name: "exit-after-a-lost-session", Set: harness.Set{Tools: harness.HTTPTools}, Needs: []harness.Feature{harness.Signals}, Dialects: chat()[:1], Checks: each,
		Reached: []expect.Event{saying(toolSession, "lost"), nth(saying(toolSession, "opened"), 2)},
		Play: func(t *harness.Trial) {
			t.Tools(mcp.Script{
				Manners:  mcp.Manners{Lives: mcp.Lives{LostAt: "restarted"}},
				Programs: []mcp.Program{{When: mcp.When{Contains: "call_1"}, Steps: []script.Step{script.Open{Gate: "restarted"}, mcp.Result{Text: "rain"}}}},
			})
			looksUpInTurn(t, []string{"call_1", "call_2", "call_3"}, []string{"call_4"})
			t.Pass(awhile(t.Windows))
			exits(t)
		},
	})
	// A pool may close what was idle for so long, or keep it until the exit.
	return append(variants, harness.Variant{
		Name: "exit-after-long-idleness", Set: harness.Set{Tools: harness.HTTPTools}, Needs: []harness.Feature{harness.Signals, harness.LongWaits}, Dialects: chat()[:1], Checks: each,
		Play: func(t *harness.Trial) {
			t.Tools()
			looksUp(t, "call_1")
			t.Pass(11 * time.Minute)
			exits(t)
		},
	})
}

// listed is that a server was asked for its tools.
var listed = expect.Event{Lane: harness.ToolsLane, Kind: "request", Detail: "tools/list"}

// diesIdle is a tool server that dies when no run uses it. The next run finds out, and is given another.
func diesIdle() harness.Variant {
	return harness.Variant{
		Name: "tool-server-dies-idle", Set: harness.Set{Tools: harness.StdioTools}, Dialects: chat()[:1],
		Reached: []expect.Event{{Lane: harness.ToolsLane, Kind: "exit"}},
		Play: func(t *harness.Trial) {
			dies := []script.Step{mcp.Result{Text: "rain"}, script.Pause{For: awhile(t.Windows)}, mcp.Exit{Code: 3}}
			childUsed(mcp.Script{Programs: []mcp.Program{{Steps: dies}}}, func(t *harness.Trial) {
				t.AwaitEnd(t.Ask(caller.Ask{Name: "second", Prompt: "look it up", Stream: true}))
				t.Await(expect.Event{Lane: harness.ToolsLane, Kind: "exit"})
			}, calling(script.Role{}, lookup), parting("second"))(t)
		},
	}
}
