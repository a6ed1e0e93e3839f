package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// callEnding is a way in which a run ends early while a tool works for it.
type callEnding struct {
	name   string
	whole  bool // the request does not stream
	needs  []harness.Feature
	over   expect.Event // what its instant is counted from
	window func(harness.At) time.Duration
	reason string // as the tool is told it, where a server has words for it
	end    func(*harness.Trial, *caller.Request)
}

// leavings are those in which the client goes away.
func leavings() []callEnding {
	leaves := func(how caller.Leaving) func(*harness.Trial, *caller.Request) {
		return func(t *harness.Trial, r *caller.Request) {
			t.Pass(t.Windows.Heartbeat * 3 / 7) // between two writes
			r.Leave(how)
		}
	}
	left := callEnding{over: clientLeft, window: now, reason: "client disconnected", needs: []harness.Feature{harness.Streaming}}
	fin, rst, whole := left, left, left
	fin.name, fin.end = "left-by-close", leaves(caller.Close)
	rst.name, rst.end = "left-by-reset", leaves(caller.Reset)
	whole.name, whole.end, whole.whole, whole.needs = "left-whole", leaves(caller.Close), true, []harness.Feature{harness.NonStreaming}
	return []callEnding{fin, rst, whole}
}

// cappings are those in which the stream clock runs out. Of the clocks it alone counts while a tool works.
func cappings() []callEnding {
	capped := callEnding{over: clientAsk, window: streamWindow, reason: "timeout", needs: []harness.Feature{harness.Streaming}, end: (*harness.Trial).AwaitEnd}
	stream, whole := capped, capped
	stream.name = "stream-cap"
	whole.name, whole.whole, whole.needs = "stream-cap-whole", true, []harness.Feature{harness.NonStreaming}
	return []callEnding{stream, whole}
}

// draining is a shutdown whose grace runs out.
func draining() callEnding {
	return callEnding{name: "shutdown", over: signal, window: graceEnd, reason: "server shutdown",
		needs: []harness.Feature{harness.Streaming, harness.Signals}, end: func(t *harness.Trial, r *caller.Request) {
			t.Pass(awhile(t.Windows))
			t.Signal("SIGTERM")
			t.AwaitExit()
			t.AwaitEnd(r)
		}}
}

// inCall has a model call a tool that never answers, and returns when the tool has the call. What is asked after it is answered.
func inCall(t *harness.Trial, whole bool) *caller.Request {
	t.Script(asks(t, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))...)
	t.Tools(toolOf("lookup", forever, "late"))
	r := t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: !whole})
	t.Await(toolRequest)
	return r
}

// inEachTransport are the variants of an ending, one a transport, with their checks.
func (e callEnding) inEachTransport(play func(*harness.Trial), checks func(harness.Tooling) []harness.Check) []harness.Variant {
	var out []harness.Variant
	for _, v := range overTransports(harness.Variant{Name: e.name, Needs: e.needs, Play: play}) {
		v.Checks = checks(v.Set.Tools)
		out = append(out, v)
	}
	return out
}

// closes is the event with which a transport's session or connection ends, as its server sees it.
func closes(over harness.Tooling) expect.Event {
	switch over {
	case harness.HTTPTools:
		return toolDelete
	case harness.SSETools:
		return saying(toolSession, "closed")
	case harness.StdioTools:
		return of(toolLeft, harness.ToolServerName(0)) // the end of its input
	}
	return toolLeft // of the response
}

// cancels is the check that the calls in flight are cancelled as this transport does it.
func (e callEnding) cancels(guarantee string, over harness.Tooling) harness.Check {
	return harness.Check{Name: "cancels-each-call", Guarantee: guarantee, Noun: "cancellation", Expect: func(at harness.At) expect.Expectation {
		return cancelsEach{over: e.over, from: e.window(at), to: e.window(at) + soon(at), hangsUp: over == harness.ModernTools}
	}}
}
