package scenarios

import (
	"fmt"
	"strings"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// leakSessions: however runs end, the server has no more sessions open on its MCP servers than those of agents that it keeps.
func leakSessions() harness.Scenario {
	const id = "leak.sessions"
	var variants []harness.Variant
	for _, v := range leakToolVariants() {
		if v.Set.Tools != harness.HTTPTools && v.Set.Tools != harness.SSETools {
			continue // they have no sessions
		}
		play := v.Play
		v.Play = func(t *harness.Trial) {
			play(t)
			t.Pass(t.Stage.Tick)
			t.Signal("SIGTERM")
			t.AwaitExit()
		}
		variants = append(variants, v)
	}
	return harness.Scenario{
		ID:       "leak/sessions",
		Claim:    "after many runs with every ending the server has no more sessions open than after its first request, and none when it has ended",
		Needs:    []harness.Feature{harness.Streaming, harness.NonStreaming, harness.Signals},
		Alone:    true,
		Variants: variants,
		Reached:  []expect.Event{toolSession, of(clientFinish, "first"), of(clientFinish, "last")},
		Checks: []harness.Check{
			{Name: "back-at-the-baseline", Guarantee: id, Noun: "sessions-open", Expect: shows(sessionsReturn{before: of(clientFinish, "first"), after: signal})},
			{Name: "none-at-the-end", Guarantee: id, Noun: "sessions-open", Expect: shows(expect.Says{What: nth(toolSession, -1), Text: " open=0"})},
		},
	}
}

// sessionsReturn expects no more sessions to be open at one event than at another.
type sessionsReturn struct{ before, after expect.Event }

// Judge fails as a state.
func (x sessionsReturn) Judge(h expect.History) expect.Judgement {
	ev := verdict.Evidence{Kind: verdict.State, Expected: x.String()}
	open := func(by expect.Event) (n int, ok bool) {
		limit, ok := h.Find(by)
		for _, e := range h.Events {
			if _, told, opened := strings.Cut(e.Detail, " open="); opened && toolSession.Fits(e) && e.Seq < limit.Seq {
				fmt.Sscan(told, &n)
				ev.At, ev.Because = e.At, []int{e.Seq}
			}
		}
		return n, ok
	}
	before, ok := open(x.before)
	after, both := open(x.after)
	ev.Found = fmt.Sprintf("%d before, %d after", before, after)
	switch {
	case !ok || !both:
		return expect.Judgement{Verdict: verdict.Inconclusive, Evidence: ev}
	case after > before:
		return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
	}
	return expect.Judgement{Verdict: verdict.Pass, Evidence: ev}
}

func (x sessionsReturn) String() string {
	return "the sessions open on MCP servers back at their baseline"
}
