// Package reports makes the report of a run: a versioned summary of its results, and its JSON. The other formats,
// one a folder below this one, are drawn from the same value.
package reports

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/harness/verdict"
)

// SchemaVersion is the version of results.json. It rises when a reader of the old form would misread the new one.
const SchemaVersion = 1

// Run is how and on what the results were won.
type Run struct {
	ID      string // 8 hexadecimal digits
	Version string // of stallwright
	Server  string // "reference", a name of the configuration, or a URL
	Time    string // "virtual" or "real"
	Seed    uint64
	Started time.Time     // reported in UTC
	Wall    time.Duration // from the first case's start to the last one's end
	Jobs    int
	Args    []string // the patterns, and the flags that change what is tested
	Strict  bool     // a should counts as a must
	Stopped string   // why the run ended early: a signal's name, "max-failures", "target lost"; "" if it did not
	// Files has, by scenario, the case file that it was read from.
	Files map[string]string
}

// Tool names what wrote the report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Report is what a run says of a server. Make one with New; it is not changed after.
type Report struct {
	SchemaVersion int
	Tool          Tool
	Run           Run
	Summary       Summary
	Guarantees    []Guarantee      // in the catalogue's order
	Results       []verdict.Result // by case, then attempt
}

// Summary counts. A check that is played several times counts each time, and a case that ended before any of its
// checks was judged counts as one check.
type Summary struct {
	Cases          int                    `json:"cases"` // distinct, the canary's aside
	Trials         int                    `json:"trials"`
	Checks         int                    `json:"checks"`
	Verdicts       Verdicts               `json:"verdicts"`
	Skipped        map[verdict.Reason]int `json:"skipped"` // checks by reason; reasons that did not occur are absent
	VirtualSeconds float64                `json:"virtualSeconds"`
	WallSeconds    float64                `json:"wallSeconds"`
	Guarantees     GuaranteeCounts        `json:"guarantees"`
}

// Verdicts counts checks by verdict.
type Verdicts struct {
	Pass         int `json:"pass"`
	Fail         int `json:"fail"`
	Inconclusive int `json:"inconclusive"`
	Skip         int `json:"skip"`
	Error        int `json:"error"`
}

// GuaranteeCounts counts guarantees by status: those of every level, and those of must and should apart.
type GuaranteeCounts struct {
	Statuses
	Must   Statuses `json:"must"`
	Should Statuses `json:"should"`
}

// Statuses counts guarantees by status.
type Statuses struct {
	Holds       int `json:"holds"`
	Violated    int `json:"violated"`
	NotShown    int `json:"notShown"`
	NotClaimed  int `json:"notClaimed"`
	NoScenario  int `json:"noScenario"`
	NotSelected int `json:"notSelected"`
}

// Status is what a run says of a guarantee.
type Status string

// The statuses. A guarantee that no scenario covers, and one whose scenarios were not selected, are told apart
// from one that was tried and not shown.
const (
	Holds       Status = "holds"
	Violated    Status = "violated"
	NotShown    Status = "not-shown"
	NotClaimed  Status = "not-claimed"
	NoScenario  Status = "no-scenario"
	NotSelected Status = "not-selected"
)

// Guarantee is the roll-up of a guarantee's checks. The numbers count checks, each playing of one for itself.
type Guarantee struct {
	verdict.Guarantee
	Status       Status   `json:"status"`
	Passed       int      `json:"passed"`
	Failed       int      `json:"failed"`
	Inconclusive int      `json:"inconclusive"`
	Skipped      int      `json:"skipped"`
	Errors       int      `json:"errors"`
	Cases        []string `json:"cases"` // those in which a check of it failed, sorted

	aside     int // skipped as not claimed or unavailable, which does not stand in the way of holding
	unclaimed int // skipped as not claimed
}

// New makes the report of a run. Covered names the guarantees that have a scenario at all, whether or not it was
// selected. A finding for a guarantee that the catalogue lacks counts as one of a must, so that a mistake in a
// catalogue hides nothing.
func New(run Run, catalogue []verdict.Guarantee, covered map[string]bool, results []verdict.Result) Report {
	r := Report{
		SchemaVersion: SchemaVersion,
		Tool:          Tool{Name: "stallwright", Version: run.Version},
		Run:           run,
		Results:       slices.Clone(results),
	}
	r.Run.Started = run.Started.UTC()
	slices.SortStableFunc(r.Results, func(a, b verdict.Result) int {
		return cmp.Or(strings.Compare(a.Case, b.Case), cmp.Compare(a.Attempt, b.Attempt))
	})
	at := map[string]int{}
	for _, g := range catalogue {
		g.Why = "" // explain tells it
		at[g.ID] = len(r.Guarantees)
		r.Guarantees = append(r.Guarantees, Guarantee{Guarantee: g, Cases: []string{}})
	}
	s := Summary{WallSeconds: run.Wall.Seconds(), Skipped: map[verdict.Reason]int{}}
	cases := map[string]bool{}
	for _, res := range r.Results {
		if !strings.HasPrefix(res.Case, canary) {
			cases[res.Case] = true
			s.Trials++
		}
		s.VirtualSeconds += res.Virtual.Seconds()
		for _, f := range Judgements(res) {
			s.count(f)
			if f.Guarantee == "" {
				continue
			}
			i, ok := at[f.Guarantee]
			if !ok {
				i = len(r.Guarantees)
				at[f.Guarantee] = i
				g := verdict.Guarantee{ID: f.Guarantee, Level: verdict.Must}
				r.Guarantees = append(r.Guarantees, Guarantee{Guarantee: g, Cases: []string{}})
			}
			r.Guarantees[i].count(res.Case, f)
		}
	}
	s.Cases = len(cases)
	for i := range r.Guarantees {
		g := &r.Guarantees[i]
		g.Status = g.status(covered[g.ID])
		s.Guarantees.add(g.Status)
		switch g.Level {
		case verdict.Must:
			s.Guarantees.Must.add(g.Status)
		case verdict.Should:
			s.Guarantees.Should.add(g.Status)
		}
	}
	r.Summary = s
	return r
}

// canary begins the IDs of the plain request that goes with every run: it is no part of what was selected.
const canary = "canary/"

// Judgements are the findings of a result, and one more for the case itself when nothing else tells its verdict:
// it has no findings, or it failed, broke or was inconclusive and none of its findings did. That one has the case's
// ID for a check and no guarantee. A case that claims to have passed without a finding is inconclusive: nothing was
// shown.
func Judgements(r verdict.Result) []verdict.Finding {
	fs := slices.Clone(r.Findings)
	for i := range fs {
		if fs[i].Verdict == verdict.Skip {
			fs[i].Reason = cmp.Or(fs[i].Reason, r.Reason)
		}
	}
	if len(fs) > 0 {
		told := slices.ContainsFunc(fs, func(f verdict.Finding) bool { return f.Verdict == r.Verdict })
		if told || r.Verdict == verdict.Pass || r.Verdict == verdict.Skip {
			return fs
		}
	}
	own := verdict.Finding{Check: r.Case, Verdict: r.Verdict, Reason: r.Reason, Promised: r.Claim, Observed: r.Why}
	if own.Verdict == verdict.Pass {
		own.Verdict, own.Observed = verdict.Inconclusive, cmp.Or(r.Why, "no check was judged")
	}
	return append(fs, own)
}

func (s *Summary) count(f verdict.Finding) {
	s.Checks++
	switch f.Verdict {
	case verdict.Pass:
		s.Verdicts.Pass++
	case verdict.Fail:
		s.Verdicts.Fail++
	case verdict.Inconclusive:
		s.Verdicts.Inconclusive++
	case verdict.Skip:
		s.Verdicts.Skip++
		s.Skipped[f.Reason]++
	case verdict.Error:
		s.Verdicts.Error++
	}
}

func (g *Guarantee) count(id string, f verdict.Finding) {
	switch f.Verdict {
	case verdict.Pass:
		g.Passed++
	case verdict.Fail:
		g.Failed++
		// Results come sorted by case.
		if n := len(g.Cases); n == 0 || g.Cases[n-1] != id {
			g.Cases = append(g.Cases, id)
		}
	case verdict.Inconclusive:
		g.Inconclusive++
	case verdict.Skip:
		g.Skipped++
		switch f.Reason {
		case verdict.NotClaimed:
			g.unclaimed++
			g.aside++
		case verdict.Unavailable:
			g.aside++
		}
	case verdict.Error:
		g.Errors++
	}
}

// A check that was blocked or filtered away keeps a guarantee from holding: else leaving out the one check that
// fails would make it hold.
func (g *Guarantee) status(covered bool) Status {
	switch {
	case g.Failed > 0:
		return Violated
	case g.Inconclusive > 0 || g.Errors > 0:
		return NotShown
	case g.Passed > 0 && g.Skipped == g.aside:
		return Holds
	case g.Passed > 0:
		return NotShown
	case g.Skipped > 0 && g.Skipped == g.unclaimed:
		return NotClaimed
	case g.Skipped > 0:
		return NotShown
	case covered:
		return NotSelected
	default:
		return NoScenario
	}
}

func (s *Statuses) add(status Status) {
	switch status {
	case Holds:
		s.Holds++
	case Violated:
		s.Violated++
	case NotShown:
		s.NotShown++
	case NotClaimed:
		s.NotClaimed++
	case NoScenario:
		s.NoScenario++
	case NotSelected:
		s.NotSelected++
	}
}

// Level is the level of a guarantee. What is not in the report, such as the "" of a case's own judgement, is a must.
func (r Report) Level(guarantee string) verdict.Level {
	for _, g := range r.Guarantees {
		if g.ID == guarantee {
			return g.Level
		}
	}
	return verdict.Must
}

// Binding reports whether a failure at a level fails the run: a must does, and a should of a strict run.
func (r Report) Binding(level verdict.Level) bool {
	return level == verdict.Must || level == verdict.Should && r.Run.Strict
}

// Violated reports whether a failure that fails the run was proven.
func (r Report) Violated() bool {
	return r.any(verdict.Fail, r.Binding)
}

// Inconclusive reports whether a check of a must or a should gave no verdict.
func (r Report) Inconclusive() bool {
	return r.any(verdict.Inconclusive, func(l verdict.Level) bool { return l != verdict.Info })
}

// Broke reports whether stallwright itself misbehaved in some case.
func (r Report) Broke() bool {
	return r.any(verdict.Error, func(verdict.Level) bool { return true })
}

func (r Report) any(v verdict.Verdict, counts func(verdict.Level) bool) bool {
	for _, res := range r.Results {
		for _, f := range Judgements(res) {
			if f.Verdict == v && counts(r.Level(f.Guarantee)) {
				return true
			}
		}
	}
	return false
}

// Again is the command that plays the case of a result once more as it was played in this run. It holds no
// character that a shell would read otherwise.
func (r Run) Again(res verdict.Result) string {
	verb, what := "run", res.Case
	var on []string
	scenario, dialect, _ := strings.Cut(res.Case, "@")
	if file, ok := r.Files[scenario]; ok { // the form of its case is a dialect
		verb, what = "repro", file
		if dialect != "" && !strings.Contains(r.Server, "://") { // what a server that runs already speaks is told for all cases
			on = []string{"--dialect", dialect}
		}
	}
	words := append([]string{"stallwright", verb, what}, on...)
	words = append(words, "--seed", strconv.FormatUint(res.Seed, 10))
	switch {
	case strings.Contains(r.Server, "://"):
		words = append(words, "--url", r.Server)
	case r.Server != "" && r.Server != "reference":
		words = append(words, "--server", r.Server)
	case r.Time == "real": // the reference is played in virtual time unless told otherwise
		words = append(words, "--time", "real")
	}
	for i, w := range words {
		words[i] = quote(w)
	}
	return strings.Join(words, " ")
}

// quote puts a word in single quotes if a shell would not take it as it is.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+,=", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
