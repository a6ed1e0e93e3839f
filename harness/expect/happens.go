package expect

import (
	"fmt"
	"time"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/verdict"
)

// Happens expects What between From and To after the anchor, slack on both sides. With From equal to To it is an
// instant, exact in virtual time. Without Nth, What is the first that follows the anchor.
type Happens struct {
	What  Event
	After Event // the zero Event is the start of the trial
	From  time.Duration
	To    time.Duration
}

// Judge fails as a deadline when What is late or missing, and as early when it came before its window.
func (x Happens) Judge(h History) Judgement {
	from, ok := h.anchor(x.After)
	if !ok {
		return unreached(x.After, x.String())
	}
	ev := verdict.Evidence{Kind: verdict.Deadline, ArmedBy: from.Seq, Limit: x.To, Expected: x.String()}
	if e, ok := x.find(h, from); ok {
		ev.At, ev.Measured, ev.Because = e.At, e.At-from.At, []int{e.Seq}
		ev.Found = fmt.Sprintf("it came after %s", round(ev.Measured))
		switch {
		case ev.Measured < x.From-h.Slack:
			ev.Kind = verdict.Early
			return missed(ev, x.From-ev.Measured)
		case ev.Measured > x.To+h.Slack:
			ev.At = from.At + x.To
			return missed(ev, ev.Measured-x.To)
		}
		return pass(ev)
	}
	ev.At, ev.Found = from.At+x.To, "it never came"
	j := h.late(x.What, ev, ev.At)
	switch {
	case j.Verdict == verdict.Inconclusive:
		j.Evidence.Found = fmt.Sprintf("the trial ended %s after it, before the window did", round(h.End-from.At))
	case j.Missed == Forever:
		j.Evidence.Found = "it never came, and the request was over"
	}
	return j
}

// find picks the event: the one that Nth says, in the whole trial, or else the first that follows the anchor.
func (x Happens) find(h History, from timeline.Event) (timeline.Event, bool) {
	if x.What.Nth != 0 {
		return h.Find(x.What)
	}
	for _, e := range h.all(x.What) {
		if e.Seq != from.Seq && h.notBefore(e, from) {
			return e, true
		}
	}
	return timeline.Event{}, false
}

// String is the expectation as a sentence.
func (x Happens) String() string {
	after := ""
	if !x.After.zero() {
		after = " after " + x.After.String()
	}
	switch {
	case x.To == 0:
		if after == "" {
			after = " at the start"
		}
		return fmt.Sprintf("%s at once%s", x.What, after)
	case x.From == x.To:
		return fmt.Sprintf("%s %s%s", x.What, round(x.To), after)
	case x.From == 0:
		return fmt.Sprintf("%s within %s%s", x.What, round(x.To), after)
	}
	return fmt.Sprintf("%s %s to %s%s", x.What, round(x.From), round(x.To), after)
}
