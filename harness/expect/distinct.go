package expect

import (
	"fmt"

	"github.com/stallwright/stallwright/harness/verdict"
)

// Distinct expects the details of all events that fit What to differ from each other.
type Distinct struct {
	What Event // Nth has no meaning here
}

// Judge fails as a value at the first event that repeats another's detail. It is inconclusive with fewer than two.
func (x Distinct) Judge(h History) Judgement {
	all := h.all(x.What)
	if len(all) < 2 {
		ev := verdict.Evidence{Expected: x.String(), Found: fmt.Sprintf("the situation was not reached: %d of %s", len(all), x.What)}
		return Judgement{Verdict: verdict.Inconclusive, Evidence: ev}
	}
	ev := verdict.Evidence{Kind: verdict.Value, At: all[len(all)-1].At, Expected: x.String()}
	first := map[string]int{}
	for _, e := range all {
		if seq, again := first[e.Detail]; again {
			ev.At, ev.Because, ev.Found = e.At, []int{seq, e.Seq}, fmt.Sprintf("%q twice", cut(e.Detail))
			return fail(ev)
		}
		first[e.Detail] = e.Seq
	}
	ev.Found = fmt.Sprintf("%d, all different", len(all))
	return pass(ev)
}

func (x Distinct) String() string { return "every " + x.What.String() + " different" }
