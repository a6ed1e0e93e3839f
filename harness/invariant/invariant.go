// Package invariant holds the checks that every trial must pass, whatever its scenario.
package invariant

import (
	"fmt"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// Invariant judges any finished timeline. Its verdict is skip when the trial gave it nothing to judge.
type Invariant struct {
	Name      string
	Guarantee string
	Noun      string
	Judge     func(expect.History) expect.Judgement
}

// All lists the invariants.
func All() []Invariant {
	return []Invariant{
		{Name: "one-terminal-frame", Guarantee: "run.one-ending", Noun: "terminal-frame", Judge: oneEnding},
		{Name: "nothing-after-done", Guarantee: "run.nothing-after-ending", Noun: "frame-after-done", Judge: nothingAfterDone},
	}
}

// terminal says whether e is a frame that ends a run: the finish chunk or the error frame.
func terminal(e timeline.Event) bool {
	return e.Lane == caller.Lane && (e.Kind == "finish" || e.Kind == "error")
}

// oneEnding: a request is ended by at most one terminal frame and one [DONE].
func oneEnding(h expect.History) expect.Judgement {
	seen := map[string]timeline.Event{}
	var last timeline.Event
	for _, e := range h.Events {
		if !terminal(e) && !(e.Lane == caller.Lane && e.Kind == "done") {
			continue
		}
		key := e.Ref + " " + map[bool]string{true: "terminal frame", false: "[DONE]"}[terminal(e)]
		if first, twice := seen[key]; twice {
			return expect.Judgement{Verdict: verdict.Fail, Evidence: verdict.Evidence{
				Kind: verdict.Count, At: e.At, ArmedBy: first.Seq, Because: []int{first.Seq, e.Seq},
				Expected: "one terminal frame and one [DONE] for a request", Found: fmt.Sprintf("a second %s", key),
			}}
		}
		seen[key], last = e, e
	}
	if len(seen) == 0 {
		return expect.Judgement{Verdict: verdict.Skip}
	}
	return expect.Judgement{Verdict: verdict.Pass, Evidence: verdict.Evidence{Kind: verdict.Count, At: last.At, Expected: "one terminal frame and one [DONE] for a request", Found: "one"}}
}

// nothingAfterDone: after [DONE] the client sees nothing but the end of the answer.
func nothingAfterDone(h expect.History) expect.Judgement {
	done := map[string]timeline.Event{}
	for _, e := range h.Events {
		if e.Lane != caller.Lane {
			continue
		}
		d, after := done[e.Ref]
		switch {
		case e.Kind == "done" && !after:
			done[e.Ref] = e
		case after && e.Kind != "end" && e.Kind != "left" && e.Kind != "done":
			return expect.Judgement{Verdict: verdict.Fail, Evidence: verdict.Evidence{
				Kind: verdict.Forbidden, At: e.At, ArmedBy: d.Seq, Because: []int{e.Seq},
				Expected: "nothing after [DONE] but the end of the answer", Found: e.Kind + " after it",
			}}
		}
	}
	if len(done) == 0 {
		return expect.Judgement{Verdict: verdict.Skip}
	}
	return expect.Judgement{Verdict: verdict.Pass, Evidence: verdict.Evidence{Kind: verdict.Forbidden, At: h.End, Expected: "nothing after [DONE] but the end of the answer", Found: "nothing"}}
}
