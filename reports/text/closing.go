package text

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports"
)

// Closing is what the closing lines say beyond the report.
type Closing struct {
	Profile    string   // "" is core
	ReportOnly bool     // failures do not fail the run (--fail-on never)
	Written    []string // paths of the reports that were written
}

// Closing writes the closing lines: whether CI passes, and whether the server conforms, which is another question;
// then what was not tested, and the run.
func (s Style) Closing(w io.Writer, r reports.Report, c Closing) error {
	var b strings.Builder
	line := func(label, text string) { fmt.Fprintf(&b, "%-13s%s\n", label, text) }
	line("CI", s.ci(r, c))
	line("Conformance", s.conformance(r, cmp.Or(c.Profile, "core")))
	if g := r.Summary.Guarantees; g.NoScenario > 0 {
		have := "have"
		if g.NoScenario == 1 {
			have = "has"
		}
		line("Uncovered", fmt.Sprintf("%s %s no scenario yet, of them %d MUST and %d SHOULD",
			plural(g.NoScenario, "guarantee"), have, g.Must.NoScenario, g.Should.NoScenario))
	}
	if n := r.Summary.Verdicts.Skip; n > 0 {
		var reasons []string
		for _, reason := range slices.Sorted(maps.Keys(r.Summary.Skipped)) {
			name := cmp.Or(string(reason), "without a reason")
			reasons = append(reasons, fmt.Sprintf("%d %s", r.Summary.Skipped[reason], s.escape(name, nameLimit)))
		}
		line("Skipped", plural(n, "check")+": "+strings.Join(reasons, ", ")+s.unshown(r))
	}
	fmt.Fprintf(&b, "Run %s  %s\n", s.escape(r.Run.ID, nameLimit), played(r))
	for _, path := range c.Written {
		line("Written", s.escape(path, wholeLimit))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unshown names the guarantees of which nothing was shown, if they are few.
func (s Style) unshown(r reports.Report) string {
	const most = 4
	var names []string
	for _, g := range r.Guarantees {
		if g.Status == reports.NotShown || g.Status == reports.NotClaimed {
			names = append(names, s.escape(g.ID, nameLimit))
		}
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n > most:
		return fmt.Sprintf("; not shown: %s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	return "; not shown: " + strings.Join(names, ", ")
}

// ci says whether the run passes, and what counted. A check that was played several times counts once.
func (s Style) ci(r reports.Report, c Closing) string {
	type key struct {
		check   string
		verdict verdict.Verdict
	}
	var failed, lenient, inconclusive, broke int
	seen := map[key]bool{}
	for _, res := range r.Results {
		for _, f := range reports.Judgements(res) {
			if k := (key{f.Check, f.Verdict}); seen[k] {
				continue
			} else {
				seen[k] = true
			}
			level := r.Level(f.Guarantee)
			switch {
			case f.Verdict == verdict.Fail && r.Binding(level):
				failed++
			case f.Verdict == verdict.Fail && level == verdict.Should:
				lenient++
			case f.Verdict == verdict.Inconclusive && level != verdict.Info:
				inconclusive++
			case f.Verdict == verdict.Error:
				broke++
			}
		}
	}
	parts := []string{fmt.Sprintf("%d new", failed)}
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(lenient, "SHOULD failed")
	add(inconclusive, "inconclusive")
	add(broke, "error")
	if r.Run.Stopped != "" {
		parts = append(parts, "stopped: "+s.escape(r.Run.Stopped, nameLimit))
	}
	if r.Summary.Checks == 0 {
		parts = append(parts, "nothing was checked")
	}
	proven := (failed > 0 || inconclusive > 0) && !c.ReportOnly
	word := s.paint(green, "pass")
	if proven || broke > 0 || r.Run.Stopped != "" || r.Summary.Checks == 0 {
		word = s.paint(red, "fail")
	}
	text := word + "    " + strings.Join(parts, ", ")
	if c.ReportOnly {
		text += " (report only)"
	}
	return text
}

// conformance counts what binds. A profile is not met by the part of it that a pattern selected: what was not
// selected is in the sum, what the server does not claim is not.
func (s Style) conformance(r reports.Report, profile string) string {
	g, name := r.Summary.Guarantees.Must, "MUST"
	if r.Run.Strict {
		more := r.Summary.Guarantees.Should
		g.Holds += more.Holds
		g.Violated += more.Violated
		g.NotShown += more.NotShown
		g.NotSelected += more.NotSelected
		g.NotClaimed += more.NotClaimed
		name = "MUST and SHOULD"
	}
	all := g.Holds + g.Violated + g.NotShown + g.NotSelected
	met := s.paint(green, "met")
	switch {
	case g.Violated > 0:
		met = s.paint(red, "not met")
	case g.NotSelected > 0 || r.Run.Stopped != "":
		met = "not judged as a whole" // a part of it was played
	case g.NotShown > 0 || all == 0:
		met = "not shown as a whole"
	}
	text := fmt.Sprintf("%s %s: %d of %d %s hold, %d violated, %d not shown",
		s.escape(profile, nameLimit), met, g.Holds, all, name, g.Violated, g.NotShown)
	if g.NotSelected > 0 {
		text += fmt.Sprintf(", %d not selected", g.NotSelected)
	}
	if g.NotClaimed > 0 {
		text += fmt.Sprintf("; %d not claimed", g.NotClaimed)
	}
	return text
}

func played(r reports.Report) string {
	text := plural(r.Summary.Cases, "case")
	if r.Summary.Trials != r.Summary.Cases {
		text += ", " + plural(r.Summary.Trials, "trial")
	}
	if r.Run.Time == "virtual" {
		virtual := time.Duration(r.Summary.VirtualSeconds * float64(time.Second))
		text += ", " + total(virtual) + " of virtual time"
	}
	return fmt.Sprintf("%s in %s, seed %d", text, clock(r.Run.Wall), r.Run.Seed)
}
