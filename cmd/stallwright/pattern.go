package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/verdict"
)

// pattern is an ID or a glob of guarantees, scenarios, cases, checks or areas.
type pattern struct {
	text string
	re   *regexp.Regexp
}

// longestPattern is above any ID.
const longestPattern = 300

// compile makes a pattern of its text: * is any letters within a part of an ID, ** any letters.
func compile(text string) pattern {
	quoted := regexp.QuoteMeta(text)
	quoted = strings.ReplaceAll(quoted, `\*\*`, `.*`)
	quoted = strings.ReplaceAll(quoted, `\*`, `[^./@:]*`)
	return pattern{text, regexp.MustCompile("^" + quoted + "$")} // what is quoted compiles
}

func (p pattern) fits(ids ...string) bool { return slices.ContainsFunc(ids, p.re.MatchString) }

// hits says what a pattern is about.
type hits struct {
	cases      []string // IDs of the cases that it names, by area, scenario, case or check
	checks     []string // IDs of the checks that it names: not the whole of their cases
	guarantees []string
	all        bool // one of the guarantees has every case for evidence
}

// look finds what p is about: the canary only when it names nothing else.
func (l library) look(p pattern) hits {
	var h hits
	ofChecks := strings.Contains(p.text, "::") || strings.Contains(p.text, "**") // else it fits none
	name := func(cases []harness.Case) {
		for _, c := range cases {
			if p.fits(area(c.Scenario.ID), c.Scenario.ID, c.ID()) {
				h.cases = append(h.cases, c.ID())
				continue
			}
			if !ofChecks {
				continue
			}
			for _, id := range checkIDs(c) {
				if p.fits(id) {
					h.checks = append(h.checks, id)
				}
			}
		}
	}
	name(l.cases())
	for _, g := range l.guarantees {
		// An area without scenarios is one of guarantees.
		if p.fits(g.ID) || p.fits(g.Area()) && h.cases == nil {
			h.guarantees = append(h.guarantees, g.ID)
			h.all = h.all || everywhere(g.ID) && l.declares(g.ID) == nil
		}
	}
	if h.cases == nil && h.checks == nil && h.guarantees == nil {
		name(l.canaries())
	}
	return h
}

func (h hits) none() bool { return h.cases == nil && h.checks == nil && h.guarantees == nil }

// unknown is the error for patterns that match nothing, or nil.
func (l library) unknown(patterns []string) error {
	var errs []error
	var hints []string
	for _, text := range patterns {
		if len(text) > longestPattern {
			return misuse("", "a pattern of %d bytes: want at most %d", len(text), longestPattern)
		}
		if !l.look(compile(text)).none() {
			continue
		}
		if about := l.onOthers(compile(text)); about != nil {
			errs = append(errs, fmt.Errorf("%q is about other dialects of the provider than %s: %s", text, and(l.dialects), and(about)))
			hints = append(hints, fmt.Sprintf("for %q give --dialect %s", text, about[0]))
			continue
		}
		errs = append(errs, fmt.Errorf("%q matches no guarantee, scenario, case, check or area", text))
		words := l.words()
		if strings.Contains(text, "::") {
			words = l.checkWords()
		}
		if near := didYouMean(text, words, ""); near != "" {
			hints = append(hints, "for "+strconv.Quote(text)+" "+near)
		}
	}
	switch {
	case errs == nil:
		return nil
	case hints == nil:
		hints = []string{"`stallwright list` shows the scenarios, `stallwright list --guarantees` the guarantees"}
	case len(errs) == 1: // it is plain what the hint is for
		_, hints[0], _ = strings.Cut(hints[0], "\" ")
	}
	return &trouble{exitUsage, errors.Join(errs...), strings.Join(hints, "\n")}
}

// onOthers are the dialects on which p names cases when it names none on the library's own, or nil.
func (l library) onOthers(p pattern) []string {
	var out []string
	for _, d := range allDialects() {
		l.dialects = []string{d}
		if !l.look(p).none() {
			out = append(out, d)
		}
	}
	return out
}

// choose returns the cases that the patterns select, in the library's order; no pattern selects all.
func (l library) choose(patterns []string) ([]harness.Case, error) {
	if err := l.unknown(patterns); err != nil {
		return nil, err
	}
	if len(patterns) == 0 {
		return l.cases(), nil
	}
	var chosen []harness.Case
	all := append(l.cases(), l.canaries()...)
	for _, text := range patterns {
		h := l.look(compile(text))
		for _, c := range all {
			if h.selects(l, c) {
				chosen = append(chosen, c)
			}
		}
	}
	var out []harness.Case
	for _, c := range all {
		if slices.ContainsFunc(chosen, func(o harness.Case) bool { return o.ID() == c.ID() }) {
			out = append(out, c)
		}
	}
	return out, nil
}

// inRotation keeps, of the cases that differ in their dialect alone, the one whose turn it is, and those that a pattern
// names by their very ID. Whose turn it is depends on the library alone, so that a case has one ID in every run.
func (l library) inRotation(chosen []harness.Case, patterns []string) []harness.Case {
	type form struct{ scenario, variant string }
	of := func(c harness.Case) form { return form{c.Scenario.ID, c.Variant.Name} }
	var forms []form
	on := map[form][]string{}
	for _, c := range l.cases() {
		if on[of(c)] == nil {
			forms = append(forms, of(c))
		}
		on[of(c)] = append(on[of(c)], c.ID())
	}
	turn := map[form]string{}
	rotated := 0
	for _, f := range forms {
		turn[f] = on[f][rotated%len(on[f])]
		if len(on[f]) > 1 {
			rotated++
		}
	}
	return slices.DeleteFunc(slices.Clone(chosen), func(c harness.Case) bool {
		return !l.isCanary(c.ID()) && turn[of(c)] != c.ID() && !byID(c, patterns)
	})
}

// byID reports whether one of the patterns is the ID of the case or of a check of it.
func byID(c harness.Case, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		id, _, _ := strings.Cut(p, "::")
		return id == c.ID()
	})
}

func (h hits) selects(l library, c harness.Case) bool {
	if slices.Contains(h.cases, c.ID()) {
		return true
	}
	for _, id := range checkIDs(c) {
		if slices.Contains(h.checks, id) {
			return true
		}
	}
	if l.isCanary(c.ID()) {
		return false // it is evidence for no guarantee
	}
	for _, g := range h.guarantees {
		if slices.Contains(c.Guarantees(), g) {
			return true
		}
	}
	return h.all
}

// leftOut is what --skip leaves out: whole cases, or single checks of those that are played for others.
type leftOut struct {
	cases, checks, guarantees []string
}

func (l library) leaveOut(patterns []string) (leftOut, error) {
	if err := l.unknown(patterns); err != nil {
		return leftOut{}, err
	}
	var out leftOut
	for _, text := range patterns {
		h := l.look(compile(text))
		out.cases = append(out.cases, h.cases...)
		out.checks = append(out.checks, h.checks...)
		out.guarantees = append(out.guarantees, h.guarantees...)
	}
	return out, nil
}

// whole reports whether nothing of the case is left to be judged.
func (o leftOut) whole(c harness.Case) bool {
	if slices.Contains(o.cases, c.ID()) {
		return true
	}
	for _, check := range c.Checks() {
		if !o.check(c.ID()+"::"+check.Name, check.Guarantee) {
			return false
		}
	}
	return true
}

// check reports whether one check is left out. It is named with the variant of its case or without.
func (o leftOut) check(id, guarantee string) bool {
	c, name, _ := strings.Cut(id, "::")
	return slices.Contains(o.checks, id) || slices.Contains(o.checks, verdict.Scenario(c)+"::"+name) ||
		guarantee != "" && slices.Contains(o.guarantees, guarantee)
}

const whyLeftOut = "left out by --skip"

// skipped is the result of a case that is left out.
func (o leftOut) skipped(c harness.Case, seed uint64) verdict.Result {
	r := verdict.Result{
		Case: c.ID(), Claim: c.Scenario.Claim, Verdict: verdict.Skip, Reason: verdict.Filtered, Why: whyLeftOut, Attempt: 1, Seed: seed,
	}
	for _, check := range c.Checks() {
		r.Findings = append(r.Findings, verdict.Finding{
			Check: c.ID() + "::" + check.Name, Guarantee: check.Guarantee, Verdict: verdict.Skip, Reason: verdict.Filtered,
			Observed: whyLeftOut,
		})
	}
	return r
}

// filter takes the judgements of checks that are left out from a result.
func (o leftOut) filter(r verdict.Result) verdict.Result {
	if len(o.checks) == 0 && len(o.guarantees) == 0 {
		return r
	}
	findings := slices.Clone(r.Findings)
	changed := false
	for i, f := range findings {
		if o.check(f.Check, f.Guarantee) {
			findings[i] = verdict.Finding{
				Check: f.Check, Guarantee: f.Guarantee, Verdict: verdict.Skip, Reason: verdict.Filtered, Observed: whyLeftOut,
			}
			changed = true
		}
	}
	if changed {
		r.Findings, r.Verdict = findings, verdict.Worst(findings)
	}
	return r
}
