// Package expect says what a finished timeline must show. An expectation is a value: it judges a history, explains
// itself in a sentence, and is a Gomega matcher for tests.
package expect

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/verdict"
)

// History is what one trial left to be judged.
type History struct {
	Events []timeline.Event
	End    time.Duration // when recording stopped
	Slack  time.Duration // what an instant may be off, 0 in virtual time
}

// Judgement is what an expectation says of a history.
type Judgement struct {
	Verdict  verdict.Verdict // pass, fail, or inconclusive when the situation was not reached
	Evidence verdict.Evidence
	// Absent: it fails for something that is not there, and which an earlier thing that is not there may have kept away.
	Absent bool
	// Missed is by how much a deadline that fails was missed, at the least; [Forever] when what is late cannot come any more.
	Missed time.Duration
	// Open is the instant at which a window that was still open when recording stopped is over, 0 when there is none.
	Open time.Duration
}

// Forever is longer than any trial.
const Forever = time.Duration(math.MaxInt64)

// Expectation judges a history, and names itself in a sentence.
type Expectation interface {
	Judge(History) Judgement
	String() string
}

// Event chooses events of a timeline; a zero field fits all.
type Event struct {
	Lane   string
	Ref    string
	Kind   string
	Detail string // the detail holds this text
	Nth    int    // which of those that fit, from 1; -1 is the last; 0 is the first
}

// Fits says whether e is one of the chosen, Nth aside.
func (s Event) Fits(e timeline.Event) bool {
	return (s.Lane == "" || s.Lane == e.Lane) && (s.Ref == "" || s.Ref == e.Ref) && (s.Kind == "" || s.Kind == e.Kind) &&
		(s.Detail == "" || strings.Contains(e.Detail, s.Detail))
}

// Chosen counts through a timeline and says of each event in turn whether it is the chosen one: the Nth that fits.
// It is for waiting; Nth -1 is treated as the first.
func (s Event) Chosen() func(timeline.Event) bool {
	seen := 0
	return func(e timeline.Event) bool {
		if !s.Fits(e) {
			return false
		}
		seen++
		return seen == max(s.Nth, 1)
	}
}

func (s Event) zero() bool { return s == Event{} }

// String is the event in words: `client text "one" #2`.
func (s Event) String() string {
	words := make([]string, 0, 4)
	for _, w := range []string{s.Lane, s.Ref, s.Kind} {
		if w != "" {
			words = append(words, w)
		}
	}
	if s.Detail != "" {
		words = append(words, strconv.Quote(s.Detail))
	}
	switch {
	case s.Nth > 1:
		words = append(words, fmt.Sprintf("no. %d", s.Nth))
	case s.Nth == -1:
		words = append(words, "(the last)")
	}
	if len(words) == 0 {
		return "the start"
	}
	return strings.Join(words, " ")
}

// all lists what fits in the order of recording, Nth aside.
func (h History) all(s Event) []timeline.Event {
	var out []timeline.Event
	for _, e := range h.Events {
		if s.Fits(e) {
			out = append(out, e)
		}
	}
	return out
}

// Find returns the chosen event.
func (h History) Find(s Event) (timeline.Event, bool) {
	fit := h.all(s)
	switch n := s.Nth; {
	case len(fit) == 0, n > len(fit):
		return timeline.Event{}, false
	case n == -1:
		return fit[len(fit)-1], true
	default:
		return fit[max(n, 1)-1], true
	}
}

// anchor finds the event that a window is counted from; the zero Event is the start of the trial.
func (h History) anchor(s Event) (timeline.Event, bool) {
	if s.zero() {
		return timeline.Event{}, true
	}
	return h.Find(s)
}

// notBefore says whether e may have followed from. Events of one lane are ordered by recording, and events of two
// lanes by their instants alone, give or take the slack.
func (h History) notBefore(e, from timeline.Event) bool {
	if e.Lane == from.Lane {
		return e.Seq > from.Seq
	}
	return e.At >= from.At-h.Slack
}

// over says whether no more of s can come, however long one waits: it is an event of the client, and every request that
// it may be about has ended, was refused or was left. A history is kept when nothing more is asked for.
func (h History) over(s Event) bool {
	if s.Lane != caller.Lane {
		return false
	}
	over := map[string]bool{}
	for _, e := range h.Events {
		if e.Lane == caller.Lane && (s.Ref == "" || s.Ref == e.Ref) {
			over[e.Ref] = over[e.Ref] || e.Kind == "end" || e.Kind == "left" || e.Kind == "refused"
		}
	}
	for _, o := range over {
		if !o {
			return false
		}
	}
	return len(over) > 0
}

// surelyAfter says whether e followed from beyond doubt.
func (h History) surelyAfter(e, from timeline.Event) bool {
	if e.Lane == from.Lane {
		return e.Seq > from.Seq
	}
	return e.At > from.At+h.Slack
}

func pass(e verdict.Evidence) Judgement { return Judgement{Verdict: verdict.Pass, Evidence: e} }
func fail(e verdict.Evidence) Judgement { return Judgement{Verdict: verdict.Fail, Evidence: e} }

// absent is the failure for something that is not there.
func absent(e verdict.Evidence) Judgement {
	return Judgement{Verdict: verdict.Fail, Evidence: e, Absent: true}
}

// missed is the failure of an instant that was off by this much.
func missed(e verdict.Evidence, by time.Duration) Judgement {
	return Judgement{Verdict: verdict.Fail, Evidence: e, Missed: by}
}

// late judges something that is not there, and whose window is over at an instant of which the evidence has the
// limit: open says until when the window may decide.
func (h History) late(what Event, ev verdict.Evidence, open time.Duration) Judgement {
	j := absent(ev)
	switch {
	case h.over(what):
		j.Missed = Forever
		j.Evidence.At = min(ev.At, h.End)
	case h.End < ev.At+h.Slack:
		j = Judgement{Verdict: verdict.Inconclusive, Evidence: ev, Open: open + h.Slack}
	default:
		j.Missed = h.End - ev.At
	}
	return j
}

// unreached is the judgement when the event that a window hangs on is not there.
func unreached(s Event, expected string) Judgement {
	return Judgement{Verdict: verdict.Inconclusive, Evidence: verdict.Evidence{Expected: expected, Found: "the situation was not reached: no " + s.String()}}
}

// round makes a duration readable without hiding what decided.
func round(d time.Duration) string {
	if d.Abs() >= time.Millisecond {
		return d.Round(10 * time.Microsecond).String()
	}
	return d.String()
}
