package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/scenarios/mutants"
)

// report is what is needed of the JSON that stallwright run prints.
type report struct {
	Results []result `json:"results"`
}

type result struct {
	Case     string          `json:"case"`
	Verdict  verdict.Verdict `json:"verdict"`
	Why      string          `json:"why"`
	Findings []finding       `json:"findings"`
}

type finding struct {
	Check     string          `json:"check"`
	Guarantee string          `json:"guarantee"`
	Verdict   verdict.Verdict `json:"verdict"`
	Signature string          `json:"signature"`
}

// canaries are the cases that say the server is still a server: they are part of every run, and a mutant that breaks
// them proves nothing about its guarantee.
var canaries = []string{"canary/plain@before", "canary/plain@after"}

// missed says why p, which was played on m, does not kill it: an empty list is a kill.
func missed(m mutants.Mutant, p playing) []string {
	if p.trouble != "" {
		return []string{p.trouble}
	}
	var why []string
	signed := false
	for _, g := range m.Breaks {
		failed := false
		for f := range findings(p.results, g) {
			if f.Verdict == verdict.Fail {
				failed = true
				signed = signed || f.Signature == m.Signature
			}
		}
		if !failed {
			why = append(why, g+" has no failing finding")
		}
	}
	if !signed {
		why = append(why, "no failing finding has the signature "+m.Signature)
	}
	return append(why, canaryTrouble(p.results)...)
}

// undecided says whether p shows nothing either way: no finding failed, and some gave no verdict.
func undecided(p playing) bool {
	some := false
	for _, r := range p.results {
		for _, f := range r.Findings {
			if f.Verdict == verdict.Fail {
				return false
			}
			some = some || f.Verdict == verdict.Inconclusive
		}
	}
	return some
}

// unfit says why p, which was played on the server without a mutant, does not show that each of the guarantees holds.
func unfit(guarantees []string, p playing) []string {
	if p.trouble != "" {
		return []string{p.trouble}
	}
	var why []string
	if p.exit != 0 {
		why = append(why, fmt.Sprintf("it exited with %d", p.exit))
	}
	for _, g := range guarantees {
		passed := false
		for f := range findings(p.results, g) {
			switch f.Verdict {
			case verdict.Pass:
				passed = true
			case verdict.Fail, verdict.Error:
				why = append(why, fmt.Sprintf("%s: %s is %s %s", g, f.Check, f.Verdict, f.Signature))
			}
		}
		if !passed {
			why = append(why, g+" has no passing finding")
		}
	}
	return append(why, canaryTrouble(p.results)...)
}

// canaryTrouble says which canary cases did not pass, each time they were played.
func canaryTrouble(results []result) []string {
	var why []string
	for _, c := range canaries {
		played := false
		for _, r := range results {
			if r.Case == c {
				played = true
				if r.Verdict != verdict.Pass {
					why = append(why, fmt.Sprintf("%s is %s", c, r.Verdict))
				}
			}
		}
		if !played {
			why = append(why, c+" was not played")
		}
	}
	return why
}

// findings yields the findings about one guarantee.
func findings(results []result, guarantee string) func(yield func(finding) bool) {
	return func(yield func(finding) bool) {
		for _, r := range results {
			for _, f := range r.Findings {
				if f.Guarantee == guarantee && !yield(f) {
					return
				}
			}
		}
	}
}

// maxSeen is how many lines seen has besides those of the guarantees: the first ones explain, the report has them all.
const maxSeen = 12

// seen tells, a line each, the verdicts and signatures found for the guarantees, the other failures, and the cases that
// did not get as far as findings.
func seen(guarantees []string, results []result) []string {
	var lines []string
	for _, g := range guarantees {
		tally := map[string]int{}
		for f := range findings(results, g) {
			tally[strings.TrimSpace(string(f.Verdict)+" "+f.Signature)]++
		}
		text := "nothing"
		if len(tally) > 0 {
			var parts []string
			for _, k := range slices.Sorted(maps.Keys(tally)) {
				parts = append(parts, fmt.Sprintf("%d %s", tally[k], k))
			}
			text = strings.Join(parts, ", ")
		}
		lines = append(lines, g+": "+text)
	}
	var others []string
	for _, r := range results {
		for _, f := range r.Findings {
			if f.Verdict == verdict.Fail && !slices.Contains(guarantees, f.Guarantee) {
				others = append(others, fmt.Sprintf("%s: fail %s in %s", f.Guarantee, f.Signature, f.Check))
			}
		}
		if len(r.Findings) == 0 || r.Verdict == verdict.Error || r.Verdict == verdict.Inconclusive {
			others = append(others, strings.TrimSpace(fmt.Sprintf("%s: %s %s", r.Case, r.Verdict, r.Why)))
		}
	}
	if more := len(others) - maxSeen; more > 0 {
		others = append(others[:maxSeen], fmt.Sprintf("and %d more", more))
	}
	return append(lines, others...)
}

// uncovered says, a line each, which of the guarantees fewer than two mutants break.
func uncovered(guarantees []string, ms []mutants.Mutant) []string {
	breaking := mutants.Breaking(ms)
	var lines []string
	for _, g := range slices.Sorted(slices.Values(guarantees)) {
		switch ids := breaking[g]; len(ids) {
		case 0:
			lines = append(lines, g+" has no mutant, want two")
		case 1:
			lines = append(lines, g+" has one mutant, "+ids[0]+", want two")
		}
	}
	return lines
}
