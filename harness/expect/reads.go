package expect

import (
	"fmt"
	"strings"

	"github.com/stallwright/stallwright/harness/verdict"
)

// Reads expects the details of all events that fit What, joined, to be Text.
type Reads struct {
	What Event // Nth has no meaning here
	Text string
}

// Judge fails as a value at the event where the text departs.
func (x Reads) Judge(h History) Judgement {
	ev := verdict.Evidence{Kind: verdict.Value, Expected: x.String(), At: h.End}
	var b strings.Builder
	for _, e := range h.all(x.What) {
		b.WriteString(e.Detail)
		if len(ev.Because) < 20 {
			ev.Because = append(ev.Because, e.Seq)
		}
		ev.At = e.At
		if !strings.HasPrefix(x.Text, b.String()) {
			break
		}
	}
	ev.Found = fmt.Sprintf("%q", cut(b.String()))
	switch text := b.String(); {
	case text == x.Text:
	case strings.HasPrefix(x.Text, text):
		return absent(ev)
	default:
		return fail(ev)
	}
	return pass(ev)
}

// String is the expectation as a sentence.
func (x Reads) String() string { return fmt.Sprintf("%s reading %q", x.What, cut(x.Text)) }

// Says expects the chosen event's detail to hold Text.
type Says struct {
	What Event // without Detail
	Text string
}

// Judge fails as a value; it is inconclusive when there is no such event.
func (x Says) Judge(h History) Judgement {
	e, ok := h.Find(x.What)
	if !ok {
		return unreached(x.What, x.String())
	}
	ev := verdict.Evidence{Kind: verdict.Value, At: e.At, Because: []int{e.Seq}, Expected: x.String(), Found: fmt.Sprintf("%q", cut(e.Detail))}
	if !strings.Contains(e.Detail, x.Text) {
		return fail(ev)
	}
	return pass(ev)
}

// String is the expectation as a sentence.
func (x Says) String() string { return fmt.Sprintf("%s saying %q", x.What, cut(x.Text)) }
