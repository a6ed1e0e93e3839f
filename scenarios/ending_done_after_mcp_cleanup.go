package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// endingDoneAfterMCPCleanup: after a timeout the end of the stream says that the tools know of it too.
func endingDoneAfterMCPCleanup() harness.Scenario {
	const id = "ending.done-after-mcp-cleanup"
	capped := cappings()[0]
	later := func(at harness.At) time.Duration { return at.Stream + slowClosing(at.Windows) }
	latest := func(at harness.At) time.Duration { return at.Stream + at.Cleanup }
	done := func(from, to func(at harness.At) time.Duration) []harness.Check {
		return []harness.Check{{Name: "ends-the-answer", Guarantee: id, Noun: "done", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: clientDone, After: clientAsk, From: from(at), To: to(at) + at.Once}
		}}}
	}
	play := func(tools func(harness.Windows) mcp.Script) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(asks(t, t.ToolCall("call_1", "book", `{"city":"Oslo"}`))...)
			t.Tools(tools(t.Windows))
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(toolRequest)
			capped.end(t, r)
		}
	}
	http, closed := harness.Set{Tools: harness.HTTPTools}, []expect.Event{toolDelete}
	variants := []harness.Variant{
		{Name: "slowly-heard", Set: http, Play: play(slowlyHeard), Checks: done(later, later)},
		{Name: "slowly-closed", Set: http, Play: play(slowlyClosed), Checks: done(later, later), Reached: closed},
		{Name: "never-heard", Set: http, Play: play(neverHeard), Checks: done(later, latest)},
		{Name: "never-closed", Set: http, Play: play(neverClosed), Checks: done(later, latest), Reached: closed},
	}
	plain := func(harness.Windows) mcp.Script { return toolOf("book", forever, "late") }
	for _, v := range overTransports(harness.Variant{Name: "at-once", Play: play(plain), Checks: done(streamWindow, streamWindow)}) {
		v.Checks = append(v.Checks, capped.cancels("cancel.notifies-tools", v.Set.Tools))
		variants = append(variants, v)
	}
	return harness.Scenario{
		ID:       "ending/done-after-mcp-cleanup",
		Claim:    "a stream that timed out in a tool call ends when the call is cancelled and its session closed, or the time for that is over",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true,
		Variants: variants,
		Checks: []harness.Check{{Name: "tells-at-the-window", Guarantee: "stream-cap.fires", Noun: "error-frame", Needs: []harness.Feature{harness.ErrorFrames}, Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: clientError, After: clientAsk, From: at.Stream, To: at.Stream}
		}}},
	}
}
