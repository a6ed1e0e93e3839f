package expect

import (
	"fmt"
	"strconv"

	"github.com/stallwright/stallwright/harness/verdict"
)

// Returns expects the last count that What recorded to be no more than the first: what a trial opened is closed.
type Returns struct {
	What Event // events whose detail is a number; Nth has no meaning here
}

// Judge fails as a state, at the last count.
func (x Returns) Judge(h History) Judgement {
	all := h.all(x.What)
	if len(all) < 2 {
		return unreached(x.What, x.String())
	}
	first, last := all[0], all[len(all)-1]
	ev := verdict.Evidence{Kind: verdict.State, At: last.At, ArmedBy: first.Seq, Because: []int{first.Seq, last.Seq}, Expected: x.String()}
	before, err1 := strconv.Atoi(first.Detail)
	after, err2 := strconv.Atoi(last.Detail)
	if err1 != nil || err2 != nil {
		ev.Found = fmt.Sprintf("no numbers: %q, %q", first.Detail, last.Detail)
		return Judgement{Verdict: verdict.Inconclusive, Evidence: ev}
	}
	ev.Found = fmt.Sprintf("%d before, %d after", before, after)
	if after > before {
		return fail(ev)
	}
	return pass(ev)
}

// String is the expectation as a sentence.
func (x Returns) String() string { return x.What.String() + " back at its baseline" }
