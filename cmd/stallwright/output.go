package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports"
	"github.com/stallwright/stallwright/reports/text"
)

// human is the stream for what a person reads: stdout is kept for the results when they are JSON.
func (s *session) human() io.Writer {
	if s.flags.format == "json" {
		return s.cli.stderr
	}
	return s.cli.stdout
}

func (s *session) style() text.Style { return s.cli.style(s.human(), s.flags.color, s.flags.ascii) }

// print writes the results: failure blocks and closing lines, and with --format json the JSON.
func (s *session) print(r reports.Report, written []string) error {
	var b strings.Builder
	style := s.style()
	if !s.flags.quiet {
		if err := s.writeBlocks(&b, style, r); err != nil {
			return err
		}
		if slices.ContainsFunc(s.run.Args, func(word string) bool { return area(word) == "sequential" }) {
			s.writeSequential(&b, r)
		}
	}
	if err := style.Closing(&b, r, text.Closing{Written: written}); err != nil {
		return err
	}
	if _, err := io.WriteString(s.human(), b.String()); err != nil {
		return err
	}
	if s.flags.format == "json" {
		return reports.Write(s.cli.stdout, r)
	}
	return nil
}

// blocks are how many failure blocks are printed: more than anybody reads at once.
const blocks = 10

func (s *session) writeBlocks(b *strings.Builder, style text.Style, r reports.Report) error {
	entries := s.failures(r)
	for i, e := range entries {
		if i == blocks {
			where := "--report json writes them all"
			if path := s.files.path("json"); path != "" {
				where = path + " has them all"
			} else if s.flags.format == "json" {
				where = "the results have them all"
			}
			fmt.Fprintf(b, "%d more: %s\n\n", len(entries)-blocks, style.Escape(where))
			break
		}
		if err := style.Failure(b, e.Failure); err != nil {
			return err
		}
		if also := e.also(); also != "" {
			fmt.Fprintf(b, "  also       %s\n", style.Escape(also))
		}
		b.WriteByte('\n')
	}
	return nil
}

// entry is a failure block to print, and what it stands for besides.
type entry struct {
	text.Failure
	checks, cases []string // that failed, or gave no verdict, in the same way
	attempts      int      // the highest attempt seen
}

// also lists what a block stands for besides its own check: the other checks of its case, then other cases.
func (e *entry) also() string {
	own, _, _ := strings.Cut(e.Finding.Check, "::")
	var out []string
	for _, c := range e.checks {
		if c != e.Finding.Check && strings.HasPrefix(c, own+"::") {
			out = append(out, strings.TrimPrefix(c, own))
		}
	}
	for _, c := range e.cases {
		if c == own {
			continue
		}
		if verdict.Scenario(c) == verdict.Scenario(own) {
			c = strings.TrimPrefix(c, verdict.Scenario(own))
		}
		out = append(out, c)
	}
	const most = 6
	if n := len(out) - most; n > 0 {
		out = append(out[:most], fmt.Sprintf("and %d more", n))
	}
	if e.attempts > 1 {
		out = append(out, fmt.Sprintf("in up to %d attempts", e.attempts))
	}
	return strings.Join(out, " ")
}

func (e *entry) add(c, check string, attempt int) {
	e.attempts = max(e.attempts, attempt)
	if !slices.Contains(e.checks, check) {
		e.checks = append(e.checks, check)
	}
	if !slices.Contains(e.cases, c) {
		e.cases = append(e.cases, c)
	}
}

// failures are the blocks of a report, the worst first. One cause is mostly seen by several checks of a case and in
// several variants of a scenario: what one scenario found against one guarantee is one block, and so is what one
// invariant found anywhere, and all that gave no verdict for one reason.
func (s *session) failures(r reports.Report) []*entry {
	var out []*entry
	seen := map[string]*entry{}
	violated := map[string]bool{}
	for _, g := range r.Guarantees {
		violated[g.ID] = g.Status == reports.Violated
	}
	for _, res := range r.Results {
		for _, f := range reports.Judgements(res) {
			if f.Verdict == verdict.Pass || f.Verdict == verdict.Skip {
				continue
			}
			if f.Verdict == verdict.Inconclusive && violated[f.Guarantee] {
				continue // what is violated need not be shown as well
			}
			var e *entry
			keys := causes(res, f)
			for _, k := range keys {
				if e = seen[k]; e != nil {
					break
				}
			}
			if e == nil {
				e = &entry{Failure: text.Of(r, res, f)}
				e.Again = s.again(r, res)
				out = append(out, e)
			}
			for _, k := range keys {
				seen[k] = e
			}
			e.add(res.Case, f.Check, res.Attempt)
		}
	}
	slices.SortStableFunc(out, func(a, b *entry) int { return cmp.Compare(rank(a.Failure), rank(b.Failure)) })
	return out
}

// causes are the keys under which a finding is folded into another's block.
func causes(res verdict.Result, f verdict.Finding) []string {
	if f.Verdict == verdict.Inconclusive {
		return []string{strings.Join([]string{string(f.Verdict), res.Case, f.Observed}, " ")}
	}
	_, name, _ := strings.Cut(f.Check, "::")
	return []string{
		strings.Join([]string{string(f.Verdict), f.Guarantee, verdict.Scenario(res.Case)}, " "),
		strings.Join([]string{string(f.Verdict), f.Guarantee, name, f.Signature}, " "),
	}
}

// rank orders failure blocks, the worst first.
func rank(f text.Failure) int {
	switch {
	case f.Finding.Verdict == verdict.Fail && f.Level == verdict.Must:
		return 0
	case f.Finding.Verdict == verdict.Fail && f.Level == verdict.Should:
		return 1
	case f.Finding.Verdict == verdict.Error:
		return 2
	case f.Finding.Verdict == verdict.Inconclusive:
		return 3
	default:
		return 4
	}
}

// again is the command that plays a result's case once more as it was played.
func (s *session) again(r reports.Report, res verdict.Result) string {
	return strings.Join(append([]string{r.Run.Again(res)}, s.flags.attachedArgs()...), " ")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
