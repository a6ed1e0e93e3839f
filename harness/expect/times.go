package expect

import (
	"fmt"

	"github.com/stallwright/stallwright/harness/verdict"
)

// Times expects What at least Min and at most Max times in the whole trial, or after the anchor.
type Times struct {
	What  Event // Nth has no meaning here
	After Event
	Min   int
	Max   int
}

// Judge fails as a count, at the first event too many or at the end.
func (x Times) Judge(h History) Judgement {
	from, ok := h.anchor(x.After)
	if !ok {
		return unreached(x.After, x.String())
	}
	ev := verdict.Evidence{Kind: verdict.Count, Expected: x.String(), At: h.End}
	n := 0
	for _, e := range h.all(x.What) {
		if !x.After.zero() && !h.notBefore(e, from) {
			continue
		}
		n++
		ev.Because = append(ev.Because, e.Seq)
		if n == x.Max+1 {
			ev.At = e.At
		}
	}
	if len(ev.Because) > 20 {
		ev.Because = ev.Because[:20]
	}
	ev.Found = fmt.Sprintf("%d", n)
	switch {
	case n < x.Min:
		return absent(ev)
	case n > x.Max:
		return fail(ev)
	}
	return pass(ev)
}

// String is the expectation as a sentence.
func (x Times) String() string {
	what := x.What.String()
	if !x.After.zero() {
		what += " after " + x.After.String()
	}
	if x.Min == x.Max {
		return fmt.Sprintf("exactly %d of %s", x.Min, what)
	}
	return fmt.Sprintf("%d to %d of %s", x.Min, x.Max, what)
}
