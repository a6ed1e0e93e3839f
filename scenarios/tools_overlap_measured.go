package scenarios

import (
	"fmt"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// underWay measures how many are under way at most: what From begins, Until ends.
type underWay struct {
	what        string
	from, until expect.Event
}

// Judge fails as a value when it was more than one.
func (x underWay) Judge(h expect.History) expect.Judgement {
	under, most, total := 0, 0, 0
	var at timeline.Event
	for _, e := range h.Events {
		switch {
		case x.from.Fits(e):
			total++
			if under++; under > most {
				most, at = under, e
			}
		case x.until.Fits(e) && under > 0:
			under--
		}
	}
	if total < 2 {
		return missed(x, "two calls "+x.what)
	}
	return found(most == 1, at, x.String(), fmt.Sprintf("%d of %d at a time", most, total))
}

func (x underWay) String() string { return "one tool call " + x.what + " at a time" }

// toolsOverlapMeasured: how many calls of a run are under way together. Being info, more than one is a measurement and no failure.
func toolsOverlapMeasured() harness.Scenario {
	const guarantee = "tools.overlap-measured"
	names := []string{"search", "lookup", "book", "send"}
	return harness.Scenario{
		ID:    "tools/overlap-measured",
		Claim: "how many calls of one turn are announced, and how many execute, at the same time is measured",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "across-servers", Set: harness.Set{Tools: harness.HTTPTools + "+" + harness.HTTPTools}},
		},
		Play: func(t *harness.Trial) {
			t.Script(asks(t, callEach(t, names...)...)...)
			t.Tools(working(t, "lookup", "book"), working(t, "search", "send"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		},
		Checks: []harness.Check{
			{Name: "executing", Guarantee: guarantee, Noun: "executing-calls", Expect: shows(underWay{"executing", toolRequest, toolEffect})},
			{Name: "announced", Guarantee: guarantee, Noun: "announced-calls", Needs: []harness.Feature{harness.CustomEvents},
				Expect: shows(underWay{"announced", clientRequested, clientCompleted})},
		},
	}
}
