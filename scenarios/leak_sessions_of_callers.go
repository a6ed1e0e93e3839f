package scenarios

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// leakSessionsOfCallers: a pool keeps sessions for the next run of their caller, and has room for so many.
func leakSessionsOfCallers() harness.Scenario {
	const id, callers = "leak.sessions", 20 // more than a pool is likely to keep
	play := func(t *harness.Trial) {
		t.Script(script.Program{Times: callers, Steps: script.Answer("done").Steps})
		t.Tools()
		for n := range callers {
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true, Header: http.Header{"Authorization": {fmt.Sprintf("Bearer %d", n)}}}))
		}
		t.Pass(t.Stage.Tick)
		t.Signal("SIGTERM")
		t.AwaitExit()
	}
	// The second server never answers: the session on the first is for nobody any more.
	left := func(t *harness.Trial) {
		t.Tools(mcp.Script{}, onMethod("initialize", fault.Stall{}))
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
		t.Await(expect.Event{Lane: harness.ToolsLane, Kind: "stall"})
		t.Await(listed)
		t.Pass(awhile(t.Windows))
		r.Leave(caller.Close)
		t.Pass(t.Windows.Cleanup)
		t.Signal("SIGTERM")
		t.AwaitExit()
	}
	return harness.Scenario{
		ID:       "leak/sessions-of-callers",
		Claim:    "when 20 callers with credentials of their own have come and gone, or one left while connecting, none of their sessions is open once the server has ended",
		Needs:    []harness.Feature{harness.Streaming, harness.Signals},
		Alone:    true,
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "in-turn", Set: harness.Set{Tools: harness.HTTPTools}, Play: play, Reached: []expect.Event{nth(saying(toolSession, "opened"), callers)}},
			{Name: "left-while-connecting", Set: harness.Set{Tools: harness.HTTPTools + "+" + harness.HTTPTools}, Play: left},
		},
		Checks: []harness.Check{{Name: "ends-each-session", Guarantee: id, Noun: "session", Expect: shows(sessionsEnd{harness.ToolServerName(0)})}},
	}
}

// sessionsEnd expects each session that a server opened to have ended there, however it did.
type sessionsEnd struct{ server string }

// Judge fails as a count, and is inconclusive when no session was opened.
func (x sessionsEnd) Judge(h expect.History) expect.Judgement {
	ev := verdict.Evidence{Kind: verdict.Count, At: h.End, Expected: x.String()}
	opened, open := 0, map[string]int{}
	for _, e := range h.Events {
		how, id, _ := strings.Cut(e.Detail, " ")
		id, _, _ = strings.Cut(id, " ")
		switch {
		case !of(toolSession, x.server).Fits(e):
		case how == "opened":
			opened++
			open[id] = e.Seq
		default:
			delete(open, id)
		}
	}
	ev.Found = fmt.Sprintf("%d of %d sessions are open", len(open), opened)
	switch {
	case opened == 0:
		return expect.Judgement{Verdict: verdict.Inconclusive, Evidence: ev}
	case len(open) > 0:
		for _, seq := range open {
			ev.Because = append(ev.Because, seq)
		}
		slices.Sort(ev.Because)
		return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
	}
	return expect.Judgement{Verdict: verdict.Pass, Evidence: ev}
}

func (x sessionsEnd) String() string { return "no session open on " + x.server }
