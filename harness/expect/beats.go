package expect

import (
	"fmt"
	"time"

	"github.com/stallwright/stallwright/harness/verdict"
)

// Beats expects What every Every after the anchor, from the first interval until Until after it, and none between.
type Beats struct {
	What  Event // Nth has no meaning here
	After Event
	Every time.Duration
	Until time.Duration
}

// Judge fails as a deadline at a beat that is missing, and as early at one that is not due. A beat that is due
// within the slack of Until may be there or not.
func (x Beats) Judge(h History) Judgement {
	from, ok := h.anchor(x.After)
	if !ok {
		return unreached(x.After, x.String())
	}
	ev := verdict.Evidence{Kind: verdict.Deadline, ArmedBy: from.Seq, Limit: x.Every, Expected: x.String()}
	n := 0
	for _, e := range h.all(x.What) {
		since := e.At - from.At
		if !h.notBefore(e, from) || since > x.Until {
			continue
		}
		n++
		due := time.Duration(n) * x.Every
		ev.At, ev.Because, ev.Measured = e.At, []int{e.Seq}, since
		ev.Found = fmt.Sprintf("beat %d came after %s, due after %s", n, round(since), round(due))
		switch {
		case since < due-h.Slack:
			ev.Kind = verdict.Early
			return missed(ev, due-since)
		case since > due+h.Slack:
			ev.At = from.At + due
			return missed(ev, since-due)
		}
	}
	if due := time.Duration(n+1) * x.Every; due < x.Until-h.Slack {
		ev.At, ev.Found = from.At+due, fmt.Sprintf("%d came; beat %d was due after %s", n, n+1, round(due))
		return h.late(x.What, ev, from.At+x.Until)
	}
	ev.Found = fmt.Sprintf("%d came", n)
	return pass(ev)
}

// String is the expectation as a sentence.
func (x Beats) String() string {
	return fmt.Sprintf("%s every %s for %s after %s", x.What, round(x.Every), round(x.Until), x.After)
}
