package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// runReleasedAtEnd: an ended run holds no connection, no goroutine and no place among the running ones.
func runReleasedAtEnd() harness.Scenario {
	var variants []harness.Variant
	all := append(ways(), toolWays()...)
	for _, y := range ways() {
		if y.needs != nil { // the same, of a run that has tools
			y.name, y.set.Tools = y.name+"-with-tools", harness.HTTPTools
			all = append(all, y)
		}
	}
	for _, y := range all {
		reached := []expect.Event{nth(providerRequest, 2+len(y.programs(harness.Windows{})))}
		variants = append(variants, harness.Variant{Name: y.name, Set: y.set, Needs: y.needs, Reached: reached, Play: func(t *harness.Trial) {
			if y.set.Tools != harness.NoTools {
				t.Tools(listing([]way{y}))
			}
			t.Script(slices.Concat([]script.Program{parting("first")}, y.programs(t.Windows), []script.Program{parting("last")})...)
			// A server sets some things up at its first request only; the same request before each count makes them equal.
			t.AwaitEnd(t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true}))
			t.Census()
			y.play(t, 2, 1)
			t.AwaitEnd(t.Ask(caller.Ask{Name: "last", Prompt: "hello again", Stream: true}))
			t.Census()
			t.Signal("SIGTERM")
			t.AwaitExit()
		}})
	}
	// A client that reads only when the time for the last write is over finds that the server has let it go.
	variants = append(variants, harness.Variant{Name: "never-read", Reached: []expect.Event{of(providerLeft, "#2")}, Play: func(t *harness.Trial) {
		t.Script(parting("first"), proper(script.Role{}, flood(t.Stage)), parting("last"))
		t.AwaitEnd(t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true}))
		t.Census()
		unread := t.Ask(caller.Ask{Name: "unread", Prompt: "never-read", Stream: true, Hold: true})
		t.Await(of(providerLeft, "#2"))
		t.Pass(t.Windows.LastWrite + t.Stage.Tick)
		unread.Read()
		t.AwaitEnd(unread)
		t.AwaitEnd(t.Ask(caller.Ask{Name: "last", Prompt: "hello again", Stream: true}))
		t.Census()
		t.Signal("SIGTERM")
		t.AwaitExit()
	}, Checks: []harness.Check{
		{Name: "client-let-go", Guarantee: "run.released-at-end", Noun: "client-connection", Expect: shows(expect.Says{What: of(clientEnd, "unread"), Text: "cut"})},
	}})
	for _, e := range approvalEndings() {
		for _, route := range []harness.Approving{harness.Conversational, harness.Webhook} {
			if !e.by(route) || e.exits() {
				continue
			}
			needs := append([]harness.Feature{harness.Approvals}, e.needs...)
			variants = append(variants, harness.Variant{Name: "approval-" + e.name + "-" + string(route), Needs: needs, Dialects: chat()[:1], Set: approving(route), Play: func(t *harness.Trial) {
				call := t.ToolCall("call_1", "book", e.arguments(t.Windows))
				t.Script(parting("first"), script.Program{Steps: slices.Concat([]script.Step{lastOnConnection(), call}, closing("tool_calls")[:3], []script.Step{script.End{Close: true}})}, parting("last"))
				keepWaiting(t)
				t.AwaitEnd(t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true}))
				t.Census()
				e.end(t, askedIn(t, caller.Ask{Name: "waiting", Prompt: "hello", Stream: !e.whole}))
				t.AwaitEnd(t.Ask(caller.Ask{Name: "last", Prompt: "hello again", Stream: true}))
				t.Census()
				t.Signal("SIGTERM")
				t.AwaitExit()
			}})
		}
	}
	variants = append(variants, orchestratedReleases()...)
	return harness.Scenario{
		ID:       "run/released-at-end",
		Claim:    "of a run that has ended nothing is left, whatever its ending, and a server told to stop then exits at once",
		Needs:    []harness.Feature{harness.Streaming, harness.NonStreaming, harness.Signals},
		Alone:    true,
		Variants: variants,
		Reached:  []expect.Event{of(clientFinish, "first"), of(clientFinish, "last")},
		Checks: []harness.Check{
			{Name: "exits-at-once", Guarantee: "run.released-at-end", Noun: "exit", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: exit, After: signal, To: soon(at)}
			}},
			{Name: "exits-clean", Guarantee: "run.released-at-end", Noun: "exit-code", Expect: func(harness.At) expect.Expectation {
				return expect.Says{What: exit, Text: "0"}
			}},
			{Name: "no-connection-held", Guarantee: "run.released-at-end", Noun: "sockets-held", Needs: []harness.Feature{harness.Sockets}, Expect: func(harness.At) expect.Expectation {
				return expect.Returns{What: sockets}
			}},
			{Name: "no-goroutine-held", Guarantee: "run.released-at-end", Noun: "goroutines-held", Needs: []harness.Feature{harness.Goroutines}, Expect: func(harness.At) expect.Expectation {
				return expect.Returns{What: goroutines}
			}},
		},
	}
}
