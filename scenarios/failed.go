package scenarios

import (
	"strings"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// failsVisibly expects that a client can tell that its request failed: by a status other than 2xx, an error object, a
// finish reason of error, or an answer that is cut. How a server words it is its own choice.
type failsVisibly struct{}

// Judge fails as a value when the answer looks complete, or tells nothing at all.
func (x failsVisibly) Judge(h expect.History) expect.Judgement {
	ev := verdict.Evidence{Kind: verdict.Value, At: h.End, Expected: x.String(), Found: "the answer did not end"}
	for _, e := range h.Events {
		if e.Lane != caller.Lane {
			continue
		}
		failed := e.Kind == "error" || e.Kind == "refused" ||
			e.Kind == "status" && !strings.HasPrefix(e.Detail, "2") ||
			e.Kind == "finish" && e.Detail == "error" ||
			e.Kind == "end" && e.Detail != "complete"
		switch {
		case failed:
			ev.At, ev.Because, ev.Found = e.At, []int{e.Seq}, e.Kind+" "+e.Detail
			return expect.Judgement{Verdict: verdict.Pass, Evidence: ev}
		case e.Kind == "end":
			ev.At, ev.Because, ev.Found = e.At, []int{e.Seq}, "it looks like a success"
		}
	}
	return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
}

func (failsVisibly) String() string { return "an answer that looks failed to its client" }

// shows makes a check's Expect of an expectation that does not depend on the stage.
func shows(x expect.Expectation) func(at harness.At) expect.Expectation {
	return func(harness.At) expect.Expectation { return x }
}
