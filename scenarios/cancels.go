package scenarios

import (
	"fmt"
	"time"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// cancelsEach expects the server of each tool call in flight at an instant to be told once, then, that it is not wanted any more.
type cancelsEach struct {
	over     expect.Event
	from, to time.Duration // after it
	hangsUp  bool          // by the end of the response's stream, and by nothing else
}

// Judge fails as a count when a call is told so never or again, and as a deadline when it is at another time.
func (x cancelsEach) Judge(h expect.History) expect.Judgement {
	ev := verdict.Evidence{Kind: verdict.Count, Expected: x.String(), Limit: x.to}
	over, ok := h.Find(x.over)
	if !ok {
		ev.Found = "the situation was not reached: no " + x.over.String()
		return expect.Judgement{Verdict: verdict.Inconclusive, Evidence: ev}
	}
	calls := 0
	ev.At, ev.ArmedBy = over.At+x.to, over.Seq
	for _, call := range h.Events {
		if !toolRequest.Fits(call) || call.At > over.At+x.from || answered(h, call.Ref, over.At+x.from) {
			continue
		}
		calls++
		told := x.told(h, call.Ref)
		if len(told) != 1 {
			ev.Found = fmt.Sprintf("%s was cancelled %d times", call.Ref, len(told))
			return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
		}
		ev.At, ev.Because, ev.Measured = told[0].At, append(ev.Because, told[0].Seq), told[0].At-over.At
		if ev.Measured < x.from-h.Slack || ev.Measured > x.to+h.Slack {
			ev.Kind, ev.Found = verdict.Deadline, fmt.Sprintf("%s was cancelled after %s", call.Ref, ev.Measured)
			return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
		}
	}
	ev.Found = fmt.Sprintf("each of %d was", calls)
	if calls == 0 {
		return expect.Judgement{Verdict: verdict.Inconclusive, Evidence: ev}
	}
	return expect.Judgement{Verdict: verdict.Pass, Evidence: ev}
}

// told are the events that cancel a call.
func (x cancelsEach) told(h expect.History, ref string) []timeline.Event {
	var out []timeline.Event
	for _, e := range h.Events {
		if of(toolCancelled, ref).Fits(e) || x.hangsUp && of(toolLeft, ref).Fits(e) {
			out = append(out, e)
		}
	}
	return out
}

func answered(h expect.History, ref string, by time.Duration) bool {
	result, ok := h.Find(of(toolResult, ref))
	return ok && result.At < by
}

func (x cancelsEach) String() string {
	return fmt.Sprintf("each tool call in flight cancelled once, %s after %s", x.to, x.over)
}
