package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports"
	"github.com/stallwright/stallwright/reports/text"
)

// The scenario that measures how tool calls are executed, and its check: found is the answer, drawn are the calls and what a FIFO
// would break.
const (
	sequentialScenario = "sequential/parallel-calls"
	sequentialCheck    = "is-measured"
	brokenShown        = 3
)

// writeSequential says how the server executes the tool calls of one turn, when that was measured: the answer of each turn, and the
// widest turn drawn.
func (s *session) writeSequential(b *strings.Builder, r reports.Report) {
	type turn struct {
		name, dialect  string
		found, summary string
		drawing        []string
	}
	var turns []turn
	answers := map[string]bool{}
	for _, res := range r.Results {
		if verdict.Scenario(res.Case) != sequentialScenario {
			continue
		}
		for _, f := range res.Findings {
			if !strings.HasSuffix(f.Check, "::"+sequentialCheck) || f.Verdict == verdict.Skip {
				continue
			}
			_, form, _ := strings.Cut(res.Case, "@")
			t := turn{found: f.Evidence.Found, drawing: f.Evidence.Drawing}
			t.name, t.dialect, _ = strings.Cut(form, ".")
			t.summary, _, _ = strings.Cut(t.found, ",")
			answers[t.summary] = true
			turns = append(turns, t)
		}
	}
	if len(turns) == 0 {
		return
	}
	answer := "differs from turn to turn"
	if len(answers) == 1 {
		answer = turns[0].summary
	}
	fmt.Fprintf(b, "Tool calls of one turn: %s\n", text.Escape(answer))
	// A line for what several dialects, or attempts, agree on.
	type line struct{ name, found string }
	var lines []line
	on := map[line][]string{}
	for _, t := range turns {
		l := line{t.name, t.found}
		if on[l] == nil {
			lines = append(lines, l)
		}
		if d := cmp.Or(t.dialect, harness.OpenAI); !slices.Contains(on[l], d) {
			on[l] = append(on[l], d)
		}
	}
	for _, l := range lines {
		fmt.Fprintf(b, "  %-9s %s", text.Escape(l.name), text.Escape(l.found))
		if alone := slices.IndexFunc(lines, func(o line) bool { return o.name == l.name && o != l }) < 0; !alone {
			fmt.Fprintf(b, " (%s)", text.Escape(strings.Join(on[l], ", ")))
		}
		b.WriteByte('\n')
	}
	last := turns[len(turns)-1]
	fmt.Fprintf(b, "\n  %s, a announced, = executed, t told to the model:\n", text.Escape(last.name))
	broken := 0
	for _, line := range last.drawing {
		if strings.HasPrefix(line, "a FIFO would break: ") {
			if broken++; broken > brokenShown {
				continue
			}
		}
		fmt.Fprintf(b, "  %s\n", text.Escape(line))
	}
	if broken > brokenShown {
		fmt.Fprintf(b, "  and %d more\n", broken-brokenShown)
	}
	b.WriteByte('\n')
}
