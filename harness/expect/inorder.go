package expect

import (
	"strings"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/verdict"
)

// InOrder expects these events one after another. Two of one instant in different lanes are never out of order.
type InOrder []Event

// Judge fails as an order at the first event that is missing or came before its predecessor.
func (x InOrder) Judge(h History) Judgement {
	ev := verdict.Evidence{Kind: verdict.Order, Expected: x.String()}
	var last timeline.Event
	for i, s := range x {
		e, ok := h.Find(s)
		if !ok {
			ev.At, ev.Found = h.End, "no "+s.String()
			return absent(ev)
		}
		ev.At, ev.Because = e.At, append(ev.Because, e.Seq)
		if i > 0 && h.surelyAfter(last, e) {
			ev.Found = s.String() + " came before " + x[i-1].String()
			return fail(ev)
		}
		last = e
	}
	ev.Found = "in order"
	return pass(ev)
}

// String is the expectation as a sentence.
func (x InOrder) String() string {
	words := make([]string, len(x))
	for i, s := range x {
		words[i] = s.String()
	}
	return strings.Join(words, ", then ")
}
