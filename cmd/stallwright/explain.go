package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/casefile"
	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/scenarios/mutants"
)

func (c *cli) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID",
		Short: "explain a guarantee, a scenario, a check, an exit code, a reason, or a word of case files",
		Long: "Says what is promised and why, how it is tested, and what must notice when it breaks. ID is that of a guarantee, a\n" +
			"scenario, a case or a check, the reason of a skip (not-claimed), an exit code (exit-3), or exit for all of them.\n\n" +
			"It knows the words of case files too: those in lengths of time (once, tick, heartbeat), or lengths for all of them, and\n" +
			"the lanes of events (client, provider, process, server).",
		Example: "  stallwright explain first-chunk.fires\n  stallwright explain exit-3\n  stallwright explain provider",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse(orHelp("", cmd), "explain takes one ID")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return append(c.library.words(), topics()...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.explain(args[0]) },
	}
}

// reasons says what the reasons of a skip mean.
func reasons() [][2]string {
	return [][2]string{
		{string(verdict.NotClaimed), "the server does not offer the feature that the case needs; nothing is said of it"},
		{string(verdict.Unavailable), "the feature cannot be shown here: real time shows no goroutines of another process, and a server that somebody else started gets no signals"},
		{string(verdict.Blocked), "a failed check, or the death of the server, took its precondition away"},
		{string(verdict.Filtered), "it was left out on the command line, with --skip"},
	}
}

// topics are the words besides IDs that can be explained.
func topics() []string {
	out := []string{"exit"}
	for _, r := range exitRows() {
		out = append(out, fmt.Sprintf("exit-%d", r.code))
	}
	for _, r := range reasons() {
		out = append(out, r[0])
	}
	out = append(out, allLengths)
	for _, l := range casefile.Lengths() {
		out = append(out, l.Word)
	}
	for _, l := range casefile.Lanes() {
		out = append(out, l.Word)
	}
	return out
}

func (c *cli) explain(id string) error {
	l := c.library
	if g, ok := l.guarantee(id); ok {
		return c.explainGuarantee(g)
	}
	base, check, isCheck := strings.Cut(id, "::")
	for _, s := range append(slices.Clone(l.scenarios), l.canary) {
		if s.ID == verdict.Scenario(base) && c.explainScenario(s, base, check, isCheck) {
			return nil
		}
	}
	for _, r := range exitRows() {
		if id == "exit" || id == fmt.Sprintf("exit-%d", r.code) {
			fmt.Fprintf(c.stdout, "exit %-3d  %s\n  when     %s\n  do       %s\n", r.code, r.name, r.when, r.then)
			if id != "exit" {
				return nil
			}
		}
	}
	if id == "exit" {
		return nil
	}
	for _, r := range reasons() {
		if r[0] == id {
			fmt.Fprintf(c.stdout, "%s, the reason of a skip\n  %s\n", r[0], r[1])
			return nil
		}
	}
	if c.explainWord(id) {
		return nil
	}
	words := append(l.words(), topics()...)
	if isCheck {
		words = l.checkWords()
	}
	hint := didYouMean(id, words, "")
	if hint == "" {
		hint = "`stallwright list --guarantees` and `stallwright list --cases` show the IDs"
	}
	return misuse(hint, "nothing is called %q", id)
}

// allLengths is what stands for all words of lengths.
const allLengths = "lengths"

// explainWord explains a word of case files. It returns false when it is none.
func (c *cli) explainWord(word string) bool {
	for _, l := range casefile.Lengths() {
		if word != l.Word && word != allLengths {
			continue
		}
		fmt.Fprintf(c.stdout, "%s, a length of time in case files\n  %s\n  virtual time  %s\n  real time     %s\n", l.Word, l.About, l.Virtual, l.Real)
		if word == l.Word {
			fmt.Fprintf(c.stdout, "\nwith others\n  inactivity/2, 3 heartbeat, heartbeat * 4/7, first-chunk - tick\n  on a server at a URL a clock is worth what --window says of it\n")
			return true
		}
	}
	for _, l := range casefile.Lanes() {
		if word != l.Word {
			continue
		}
		fmt.Fprintf(c.stdout, "%s, a lane of the timeline\n  %s\n\nevents\n", l.Word, l.About)
		for _, e := range l.Events {
			fmt.Fprintf(c.stdout, "  %-12s  %s\n", e.Word, e.About)
		}
		fmt.Fprintf(c.stdout, "\nin a case file\n  %s\n", casefile.EventForm)
		return true
	}
	return word == allLengths
}

func (c *cli) explainGuarantee(g verdict.Guarantee) error {
	l := c.library
	broken, err := l.mutants()
	if err != nil {
		return internal(err)
	}
	source := map[verdict.Source]string{
		verdict.Seed: "from the request lifecycle text", verdict.Protocol: "from a protocol's specification", verdict.Field: "from reports from the field",
	}[g.Source]
	fmt.Fprintf(c.stdout, "%s  %s  %s\n\n  %s\n", g.ID, strings.ToUpper(string(g.Level)), source, g.Statement)
	if g.Why != "" {
		fmt.Fprintf(c.stdout, "\nwhy\n  %s\n", g.Why)
	}
	fmt.Fprintf(c.stdout, "\ntested by\n")
	declared := l.declares(g.ID)
	for _, s := range declared {
		fmt.Fprintf(c.stdout, "  %s\n      %s\n", s.ID, s.Claim)
		var names []string
		for _, one := range c.library.of(s) {
			for _, check := range one.Checks() {
				if check.Guarantee == g.ID && !slices.Contains(names, check.Name) {
					names = append(names, check.Name)
				}
			}
		}
		fmt.Fprintf(c.stdout, "      checks: %s\n", strings.Join(names, ", "))
	}
	for _, s := range standings() {
		if s.guarantee == g.ID {
			fmt.Fprintf(c.stdout, "  every scenario\n      check: %s\n", s.name)
		}
	}
	if declared == nil && !everywhere(g.ID) {
		fmt.Fprintln(c.stdout, "  no scenario yet")
	}
	if ids := mutants.Breaking(broken)[g.ID]; len(ids) > 0 {
		fmt.Fprintf(c.stdout, "\nmutants that break it\n")
		for _, m := range broken {
			if slices.Contains(ids, m.ID) {
				fmt.Fprintf(c.stdout, "  %s: %s\n", m.ID, m.Why)
			}
		}
	}
	if len(l.evidence(g.ID)) > 0 {
		fmt.Fprintf(c.stdout, "\nplay it\n  stallwright run %s\n", g.ID)
	}
	return nil
}

// explainScenario explains a scenario, one of its cases, or one check of it. It returns false when there is none of
// that ID.
func (c *cli) explainScenario(s harness.Scenario, id, check string, isCheck bool) bool {
	var cases []harness.Case
	for _, one := range c.library.of(s) {
		if id == s.ID || id == one.ID() {
			cases = append(cases, one)
		}
	}
	var checks []harness.Check
	for _, one := range cases {
		for _, k := range one.Checks() {
			if (!isCheck || k.Name == check) && !slices.ContainsFunc(checks, func(o harness.Check) bool { return o.Name == k.Name }) {
				checks = append(checks, k)
			}
		}
	}
	var always []standing
	for _, st := range standings() {
		if isCheck && st.name == check {
			always = append(always, st)
		}
	}
	if len(cases) == 0 || isCheck && len(checks)+len(always) == 0 {
		return false
	}
	title := id
	if isCheck {
		title += "::" + check
	}
	fmt.Fprintf(c.stdout, "%s\n\n  %s\n", title, s.Claim)
	needs := slices.Clone(s.Needs)
	if len(cases) == 1 {
		needs = cases[0].Needs()
	}
	if len(needs) > 0 {
		fmt.Fprintf(c.stdout, "\nneeds\n  %s\n", join(needs))
	}
	fmt.Fprintf(c.stdout, "\nchecks\n")
	for _, k := range checks {
		promise := ""
		if g, ok := c.library.guarantee(k.Guarantee); ok {
			promise = "\n      " + g.ID + "  " + strings.ToUpper(string(g.Level)) + "  " + g.Statement
		}
		fmt.Fprintf(c.stdout, "  %s%s\n", k.Name, promise)
	}
	for _, st := range always {
		fmt.Fprintf(c.stdout, "  %s, of every case\n      %s\n", st.name, st.guarantee)
	}
	if len(s.Variants) > 0 {
		fmt.Fprintf(c.stdout, "\ncases\n")
		for _, one := range cases {
			fmt.Fprintf(c.stdout, "  %s\n", one.ID())
		}
	}
	fmt.Fprintf(c.stdout, "\nplay it\n  stallwright run %s\n", title)
	return true
}

func join(features []harness.Feature) string {
	var words []string
	for _, f := range features {
		words = append(words, string(f))
	}
	return strings.Join(words, ", ")
}
