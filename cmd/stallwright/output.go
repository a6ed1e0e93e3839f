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
		if e.repeats > 0 {
			fmt.Fprintf(b, "  the same in %s\n", plural(e.repeats, "more attempt"))
		}
		if e.checks > 0 {
			fmt.Fprintf(b, "  %s of this case gave no verdict for the same reason\n", plural(e.checks, "more check"))
		}
		b.WriteByte('\n')
	}
	return nil
}

// entry is a failure block to print, and what it stands for besides.
type entry struct {
	text.Failure
	attempt int
	repeats int // other attempts with the same finding
	checks  int // other checks of the same trial without a verdict for the same reason
}

// failures are the blocks of a report, the worst first. The same finding in several attempts is one, and so are the
// checks of one case that gave no verdict for one reason.
func (s *session) failures(r reports.Report) []*entry {
	var out []*entry
	seen := map[string]*entry{}
	for _, res := range r.Results {
		here := map[string]bool{} // what this trial was counted for
		for _, f := range reports.Judgements(res) {
			if f.Verdict == verdict.Pass || f.Verdict == verdict.Skip {
				continue
			}
			key := strings.Join([]string{string(f.Verdict), f.Check, f.Signature}, " ")
			if f.Verdict == verdict.Inconclusive {
				key = strings.Join([]string{string(f.Verdict), res.Case, f.Observed}, " ")
			}
			switch e := seen[key]; {
			case e == nil:
				e = &entry{Failure: text.Of(r, res, f), attempt: res.Attempt}
				e.Again = s.again(r, res)
				seen[key] = e
				out = append(out, e)
			case e.attempt == res.Attempt:
				e.checks++
			case !here[key]:
				e.repeats++
			}
			here[key] = true
		}
	}
	slices.SortStableFunc(out, func(a, b *entry) int { return cmp.Compare(rank(a.Failure), rank(b.Failure)) })
	return out
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
