package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/scenarios/mutants"
)

func (c *cli) listCommand() *cobra.Command {
	var guarantees, features, asJSON bool
	var f listedCases
	cmd := &cobra.Command{
		Use:   "list [PATTERN...]",
		Short: "list what can be played and what is promised",
		Long: "Lists the scenarios with their claims, or cases, guarantees or features; with a PATTERN (see `stallwright run --help`)\nonly what it selects. No server is contacted.\n\n" +
			"The cases of case files are among them when --cases names a file or a folder, or a stallwright.yaml in the current\n" +
			"folder does.",
		Example:           "  stallwright list first-chunk\n  stallwright list --guarantees --json\n  stallwright list --cases mine/",
		ValidArgsFunction: c.complete,
		RunE: func(cmd *cobra.Command, words []string) error {
			own := *c
			patterns, err := own.listed(cmd, f, words)
			if err != nil {
				return err
			}
			chosen, err := own.library.choose(patterns)
			if err != nil {
				return err
			}
			switch {
			case guarantees:
				return own.listGuarantees(patterns, chosen, asJSON)
			case f.shown:
				return own.listCases(chosen, asJSON)
			case features:
				return own.listFeatures(chosen, asJSON)
			default:
				return own.listScenarios(chosen, asJSON)
			}
		},
	}
	cmd.Flags().BoolVar(&guarantees, "guarantees", false, "the guarantees, with their scenarios and mutants")
	cmd.Flags().Var(&f, "cases", "the cases: scenarios with their variants, and the case files that `PATH` names; may be repeated")
	cmd.Flags().Lookup("cases").NoOptDefVal = "true"
	f.registerConfig(cmd)
	cmd.Flags().BoolVar(&features, "features", false, "what a server may offer, and how many scenarios need it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	cmd.MarkFlagsMutuallyExclusive("guarantees", "cases", "features")
	return cmd
}

// listedCases is the flag of list that shows cases. It stands alone or with the path of case files.
type listedCases struct {
	caseFlags
	shown bool
}

func (l *listedCases) String() string { return strings.Join(l.paths, ",") }

// Type is that of a flag that may stand alone.
func (l *listedCases) Type() string { return "bool" }

// Set takes a path, or true or false as a flag that stands alone does.
func (l *listedCases) Set(v string) error {
	l.shown = v != "false"
	if v != "true" && v != "false" {
		l.paths = append(l.paths, v)
	}
	return nil
}

// listed adds the case files that are listed to the library. It returns the words that are patterns: a word behind
// --cases that selects nothing and is the path of a file is the flag's.
func (c *cli) listed(cmd *cobra.Command, f listedCases, words []string) (patterns []string, err error) {
	for _, w := range words {
		if _, err := os.Stat(w); f.shown && err == nil && c.library.look(compile(w)).none() {
			f.paths = append(f.paths, w)
			continue
		}
		patterns = append(patterns, w)
	}
	// As run has it.
	if v := c.getenv(casesVariable); v != "" && f.paths == nil {
		f.paths = strings.Split(v, ",")
	}
	named := cmd.Flags().Changed("config")
	if v := c.getenv(configVariable); v != "" && !named {
		f.config, named = v, true
	}
	files, err := c.caseFiles(f.caseFlags, named)
	if err != nil {
		return nil, err
	}
	if c.library, _, err = c.addCases(files, nil); err != nil {
		return nil, &trouble{code: exitUsage, err: err}
	}
	return patterns, nil
}

// table writes rows of columns.
func (c *cli) table(rows [][]string) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return internal(err)
	}
	return nil
}

// schemaVersion is of all JSON that list writes.
const schemaVersion = 1

type scenarioDoc struct {
	ID         string            `json:"id"`
	Claim      string            `json:"claim"`
	Guarantees []string          `json:"guarantees"`
	Needs      []harness.Feature `json:"needs"`
	Cases      []string          `json:"cases"`
}

func (c *cli) listScenarios(chosen []harness.Case, asJSON bool) error {
	docs := []scenarioDoc{}
	for _, one := range chosen {
		if len(docs) == 0 || docs[len(docs)-1].ID != one.Scenario.ID {
			docs = append(docs, scenarioDoc{
				ID: one.Scenario.ID, Claim: one.Scenario.Claim, Guarantees: []string{}, Needs: append([]harness.Feature{}, one.Scenario.Needs...),
			})
		}
		d := &docs[len(docs)-1]
		d.Cases = append(d.Cases, one.ID())
		for _, g := range one.Guarantees() {
			if g != "" && !slices.Contains(d.Guarantees, g) {
				d.Guarantees = append(d.Guarantees, g)
			}
		}
	}
	if asJSON {
		return c.writeJSON(struct {
			SchemaVersion int           `json:"schemaVersion"`
			Scenarios     []scenarioDoc `json:"scenarios"`
		}{schemaVersion, docs})
	}
	var rows [][]string
	for _, d := range docs {
		rows = append(rows, []string{d.ID, plural(len(d.Cases), "case"), d.Claim})
	}
	return c.table(rows)
}

type caseDoc struct {
	ID         string            `json:"id"`
	Scenario   string            `json:"scenario"`
	Guarantees []string          `json:"guarantees"`
	Needs      []harness.Feature `json:"needs"`
	Checks     []string          `json:"checks"`
}

func (c *cli) listCases(chosen []harness.Case, asJSON bool) error {
	docs := []caseDoc{}
	var rows [][]string
	for _, one := range chosen {
		d := caseDoc{
			ID: one.ID(), Scenario: one.Scenario.ID, Guarantees: append([]string{}, one.Guarantees()...), Needs: append([]harness.Feature{}, one.Needs()...),
		}
		for _, check := range one.Checks() {
			d.Checks = append(d.Checks, one.ID()+"::"+check.Name)
		}
		docs = append(docs, d)
		rows = append(rows, []string{d.ID, plural(len(d.Checks), "check"), strings.Join(d.Guarantees, " ")})
	}
	if asJSON {
		return c.writeJSON(struct {
			SchemaVersion int       `json:"schemaVersion"`
			Cases         []caseDoc `json:"cases"`
		}{schemaVersion, docs})
	}
	return c.table(rows)
}

type featureDoc struct {
	ID        harness.Feature `json:"id"`
	Scenarios []string        `json:"scenarios"` // that need it, in all or some of their cases
}

func (c *cli) listFeatures(chosen []harness.Case, asJSON bool) error {
	var docs []featureDoc
	var rows [][]string
	for _, f := range harness.Features() {
		d := featureDoc{ID: f, Scenarios: []string{}}
		for _, one := range chosen {
			if slices.Contains(one.Needs(), f) && !slices.Contains(d.Scenarios, one.Scenario.ID) {
				d.Scenarios = append(d.Scenarios, one.Scenario.ID)
			}
		}
		docs = append(docs, d)
		rows = append(rows, []string{string(f), "needed by " + plural(len(d.Scenarios), "scenario")})
	}
	if asJSON {
		return c.writeJSON(struct {
			SchemaVersion int          `json:"schemaVersion"`
			Features      []featureDoc `json:"features"`
		}{schemaVersion, docs})
	}
	return c.table(rows)
}

type guaranteeDoc struct {
	ID        string         `json:"id"`
	Level     verdict.Level  `json:"level"`
	Source    verdict.Source `json:"source"`
	Statement string         `json:"statement"`
	Scenarios []string       `json:"scenarios"`
	Mutants   []string       `json:"mutants"`
}

type paragraphDoc struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Guarantees []string `json:"guarantees"`
}

// wanted lists the guarantees that patterns name, or that the chosen cases are evidence for.
func (l library) wanted(patterns []string, chosen []harness.Case) []verdict.Guarantee {
	if len(patterns) == 0 {
		return l.guarantees
	}
	var out []verdict.Guarantee
	for _, g := range l.guarantees {
		named := slices.ContainsFunc(patterns, func(text string) bool { return compile(text).fits(g.ID, g.Area()) })
		if named || slices.ContainsFunc(chosen, func(one harness.Case) bool { return slices.Contains(one.Guarantees(), g.ID) }) {
			out = append(out, g)
		}
	}
	return out
}

func (c *cli) listGuarantees(patterns []string, chosen []harness.Case, asJSON bool) error {
	l := c.library
	broken, err := l.mutants()
	if err != nil {
		return internal(err)
	}
	breaking := mutants.Breaking(broken)
	docs := []guaranteeDoc{}
	var rows [][]string
	for _, g := range l.wanted(patterns, chosen) {
		d := guaranteeDoc{
			ID: g.ID, Level: g.Level, Source: g.Source, Statement: g.Statement, Scenarios: []string{}, Mutants: append([]string{}, breaking[g.ID]...),
		}
		for _, s := range l.evidence(g.ID) {
			d.Scenarios = append(d.Scenarios, s.ID)
		}
		docs = append(docs, d)
		tested := plural(len(d.Scenarios), "scenario")
		switch {
		case len(d.Scenarios) == 0:
			tested = "no scenario yet"
		case l.declares(g.ID) == nil:
			tested = "every scenario"
		}
		rows = append(rows, []string{d.ID, strings.ToUpper(string(d.Level)), string(d.Source), tested, plural(len(d.Mutants), "mutant")})
	}
	if !asJSON {
		return c.table(rows)
	}
	seed := []paragraphDoc{}
	for _, p := range l.seed {
		seed = append(seed, paragraphDoc{p.ID, p.Title, append([]string{}, p.Guarantees...)})
	}
	return c.writeJSON(struct {
		SchemaVersion int            `json:"schemaVersion"`
		Guarantees    []guaranteeDoc `json:"guarantees"`
		Seed          []paragraphDoc `json:"seed"`
	}{schemaVersion, docs, seed})
}

// complete offers the IDs of everything.
func (c *cli) complete(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return c.library.words(), cobra.ShellCompDirectiveNoFileComp
}
