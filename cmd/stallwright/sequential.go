package main

import (
	"fmt"
	"strings"

	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports"
	"github.com/stallwright/stallwright/reports/text"
)

// The scenario that measures how tool calls are executed, and its check: first line the answer, then the calls as drawn, then
// what a FIFO would break.
const (
	sequentialScenario = "sequential/parallel-calls"
	sequentialCheck    = "is-measured"
	brokenShown        = 3
)

// writeSequential says how the server executes the tool calls of one turn, when that was measured: the answer of each turn, and the
// widest turn drawn.
func (s *session) writeSequential(b *strings.Builder, r reports.Report) {
	type turn struct {
		name  string
		found []string
	}
	var turns []turn
	answers := map[string]int{}
	for _, res := range r.Results {
		if verdict.Scenario(res.Case) != sequentialScenario {
			continue
		}
		for _, f := range res.Findings {
			if !strings.HasSuffix(f.Check, "::"+sequentialCheck) || f.Verdict == verdict.Skip {
				continue
			}
			_, form, _ := strings.Cut(res.Case, "@")
			found := strings.Split(f.Evidence.Found, "\n")
			turns = append(turns, turn{form, found})
			answer, _, _ := strings.Cut(found[0], ",")
			answers[answer]++
		}
	}
	if len(turns) == 0 {
		return
	}
	answer := "differs from turn to turn"
	if len(answers) == 1 {
		answer, _, _ = strings.Cut(turns[0].found[0], ",")
	}
	fmt.Fprintf(b, "Tool calls of one turn: %s\n", text.Escape(answer))
	for _, t := range turns {
		fmt.Fprintf(b, "  %-9s %s\n", text.Escape(t.name), text.Escape(t.found[0]))
	}
	last := turns[len(turns)-1]
	fmt.Fprintf(b, "\n  %s, a announced, = executed, t told to the model:\n", text.Escape(last.name))
	broken := 0
	for _, line := range last.found[1:] {
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
