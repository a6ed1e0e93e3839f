// Package verdict holds what is said of a server: guarantees, findings and results, as plain values.
package verdict

import (
	"strings"
	"time"
)

// Verdict is what happened to a check or a case.
type Verdict string

// The verdicts. Inconclusive: it ran, but the situation was not reached. Error: stallwright itself misbehaved.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
	Skip         Verdict = "skip"
	Error        Verdict = "error"
)

// Reason says why a check was skipped.
type Reason string

// The reasons of a skip.
const (
	NotClaimed  Reason = "not-claimed" // the server does not declare the feature
	Unavailable Reason = "unavailable" // it cannot be shown on this stage
	Blocked     Reason = "blocked"     // a failed check took its precondition away
	Filtered    Reason = "filtered"    // left out on the command line
)

// Level is how binding a guarantee is.
type Level string

// The levels. Info only measures and never fails a run.
const (
	Must   Level = "must"
	Should Level = "should"
	Info   Level = "info"
)

// Source is where a guarantee comes from.
type Source string

// The sources: the request lifecycle text, a protocol's specification, or reports from the field.
const (
	Seed     Source = "seed"
	Protocol Source = "protocol"
	Field    Source = "field"
)

// Guarantee is a promise of an agent server.
type Guarantee struct {
	ID        string `json:"id"` // area.name
	Level     Level  `json:"level"`
	Source    Source `json:"source"`
	Statement string `json:"statement"`
	// Why, Causes and Evidence are what `explain` prints besides.
	Why string `json:"why,omitempty"`
}

// Area is the part of the ID before the dot.
func (g Guarantee) Area() string {
	area, _, _ := strings.Cut(g.ID, ".")
	return area
}

// Result is one case played once.
type Result struct {
	Case     string        `json:"case"` // SCENARIO[@variant]
	Claim    string        `json:"claim"`
	Verdict  Verdict       `json:"verdict"`
	Reason   Reason        `json:"reason,omitempty"` // of a skip
	Why      string        `json:"why,omitempty"`    // of a skip, an error, an inconclusive: one sentence
	Findings []Finding     `json:"findings"`
	Events   int           `json:"events"`
	Attempt  int           `json:"attempt"` // 1 for the first playing, counted by --repeat
	Seed     uint64        `json:"seed"`
	Virtual  time.Duration `json:"virtual"` // ns of virtual time, 0 in real time
	Wall     time.Duration `json:"wall"`    // ns
}

// Finding is the judgement of one check.
type Finding struct {
	Check     string   `json:"check"` // CASE::name
	Guarantee string   `json:"guarantee"`
	Verdict   Verdict  `json:"verdict"`
	Reason    Reason   `json:"reason,omitempty"`
	Signature string   `json:"signature,omitempty"` // the way of failing: KIND/noun
	Promised  string   `json:"promised"`            // the claim; Evidence.Expected says what that means here
	Observed  string   `json:"observed"`
	Evidence  Evidence `json:"evidence,omitzero"`
	Excerpt   []Moment `json:"excerpt,omitempty"` // the timeline around the moment, of what did not pass
}

// Kind says what shape the evidence of a check has, and is the first half of a signature.
type Kind string

// The kinds of evidence.
const (
	Deadline  Kind = "deadline"  // did not happen in time
	Early     Kind = "early"     // happened before it might
	Forbidden Kind = "forbidden" // happened and must not
	Order     Kind = "order"     // happened in the wrong order
	Count     Kind = "count"     // happened too often or not often enough
	Value     Kind = "value"     // carried something else
	State     Kind = "state"     // was left over at the end
	Crash     Kind = "crash"     // the server ended
	Hang      Kind = "hang"      // the server, or the trial on it, stopped moving
)

// Evidence is why a check was judged so; numbers are those of the trial's timeline, instants are since its start.
type Evidence struct {
	Kind     Kind          `json:"kind"`
	At       time.Duration `json:"at"`                // ns: the deciding moment
	ArmedBy  int           `json:"armedBy,omitempty"` // the event that a window is counted from
	Because  []int         `json:"because,omitempty"` // the events that decided
	Limit    time.Duration `json:"limit,omitempty"`   // ns
	Measured time.Duration `json:"measured,omitempty"`
	Expected string        `json:"expected,omitempty"`
	Found    string        `json:"found,omitempty"`
	Drawing  []string      `json:"drawing,omitempty"` // lines of what was found, for eyes: Found is a sentence
}

// Moment is one line of a timeline as a report shows it.
type Moment struct {
	At     time.Duration `json:"at"`
	Lane   string        `json:"lane"`
	Ref    string        `json:"ref,omitempty"`
	Kind   string        `json:"kind"`
	Detail string        `json:"detail,omitempty"`
	Here   bool          `json:"here,omitempty"` // the deciding moment
}

// Worst is the verdict of a case from those of its checks: fail, then error, then inconclusive; pass when at least
// one passed and the rest passed or were skipped; skip when all were.
func Worst(fs []Finding) Verdict {
	seen := map[Verdict]bool{}
	for _, f := range fs {
		seen[f.Verdict] = true
	}
	for _, v := range []Verdict{Fail, Error, Inconclusive, Pass} {
		if seen[v] {
			return v
		}
	}
	return Skip
}

// Scenario is the part of a case or check ID that names the scenario.
func Scenario(id string) string {
	id, _, _ = strings.Cut(id, "::")
	id, _, _ = strings.Cut(id, "@")
	return id
}
