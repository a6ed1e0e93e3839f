package main

import (
	"slices"
	"strings"
	"sync"

	"github.com/stallwright/stallwright/fakes/dialects"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/bubble"
	"github.com/stallwright/stallwright/harness/invariant"
	"github.com/stallwright/stallwright/harness/reference"
	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/scenarios"
	"github.com/stallwright/stallwright/scenarios/mutants"
)

// library is all that can be played and promised.
type library struct {
	scenarios  []harness.Scenario
	elsewhere  []harness.Scenario // those that come with stallwright, when the scenarios are others
	canary     harness.Scenario
	dialects   []string // that the server under test can speak to its model's provider; each case is played on every one
	guarantees []verdict.Guarantee
	seed       []scenarios.Paragraph
	mutants    func() ([]mutants.Mutant, error)
}

func builtin() library {
	return library{
		scenarios: scenarios.All(), canary: scenarios.Canary(), dialects: reference.Target("").Dialects, guarantees: scenarios.Catalogue(), seed: scenarios.Seed(),
		mutants: mutants.All,
	}
}

// cases lists the cases of all scenarios, in their order; the canary's are not among them.
func (l library) cases() []harness.Case {
	var out []harness.Case
	for _, s := range l.scenarios {
		out = append(out, l.of(s)...)
	}
	return out
}

// allDialects are all that the fake speaks.
func allDialects() []string { return append(dialects.Names(), dialects.Flavours()...) }

// of lists the cases of one scenario.
func (l library) of(s harness.Scenario) []harness.Case { return s.Cases(l.dialects...) }

// canaries are the cases that are played before and after all others, on the first of the dialects.
func (l library) canaries() []harness.Case {
	return l.canary.Cases(l.dialects[:min(1, len(l.dialects))]...)
}

// finder returns what finds the case of an ID, the canary's included, whatever the dialect. Those that were put aside come
// last: a worker that has read case files plays what comes with stallwright too. The cases are made once, at the first
// search, since thousands are looked for; it may be used by several goroutines.
func (l library) finder() func(id string) (harness.Case, bool) {
	known := sync.OnceValue(func() map[string]harness.Case {
		cases := map[string]harness.Case{}
		for _, s := range slices.Concat(l.scenarios, []harness.Scenario{l.canary}, l.elsewhere) {
			for _, c := range s.Cases(allDialects()...) {
				if _, ok := cases[c.ID()]; !ok {
					cases[c.ID()] = c
				}
			}
		}
		return cases
	})
	return func(id string) (harness.Case, bool) {
		c, ok := known()[id]
		return c, ok
	}
}

func (l library) hasScenario(id string) bool {
	return slices.ContainsFunc(l.scenarios, func(s harness.Scenario) bool { return s.ID == id })
}

func (l library) isCanary(id string) bool { return verdict.Scenario(id) == l.canary.ID }

func (l library) guarantee(id string) (verdict.Guarantee, bool) {
	i := slices.IndexFunc(l.guarantees, func(g verdict.Guarantee) bool { return g.ID == id })
	if i < 0 {
		return verdict.Guarantee{}, false
	}
	return l.guarantees[i], true
}

// level is the level of a guarantee; what the catalogue lacks, such as a case's own "", is a must.
func (l library) level(id string) verdict.Level {
	if g, ok := l.guarantee(id); ok {
		return g.Level
	}
	return verdict.Must
}

// standing is a check that is made in every case.
type standing struct{ name, guarantee string }

// standings lists the checks that no scenario declares: the invariants, and what the stages look for at the end.
func standings() []standing {
	out := []standing{{bubble.LeakCheck, bubble.LeakGuarantee}}
	for _, v := range invariant.All() {
		out = append(out, standing{v.Name, v.Guarantee})
	}
	return out
}

// everywhere reports whether each case is evidence for the guarantee.
func everywhere(guarantee string) bool {
	return slices.ContainsFunc(standings(), func(s standing) bool { return s.guarantee == guarantee })
}

// declares lists the scenarios with a check of their own for the guarantee.
func (l library) declares(guarantee string) []harness.Scenario {
	var out []harness.Scenario
	for _, s := range l.scenarios {
		if slices.ContainsFunc(l.of(s), func(c harness.Case) bool { return slices.Contains(c.Guarantees(), guarantee) }) {
			out = append(out, s)
		}
	}
	return out
}

// evidence lists the scenarios that are evidence for the guarantee: those that declare a check for it, or else all
// of them if it is looked at everywhere.
func (l library) evidence(guarantee string) []harness.Scenario {
	if own := l.declares(guarantee); own != nil || !everywhere(guarantee) {
		return own
	}
	return l.scenarios
}

// covered names the guarantees that have evidence at all.
func (l library) covered() map[string]bool {
	out := map[string]bool{}
	for _, s := range slices.Concat(l.scenarios, l.elsewhere) {
		for _, c := range s.Cases(allDialects()...) {
			for _, g := range c.Guarantees() {
				out[g] = true
			}
		}
	}
	for _, s := range standings() {
		out[s.guarantee] = true
	}
	return out
}

// checkIDs are the IDs of all checks of a case, and the same without its variant and dialect.
func checkIDs(c harness.Case) []string {
	var names []string
	for _, check := range c.Checks() {
		names = append(names, check.Name)
	}
	for _, s := range standings() {
		names = append(names, s.name)
	}
	var out []string
	for _, name := range names {
		out = append(out, c.ID()+"::"+name)
		if c.ID() != c.Scenario.ID {
			out = append(out, c.Scenario.ID+"::"+name)
		}
	}
	return out
}

// area is the part of a scenario's ID before the slash.
func area(scenario string) string {
	a, _, _ := strings.Cut(scenario, "/")
	return a
}

// words are the IDs of everything, for hints and completion.
func (l library) words() []string {
	var out []string
	known := map[string]bool{}
	add := func(w string) {
		if !known[w] {
			known[w] = true
			out = append(out, w)
		}
	}
	for _, c := range append(l.cases(), l.canaries()...) {
		add(area(c.Scenario.ID))
		add(c.Scenario.ID)
		add(c.ID())
	}
	for _, g := range l.guarantees {
		add(g.Area())
		add(g.ID)
	}
	return out
}

// checkWords are the IDs of all checks.
func (l library) checkWords() []string {
	var out []string
	for _, c := range l.cases() {
		out = append(out, checkIDs(c)...)
	}
	return out
}
