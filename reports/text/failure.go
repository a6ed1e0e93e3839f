package text

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports"
)

// Failure is what a failure block shows.
type Failure struct {
	Finding  verdict.Finding
	Level    verdict.Level // of the guarantee
	Again    string        // the command that plays the case once more; "" leaves the line out
	Timeline string        // the path or link of a report that was written; "" leaves the line out
}

// Of is the failure of one judgement of a result of r, without a timeline.
func Of(r reports.Report, res verdict.Result, f verdict.Finding) Failure {
	return Failure{Finding: f, Level: r.Level(f.Guarantee), Again: r.Run.Again(res)}
}

const (
	// A block must fit a terminal beside what led to it, and an annotation of a CI system.
	blockLines = 15
	// Where the standing and the moment begin: the moment of a trial of under 100 s then ends at column 80.
	rightColumn = 69
)

// Failure writes the failure block, of at most 15 lines: the guarantee and the check, what was promised and what was
// observed, the timeline around the deciding moment, and how to play it again.
func (s Style) Failure(w io.Writer, f Failure) error {
	v := f.Finding
	var head, foot []string

	glyph, c := s.mark(v.Verdict, f.Level)
	first := glyph + " " + word(v.Verdict, f.Level)
	painted := s.paint(c, first)
	about := "  " + s.escape(verdict.Scenario(v.Check), nameLimit) // of the canary, which is evidence for no guarantee
	if v.Guarantee != "" {
		about = "  " + s.escape(v.Guarantee, nameLimit) + "  " + s.escape(strings.ToUpper(string(f.Level)), nameLimit)
	}
	first, painted = first+about, painted+about
	standing := ""
	if v.Verdict == verdict.Fail && f.Level != verdict.Info {
		standing = "new"
	}
	head = append(head, painted+right(first, standing))

	check, at := "  "+s.escape(v.Check, nameLimit), ""
	if moment, ok := deciding(v); ok {
		at = "at " + Moment(moment) + " s"
	}
	head = append(head, check+right(check, at))
	sentence := func(label, text string) {
		if text != "" {
			head = append(head, s.label(label)+s.escape(text, EscapeLimit))
		}
	}
	sentence("promised", v.Promised)
	if v.Evidence.Expected != v.Promised {
		sentence("expected", v.Evidence.Expected)
	}
	sentence("observed", v.Observed)

	command := func(label, text string) {
		if text != "" {
			foot = append(foot, s.label(label)+s.escape(text, wholeLimit))
		}
	}
	command("again", f.Again)
	if v.Guarantee != "" {
		command("why", "stallwright explain "+v.Guarantee)
	}
	command("timeline", f.Timeline)

	lines := head
	if excerpt := s.excerpt(f, blockLines-len(head)-len(foot)-2); len(excerpt) > 0 {
		lines = slices.Concat(head, []string{""}, excerpt)
	}
	if len(foot) > 0 {
		lines = slices.Concat(lines, []string{""}, foot)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// word is what a block calls a judgement.
func word(v verdict.Verdict, level verdict.Level) string {
	switch v {
	case verdict.Pass:
		return "SHOWN"
	case verdict.Fail:
		if level == verdict.Info {
			return "MEASURED"
		}
		return "VIOLATED"
	case verdict.Inconclusive:
		return "NOT SHOWN"
	case verdict.Skip:
		return "SKIPPED"
	default:
		return "ERROR"
	}
}

func (s Style) label(text string) string {
	return "  " + s.paint(dim, fmt.Sprintf("%-9s", text)) + "  "
}

// right is the text after a line's left part, with the blanks between.
func right(left, text string) string {
	if text == "" {
		return ""
	}
	return strings.Repeat(" ", max(2, rightColumn-utf8.RuneCountInString(left))) + text
}

// deciding is the moment at which a judgement fell. Only a failure has one by its evidence alone: what is
// inconclusive may carry the evidence of the pass that it was before the trial turned out to prove nothing.
func deciding(f verdict.Finding) (at time.Duration, ok bool) {
	if f.Verdict == verdict.Fail && f.Evidence.Kind != "" {
		return f.Evidence.At, true
	}
	for _, m := range f.Excerpt {
		if m.Here {
			at, ok = m.At, true
		}
	}
	return at, ok
}

// excerpt draws the lines of the timeline nearest to the deciding moment, and that moment itself when no event sits
// at it.
func (s Style) excerpt(f Failure, room int) []string {
	moments := slices.Clone(f.Finding.Excerpt)
	at, decided := deciding(f.Finding)
	isHere := func(m verdict.Moment) bool { return m.Here }
	ours := -1 // the line that is of our own making
	if decided && !slices.ContainsFunc(moments, isHere) {
		ours = slices.IndexFunc(moments, func(m verdict.Moment) bool { return m.At > at })
		if ours < 0 {
			ours = len(moments)
		}
		moments = slices.Insert(moments, ours, verdict.Moment{At: at, Lane: "check", Here: true})
	}
	lane := 0
	for i, m := range moments {
		moments[i].Lane = s.escape(m.Lane, 16)
		lane = max(lane, utf8.RuneCountInString(moments[i].Lane))
	}
	pointer := "▶"
	if s.ASCII {
		pointer = ">"
	}
	var lines []string
	for _, i := range nearest(moments, room) {
		m := moments[i]
		what := s.escape(strings.TrimSpace(m.Ref+" "+m.Kind+" "+m.Detail), detailLimit)
		if i == ours {
			glyph, c := s.mark(f.Finding.Verdict, f.Level)
			what = s.paint(c, glyph+" "+s.decision(f.Finding))
		}
		mark := " "
		if m.Here {
			mark = s.paint(bold, pointer)
		}
		pad := strings.Repeat(" ", lane-utf8.RuneCountInString(m.Lane))
		lines = append(lines, strings.TrimRight(fmt.Sprintf("    %s %-9s %s  %s", mark, Moment(m.At), m.Lane+pad, what), " "))
	}
	return lines
}

// decision says in a few words what decided: deadline: the limit of 2s is over.
func (s Style) decision(f verdict.Finding) string {
	e := f.Evidence
	_, noun, _ := strings.Cut(f.Signature, "/")
	text := string(e.Kind) + ": " + cmp.Or(e.Found, noun, f.Observed)
	if e.Kind == verdict.Deadline && e.Limit > 0 {
		text = string(e.Kind) + ": the limit of " + Duration(e.Limit) + " is over"
	}
	return s.escape(text, detailLimit)
}

// nearest gives the indices, in order, of the n moments nearest to a deciding one; without one, of the last n.
func nearest(moments []verdict.Moment, n int) []int {
	var here []int
	for i, m := range moments {
		if m.Here {
			here = append(here, i)
		}
	}
	if here == nil {
		here = []int{len(moments)}
	}
	order, distance := make([]int, len(moments)), make([]int, len(moments))
	for i := range moments {
		order[i], distance[i] = i, len(moments)
		for _, h := range here {
			distance[i] = min(distance[i], max(i-h, h-i))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return distance[a] - distance[b] })
	order = order[:min(max(n, 0), len(order))]
	slices.Sort(order)
	return order
}
