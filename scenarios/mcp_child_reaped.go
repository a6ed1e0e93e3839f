package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// mcpChildReaped: a tool server that is a process is ended step by step, each after a bounded time, and waited for.
func mcpChildReaped() harness.Scenario {
	const guarantee = "mcp.child-reaped"
	order := func(steps ...expect.Event) []harness.Check {
		return []harness.Check{{Name: "ends-it-step-by-step", Guarantee: guarantee, Noun: "child-steps", Expect: shows(expect.InOrder(steps))}}
	}
	gentle := harness.Check{Name: "gives-it-time-to-end", Guarantee: guarantee, Noun: "child-signal", Expect: shows(expect.Never{What: childSignal})}
	itself := append(order(childInput, saying(childExit, "0 child")), gentle)
	left := func(name string, p mcp.Process, checks []harness.Check) harness.Variant {
		return harness.Variant{
			Name: name, Play: childLeft(p), Reached: []expect.Event{of(clientLeft, "second")},
			Checks: append(checks, closesInput(guarantee, of(clientLeft, "second")), endsChild(guarantee, childInput), reapsChild(guarantee)),
		}
	}
	variants := []harness.Variant{
		left("ends-with-its-input", mcp.Process{}, itself),
		left("ignores-its-input", mcp.Process{IgnoresEOF: true}, order(childInput, childSignal, saying(childExit, "SIGTERM child"))),
		left("ignores-sigterm", mcp.Process{IgnoresEOF: true, IgnoresTERM: true}, order(childInput, childSignal, saying(childExit, "unannounced child"))),
		left("has-a-child", mcp.Process{Grandchild: mcp.GrandchildStays}, append(itself[:len(itself):len(itself)], endsGrandchild(guarantee, childInput))),
		left("has-a-daemon", mcp.Process{Grandchild: mcp.GrandchildLeaves}, itself),
		{
			Name: "dies-in-a-call", Reached: []expect.Event{saying(childExit, "3 child"), of(clientFinish, "second")},
			Play: childUsed(mcp.Script{
				Manners:  mcp.Manners{Process: mcp.Process{Grandchild: mcp.GrandchildStays}},
				Programs: []mcp.Program{{Steps: []script.Step{mcp.Exit{Code: 3, Stderr: "out of memory\n"}}}},
			}, func(t *harness.Trial) {
				t.AwaitEnd(t.Ask(caller.Ask{Name: "second", Prompt: "look it up", Stream: true}))
			}, calling(script.Role{}, lookup), proper(script.Role{}, script.Text{Chunks: []string{"done"}})),
			Checks: []harness.Check{reapsChild(guarantee), endsGrandchild(guarantee, childExit)},
		},
		{
			Name: "dies-at-its-start", Reached: []expect.Event{nth(saying(childExit, "3 child"), 2)},
			Play: childUsed(mcp.Script{Manners: mcp.Manners{Process: mcp.Process{Dies: mcp.Exit{Code: 3, Stderr: "no such database\n"}}}}, func(t *harness.Trial) {
				t.AwaitEnd(t.Ask(caller.Ask{Name: "second", Prompt: "hello", Stream: true}))
			}, parting("second")),
			Checks: []harness.Check{reapsChild(guarantee)},
		},
		{
			Name: "at-shutdown", Needs: []harness.Feature{harness.Signals}, Reached: []expect.Event{of(clientFinish, "first"), childStart},
			Play: func(t *harness.Trial) {
				t.Script(parting("first"))
				t.Tools(mcp.Script{Manners: mcp.Manners{Process: mcp.Process{IgnoresEOF: true, IgnoresTERM: true, Grandchild: mcp.GrandchildStays}}})
				t.AwaitEnd(t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true}))
				t.Signal("SIGTERM")
				t.AwaitExit()
				t.Pass(t.Windows.Cleanup + t.Stage.Once)
			},
			Checks: append(order(childInput, childSignal, saying(childExit, "unannounced child")), endsChild(guarantee, childInput), endsGrandchild(guarantee, childInput)),
		},
	}
	for i := range variants {
		variants[i].Set.Tools = harness.StdioTools
	}
	return harness.Scenario{
		ID:       "mcp/child-reaped",
		Claim:    "a tool server that is a child process has its input closed, then gets SIGTERM, then SIGKILL, each after a bounded time, with the processes of its group, and is waited for",
		Needs:    []harness.Feature{harness.Streaming, harness.Children},
		Dialects: chat()[:1],
		Variants: variants,
	}
}

// lookup is the call of a tool that is there.
var lookup = script.Tool{ID: "call_1", Name: "lookup", Args: []string{`{"city":"Oslo"}`}}

// childUsed has two counts of the server's children with a use of them between. The same request before each count makes
// them equal: a server may keep a child for its next run.
func childUsed(tools mcp.Script, use func(*harness.Trial), programs ...script.Program) func(*harness.Trial) {
	return func(t *harness.Trial) {
		t.Script(slices.Concat([]script.Program{parting("first")}, programs, []script.Program{parting("last")})...)
		t.Tools(tools)
		t.AwaitEnd(t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true}))
		t.Census()
		use(t)
		t.Pass(t.Windows.Cleanup + t.Stage.Once)
		t.AwaitEnd(t.Ask(caller.Ask{Name: "last", Prompt: "hello again", Stream: true}))
		t.Census()
	}
}

// childLeft has a client leave during a call of a tool that never ends, on a server whose processes behave so.
func childLeft(p mcp.Process) func(*harness.Trial) {
	tools := toolOf("lookup", forever, "late")
	tools.Manners.Process = p
	return childUsed(tools, func(t *harness.Trial) {
		r := t.Ask(caller.Ask{Name: "second", Prompt: "look it up", Stream: true})
		t.Await(toolRequest)
		r.Leave(caller.Close)
	}, calling(script.Role{}, lookup))
}

// closesInput is the check that a child's input is closed at once after an event.
func closesInput(guarantee string, after expect.Event) harness.Check {
	return harness.Check{Name: "closes-its-input", Guarantee: guarantee, Noun: "child-input", Expect: func(at harness.At) expect.Expectation {
		return expect.Happens{What: childInput, After: after, To: at.Once}
	}}
}

// endsChild is the check that a child is at its end when the time for that is over.
func endsChild(guarantee string, after expect.Event) harness.Check {
	return harness.Check{Name: "ends-it", Guarantee: guarantee, Noun: "child-exit", Expect: func(at harness.At) expect.Expectation {
		return expect.Happens{What: childExit, After: after, To: at.Cleanup + at.Once}
	}}
}

// endsGrandchild is the check that what a child has started in its process group ends with it. A count of the server's children cannot
// show it: a process whose parent has ended is nobody's child.
func endsGrandchild(guarantee string, after expect.Event) harness.Check {
	return harness.Check{Name: "ends-what-it-started", Guarantee: guarantee, Noun: "grandchild-exit", Expect: func(at harness.At) expect.Expectation {
		return expect.Happens{What: grandchildExit, After: after, To: at.Cleanup + at.Once}
	}}
}

// reapsChild is the check that no child is left, dead ones that nobody waits for included.
func reapsChild(guarantee string) harness.Check {
	return harness.Check{Name: "waits-for-it", Guarantee: guarantee, Noun: "children-held", Expect: shows(expect.Returns{What: children})}
}
