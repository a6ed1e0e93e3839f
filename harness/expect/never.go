package expect

import (
	"fmt"
	"strings"

	"github.com/stallwright/stallwright/harness/verdict"
)

// Never expects no What after the anchor and, when Before is set, before that event. Events of the same instant in
// other lanes have no order, and are not held against the server.
type Never struct {
	What   Event
	After  Event
	Before Event
}

// Judge fails as forbidden at the first What.
func (x Never) Judge(h History) Judgement {
	from, ok := h.anchor(x.After)
	if !ok {
		return unreached(x.After, x.String())
	}
	until, bounded := h.Find(x.Before)
	if !x.Before.zero() && !bounded {
		return unreached(x.Before, x.String())
	}
	ev := verdict.Evidence{Kind: verdict.Forbidden, ArmedBy: from.Seq, Expected: x.String(), Found: "none"}
	for _, e := range h.all(x.What) {
		if !x.After.zero() && !h.surelyAfter(e, from) {
			continue
		}
		if !x.Before.zero() && !h.surelyAfter(until, e) {
			continue
		}
		ev.At, ev.Because, ev.Measured = e.At, []int{e.Seq}, e.At-from.At
		ev.Found = fmt.Sprintf("%s at +%.3f", Event{Lane: e.Lane, Ref: e.Ref, Kind: e.Kind, Detail: cut(e.Detail)}, e.At.Seconds())
		return fail(ev)
	}
	ev.At = h.End
	return pass(ev)
}

// String is the expectation as a sentence.
func (x Never) String() string {
	s := "no " + x.What.String()
	if !x.After.zero() {
		s += " after " + x.After.String()
	}
	if !x.Before.zero() {
		s += " before " + x.Before.String()
	}
	return s
}

// cut bounds a detail inside a sentence.
func cut(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}
