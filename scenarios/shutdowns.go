package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// awhile is how long runs have gone on when a signal comes: the windows of a shutdown then end at no heartbeat.
func awhile(w harness.Windows) time.Duration { return w.Heartbeat / 7 }

// soon is the limit of "at once" in a shutdown: in real time it is well below the window that a server would wait for
// in its place.
func soon(at harness.At) time.Duration { return min(at.Once, at.Straggler*2/3) }

// flood is more text than connections and buffers hold unread.
func flood(s *harness.Stage) script.Step {
	const piece = 8 << 10
	return script.Text{Chunks: slices.Repeat([]string{strings.Repeat("x", piece)}, s.Flood/piece+1)}
}

// unreadable is text in a few pieces, so that a server with a buffer for each holds all of it, which together are more
// than a connection holds that nobody ever read from: a flood is for those that were read fast. What of it is sent can
// be read within the stragglers' time.
func unreadable(s *harness.Stage) script.Step {
	const pieces = 6
	return script.Text{Chunks: slices.Repeat([]string{strings.Repeat("~", s.Flood/8/pieces)}, pieces)}
}

// stuck waits until the model's answer no longer gets anywhere, since a client reads nothing of it. That one write had to wait is not
// enough: a busy server is slow to read as well, and then goes on.
func stuck(t *harness.Trial) {
	for n := 1; ; n++ {
		blocked := t.Await(nth(of(providerBlocked, "#1"), n))
		t.Pass(awhile(t.Windows))
		if !slices.ContainsFunc(t.Stage.Timeline.Events(), func(e timeline.Event) bool {
			return e.Seq > blocked.Seq && of(providerText, "#1").Fits(e)
		}) {
			return
		}
	}
}

// deaf is a prompt that makes a run deaf to its cancellation until well after the last window of a shutdown.
func deaf(w harness.Windows) string {
	return fmt.Sprintf("[[fault:deaf %s]]", w.Shutdown+w.Straggler+w.Abort+w.Heartbeat)
}

// What follows is played by more than one scenario: a server that is told to go while it does this or that.

// shutIdle has the server go when it has answered one request.
func shutIdle(t *harness.Trial) {
	t.Script(script.Answer("one ", "two"))
	t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
	t.Pass(awhile(t.Windows))
	t.Signal("SIGTERM")
	t.AwaitExit()
}

// shutFinishing has the server go when a run is about to end well, one tick before the end of the grace period.
func shutFinishing(name string, stream bool, before ...script.Step) func(*harness.Trial) {
	return func(t *harness.Trial) {
		after := []script.Step{script.Await{Gate: "end"}, script.Text{Chunks: []string{"two"}}}
		t.Script(proper(slices.Concat(before, after)...))
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: stream})
		t.Await(providerAwait)
		t.Pass(awhile(t.Windows))
		t.Signal(name)
		t.Pass(t.Windows.Shutdown - t.Stage.Tick)
		t.Open("end")
		t.AwaitEnd(r)
		t.AwaitExit()
	}
}

// shutSilent has the server go when the model is silent after these steps, and waits for the end.
func shutSilent(name string, stream bool, steps ...script.Step) func(*harness.Trial) {
	return func(t *harness.Trial) {
		t.Script(silent(steps...))
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: stream})
		t.Await(providerStall)
		t.Pass(awhile(t.Windows))
		t.Signal(name)
		t.AwaitExit()
		t.AwaitEnd(r)
	}
}

// shutUnread has the server go when its client does not read what a model floods it with.
func shutUnread(t *harness.Trial) {
	t.Script(proper(script.Role{}, flood(t.Stage)))
	r := t.Ask(caller.Ask{Prompt: "hello", Stream: true, Hold: true})
	stuck(t)
	t.Pass(awhile(t.Windows))
	t.Signal("SIGTERM")
	t.AwaitExit()
	r.Read()
	t.AwaitEnd(r)
}

// shutDeaf has the server go when a run is deaf to its cancellation.
func shutDeaf(stream bool) func(*harness.Trial) {
	return func(t *harness.Trial) {
		r := t.Ask(caller.Ask{Prompt: deaf(t.Windows), Stream: stream})
		t.Await(clientAsk)
		t.Pass(awhile(t.Windows))
		t.Signal("SIGTERM")
		t.AwaitExit()
		t.AwaitEnd(r)
	}
}

// shutTwice has the server go, and go at once, when the model is silent after some text.
func shutTwice(first, second string, stream bool) func(*harness.Trial) {
	return func(t *harness.Trial) {
		t.Script(silent(script.Role{}, script.Text{Chunks: []string{"one "}}))
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: stream})
		t.Await(providerStall)
		t.Pass(awhile(t.Windows))
		t.Signal(first)
		t.Pass(t.Windows.Shutdown * 2 / 7)
		t.Signal(second)
		t.AwaitExit()
		t.AwaitEnd(r)
	}
}

// shutInTool has the server go when a tool call of its run is never answered.
func shutInTool(stream bool, tools func(harness.Windows) mcp.Script) func(*harness.Trial) {
	return func(t *harness.Trial) {
		t.Script(asks(t, t.ToolCall("call_1", "book", `{"city":"Oslo"}`))...)
		t.Tools(tools(t.Windows))
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: stream})
		t.Await(toolRequest)
		draining().end(t, r)
	}
}

// neverClosed is an MCP server that does not answer to the end of a session.
func neverClosed(harness.Windows) mcp.Script {
	tools := toolOf("book", forever, "late")
	tools.Manners.Delete = mcp.DeleteHangs
	return tools
}

// slowlyClosed is one that takes its time for it, less than any server has.
func slowlyClosed(w harness.Windows) mcp.Script {
	tools := toolOf("book", forever, "late")
	steps := []script.Step{script.Pause{For: slowClosing(w)}, script.Headers{Status: 200}}
	tools.Programs = []mcp.Program{{When: mcp.When{Method: "DELETE"}, Steps: steps}}
	return tools
}

// neverHeard is one that does not answer to a cancellation.
func neverHeard(harness.Windows) mcp.Script {
	tools := toolOf("book", forever, "late")
	tools.Programs = []mcp.Program{{When: mcp.When{Method: "notifications/cancelled"}, Steps: []script.Step{fault.Stall{}}}}
	return tools
}

// slowlyHeard is one that takes its time for it.
func slowlyHeard(w harness.Windows) mcp.Script {
	tools := toolOf("book", forever, "late")
	steps := []script.Step{script.Pause{For: slowClosing(w)}, script.Headers{Status: 202}}
	tools.Programs = []mcp.Program{{When: mcp.When{Method: "notifications/cancelled"}, Steps: steps}}
	return tools
}

func slowClosing(w harness.Windows) time.Duration { return min(w.Cleanup, w.Straggler) * 3 / 8 }

// exitsAt is the check that the server exits between two instants, counted from the signal.
func exitsAt(guarantee string, from, to func(harness.At) time.Duration) harness.Check {
	return harness.Check{Name: "exits", Guarantee: guarantee, Noun: "exit", Expect: func(at harness.At) expect.Expectation {
		return expect.Happens{What: exit, After: signal, From: from(at), To: to(at) + soon(at)}
	}}
}

// The ends of the windows of a shutdown, from the signal on.
func now(harness.At) time.Duration              { return 0 }
func graceEnd(at harness.At) time.Duration      { return at.Shutdown }
func stragglersEnd(at harness.At) time.Duration { return at.Shutdown + at.Straggler }
func abortEnd(at harness.At) time.Duration      { return at.Shutdown + at.Straggler + at.Abort }
