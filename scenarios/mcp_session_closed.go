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

// sessionEnd is what the server of a transport sees of the end of a session.
func sessionEnd(over harness.Tooling) expect.Event {
	switch over {
	case harness.SSETools:
		return saying(toolSession, "closed")
	case harness.StdioTools:
		return of(toolLeft, harness.ToolServerName(0)) // of the pipe, not of a call
	}
	return toolDelete
}

// mcpSessionClosed: a session that no run will use again is closed, the way its transport has for it.
func mcpSessionClosed() harness.Scenario {
	const id = "mcp.session-closed"
	hanging := func(t *harness.Trial, manners mcp.Manners) *caller.Request {
		t.Script(append(lookingUp(t, "call_1")[:1], lookingUp(t, "call_2")...)...)
		t.Tools(mcp.Script{Manners: manners, Programs: []mcp.Program{{When: mcp.When{Contains: "call_1"}, Steps: []script.Step{fault.Stall{}}}}})
		r := t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true})
		t.Await(expect.Event{Lane: harness.ToolsLane, Kind: "stall"})
		t.Pass(awhile(t.Windows))
		return r
	}
	next := func(t *harness.Trial) {
		t.AwaitEnd(t.Ask(caller.Ask{Name: "second", Prompt: "hello again", Stream: true}))
	}
	leaves := func(manners mcp.Manners) func(*harness.Trial) {
		return func(t *harness.Trial) {
			hanging(t, manners).Leave(caller.Close)
			t.Pass(awhile(t.Windows))
			next(t)
		}
	}
	capped := func(t *harness.Trial) {
		t.AwaitEnd(hanging(t, mcp.Manners{}))
		t.Pass(awhile(t.Windows))
		next(t)
	}
	broken := func(t *harness.Trial) {
		t.Tools(onCall(fault.Reset{}))
		looksUpInTurn(t, []string{"call_1"}, []string{"call_2"})
	}
	exits := func(t *harness.Trial) {
		t.Tools()
		looksUp(t, "call_1")
		t.Pass(awhile(t.Windows))
		t.Signal("SIGTERM")
		t.AwaitExit()
	}
	drained := func(t *harness.Trial) {
		t.Script(lookingUp(t, "call_1")[:1]...)
		t.Tools(onCall(fault.Stall{}))
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
		t.Await(expect.Event{Lane: harness.ToolsLane, Kind: "stall"})
		t.Pass(awhile(t.Windows))
		t.Signal("SIGTERM")
		t.AwaitExit()
		t.AwaitEnd(r)
	}
	signals := []harness.Feature{harness.Signals}
	type ending struct {
		name   string
		over   []harness.Tooling
		play   func(*harness.Trial)
		needs  []harness.Feature
		after  expect.Event
		window func(harness.At) time.Duration
		next   bool // another run follows
	}
	all, http := harness.Transports(), harness.Transports()[:1]
	var variants []harness.Variant
	for _, e := range []ending{
		{"left", all, leaves(mcp.Manners{}), nil, clientLeft, now, true},
		{"timed-out", all, capped, nil, clientAsk, streamWindow, true},
		{"broken", http, broken, nil, clientFinish, now, true},
		{"exit", all, exits, signals, signal, now, false},
		{"exit-in-a-call", all, drained, signals, signal, graceEnd, false},
		{"left-delete-unknown", http, leaves(mcp.Manners{Delete: mcp.DeleteUnknown}), nil, clientLeft, now, true},
		{"left-delete-refused", http, leaves(mcp.Manners{Delete: mcp.DeleteRefused}), nil, clientLeft, now, true},
		{"left-delete-hangs", http, leaves(mcp.Manners{Delete: mcp.DeleteHangs}), nil, clientLeft, now, true},
	} {
		for _, over := range e.over {
			v := harness.Variant{Name: e.name + "-" + string(over), Set: harness.Set{Tools: over}, Needs: e.needs, Dialects: chat()[:1], Play: e.play}
			until := func(at harness.At) time.Duration { return e.window(at) + soon(at) }
			if over == harness.ModernTools {
				v.Checks = []harness.Check{
					{Name: "deletes-nothing", Guarantee: id, Noun: "delete", Expect: shows(expect.Never{What: toolDelete})},
					{Name: "leaves-the-call", Guarantee: id, Noun: "open-call", Expect: func(at harness.At) expect.Expectation {
						return goneAt{toolRequest, 0, awhile(at.Windows) + max(at.Stream, at.Shutdown) + at.Once}
					}},
				}
			} else {
				v.Checks = []harness.Check{happens("closes-the-session", id, "session", sessionEnd(over), e.after, e.window, until)}
			}
			if e.next {
				v.Checks = append(v.Checks, isTold(id, "call_2", "lookup is done"))
			}
			if over == harness.HTTPTools || over == harness.SSETools {
				v.Reached = []expect.Event{toolSession}
			}
			variants = append(variants, v)
		}
	}
	variants = append(variants, keptSessions(id)...)
	// A server that does not take the cancellation gets no part of the time that the end of its session needs.
	variants = append(variants, harness.Variant{
		Name: "left-cancellation-hangs-http", Set: harness.Set{Tools: harness.HTTPTools}, Dialects: chat()[:1], Reached: []expect.Event{nth(expect.Event{Lane: harness.ToolsLane, Kind: "stall"}, 2)},
		Play: func(t *harness.Trial) {
			t.Script(lookingUp(t, "call_1")[:1]...)
			t.Tools(mcp.Script{Programs: []mcp.Program{
				{Steps: []script.Step{fault.Stall{}}}, {When: mcp.When{Method: "notifications/cancelled"}, Steps: []script.Step{fault.Stall{}}},
			}})
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(expect.Event{Lane: harness.ToolsLane, Kind: "stall"})
			r.Leave(caller.Close)
			t.Pass(t.Windows.Cleanup + t.Stage.Once)
		},
		Checks: []harness.Check{happens("closes-the-session", id, "session", toolDelete, clientLeft, now, func(at harness.At) time.Duration { return at.Cleanup + at.Once })},
	})
	return harness.Scenario{
		ID:       "mcp/session-closed",
		Claim:    "a session with a tool server is closed at once when its run times out or its client leaves, and before the server exits",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true,
		Variants: variants,
	}
}
