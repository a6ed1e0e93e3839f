package scenarios_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/dialects"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/invariant"
	"github.com/stallwright/stallwright/harness/specs"
	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/scenarios"
)

const (
	word = `[a-z][a-z0-9]*(?:-[a-z0-9]+)*`
	part = `[a-z0-9]+(?:-[a-z0-9]+)*`
)

var (
	guaranteeID = regexp.MustCompile(`^` + word + `\.` + word + `$`)
	paragraphID = regexp.MustCompile(`^` + word + `(?:\.` + part + `)*$`)
	scenarioID  = regexp.MustCompile(`^` + word + `/` + word + `$`)
	checkName   = regexp.MustCompile(`^` + word + `$`)
)

// known are the IDs of the catalogue.
func known() map[string]verdict.Guarantee {
	ids := map[string]verdict.Guarantee{}
	for _, g := range scenarios.Catalogue() {
		ids[g.ID] = g
	}
	return ids
}

// wantKnown wants a guarantee that someone names to be in the catalogue.
func wantKnown(t *testing.T, guarantees map[string]verdict.Guarantee, id, by string) {
	t.Helper()
	_, ok := guarantees[id]
	require.True(t, ok, "%s names %q, which is not in the catalogue", by, id)
}

func TestGuarantees(t *testing.T) {
	ids, statements := map[string]bool{}, map[string]bool{}
	var areas []string
	for _, g := range scenarios.Catalogue() {
		require.Regexp(t, guaranteeID, g.ID)
		require.False(t, ids[g.ID], "%s stands twice in the catalogue", g.ID)
		ids[g.ID] = true
		if len(areas) == 0 || areas[len(areas)-1] != g.Area() {
			require.NotContains(t, areas, g.Area(), "%s stands apart from its area", g.ID)
			areas = append(areas, g.Area())
		}
		require.Contains(t, []verdict.Level{verdict.Must, verdict.Should, verdict.Info}, g.Level, g.ID)
		require.Contains(t, []verdict.Source{verdict.Seed, verdict.Protocol, verdict.Field}, g.Source, g.ID)
		wantSentence(t, g.ID, g.Statement)
		wantSentence(t, g.ID, g.Why)
		require.False(t, statements[g.Statement], "%s says what another guarantee says", g.ID)
		statements[g.Statement] = true
	}
}

func TestSeed(t *testing.T) {
	guarantees := known()
	ids, covered := map[string]bool{}, map[string]bool{}
	for _, p := range scenarios.Seed() {
		require.Regexp(t, paragraphID, p.ID)
		require.False(t, ids[p.ID], "%s stands twice in the map", p.ID)
		ids[p.ID] = true
		require.NotEmpty(t, p.Title, p.ID)
		wantSentence(t, p.ID, p.Text)
		require.Equal(t, len(p.Guarantees) == 0, strings.HasPrefix(p.Text, "Nothing is promised"), "%s says whether it promises anything", p.ID)
		for i, id := range p.Guarantees {
			wantKnown(t, guarantees, id, p.ID)
			require.NotContains(t, p.Guarantees[:i], id, "%s names it twice", p.ID)
			covered[id] = true
		}
	}
	for id, g := range guarantees {
		if g.Source == verdict.Seed {
			require.True(t, covered[id], "%s comes from the text, but no paragraph names it", id)
		}
	}
}

// wantSentence wants a text that begins with a capital and ends with a full stop.
func wantSentence(t *testing.T, id, text string) {
	t.Helper()
	require.Regexp(t, `(?s)^[A-Z].*[^.]\.$`, text, "of %s", id)
}

func TestScenariosAreWellFormed(t *testing.T) {
	guarantees := known()
	ids := map[string]bool{}
	for _, s := range append(scenarios.All(), scenarios.Canary()) {
		canary := s.ID == scenarios.Canary().ID
		require.Regexp(t, scenarioID, s.ID)
		require.NotEmpty(t, s.Claim, s.ID)
		var areas []string
		variants := map[string]bool{}
		for _, v := range s.Variants { // cases of one name are taken for one that differs in its dialect alone
			require.False(t, variants[v.Name], "%s has two variants %s", s.ID, v.Name)
			variants[v.Name] = true
		}
		for _, c := range s.Cases(slices.Concat(dialects.Names(), dialects.Flavours())...) {
			require.False(t, ids[c.ID()], "%s stands twice", c.ID())
			ids[c.ID()] = true
			require.True(t, c.Variant.Play != nil || s.Play != nil, "%s plays nothing", c.ID())
			if c.Variant.Set.Approval != harness.NoApproval { // a server that somebody else started is not known to be set up so
				require.Contains(t, c.Needs(), harness.Approvals, c.ID())
			}
			names := map[string]bool{}
			require.NotEmpty(t, c.Checks(), c.ID())
			for _, check := range c.Checks() {
				id := c.ID() + "::" + check.Name
				require.Regexp(t, checkName, check.Name, c.ID())
				require.False(t, names[check.Name], "%s stands twice", id)
				names[check.Name] = true
				require.NotEmpty(t, check.Noun, id)
				require.NotNil(t, check.Expect, id)
				if canary {
					require.Empty(t, check.Guarantee, id)
					continue
				}
				wantKnown(t, guarantees, check.Guarantee, id)
				areas = append(areas, guarantees[check.Guarantee].Area())
			}
		}
		// The family sequential is one question, asked of the guarantees of tools.
		if area, _, _ := strings.Cut(s.ID, "/"); !canary && area != "sequential" {
			require.Contains(t, areas, area, "%s has no check for a guarantee of its own area", s.ID)
		}
	}
}

func TestInvariantsNameGuarantees(t *testing.T) {
	guarantees := known()
	for _, v := range invariant.All() {
		wantKnown(t, guarantees, v.Guarantee, v.Name)
	}
}

func TestEachScenarioHasItsFileAndIsListed(t *testing.T) {
	var listed []string
	for _, s := range scenarios.All() {
		require.NotContains(t, listed, s.ID, "All lists it twice")
		listed = append(listed, s.ID)
	}
	written := map[string]bool{}
	for name, f := range sources(t) {
		ids := declared(t, name, f)
		if slices.Equal(ids, []string{scenarios.Canary().ID}) {
			continue // no claim about a guarantee, and so not among All
		}
		require.LessOrEqual(t, len(ids), 1, "%s holds more than one scenario", name)
		for _, id := range ids {
			assert.Equal(t, specs.File(id), name, "the file of %s", id)
			assert.True(t, slices.Contains(listed, id), "%s is not in All: %s", id, name)
			written[id] = true
		}
	}
	for _, id := range listed {
		assert.True(t, written[id], "%s has no file %s", id, specs.File(id))
	}
}

// declared are the IDs of the scenarios that a file writes down.
func declared(t *testing.T, name string, f *ast.File) []string {
	var ids []string
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || !isScenario(lit.Type) || len(lit.Elts) == 0 {
			return true
		}
		id := ""
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "ID" {
				continue
			}
			if value, ok := kv.Value.(*ast.BasicLit); ok {
				id, _ = strconv.Unquote(value.Value)
			}
		}
		require.NotEmpty(t, id, "%s: the ID of a scenario is written out", name)
		ids = append(ids, id)
		return true
	})
	return ids
}

// isScenario says whether a type is written harness.Scenario.
func isScenario(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Scenario" {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "harness"
}

func TestScenariosOnlyScriptActAndAwait(t *testing.T) {
	for name, f := range sources(t) {
		require.Empty(t, misdeeds(f), name)
	}
}

func TestMisdeedsAreFound(t *testing.T) {
	for _, test := range []struct {
		name, source string
		want         []string
	}{
		{"a plain file is fine", `package p; import "time"; func f() time.Duration { return time.Second }`, nil},
		{"testing is not for scenarios", `package p; import "testing"; var _ testing.TB`, []string{"imports testing"}},
		{"neither is virtual time", `package p; import _ "testing/synctest"`, []string{"imports testing/synctest"}},
		{"nor Ginkgo", `package p; import _ "github.com/onsi/ginkgo/v2"`, []string{"imports github.com/onsi/ginkgo/v2"}},
		{"nor the reference server", `package p; import _ "github.com/stallwright/stallwright/lifecycle/server"`,
			[]string{"imports github.com/stallwright/stallwright/lifecycle/server"}},
		{"a goroutine is found", `package p; func f() { go f() }`, []string{"starts a goroutine"}},
		{"a sleep is found", `package p; import "time"; func f() { time.Sleep(1) }`, []string{"calls time.Sleep"}},
		{"a sleep by another name is found", `package p; import clock "time"; var f = clock.Sleep`, []string{"calls time.Sleep"}},
		{"another Sleep is fine", `package p; func f(time interface{ Sleep(int) }) { time.Sleep(1) }`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := parser.ParseFile(token.NewFileSet(), "p.go", test.source, 0)
			require.NoError(t, err)
			require.Equal(t, test.want, misdeeds(f))
		})
	}
}

// misdeeds are what a file does that a scenario must not.
func misdeeds(f *ast.File) []string {
	var found []string
	clock := ""
	for _, i := range f.Imports {
		to, _ := strconv.Unquote(i.Path.Value)
		for _, barred := range []string{"testing", "github.com/onsi/ginkgo", "github.com/stallwright/stallwright/lifecycle"} {
			if to == barred || strings.HasPrefix(to, barred+"/") {
				found = append(found, "imports "+to)
			}
		}
		if to == "time" {
			clock = "time"
			if i.Name != nil {
				clock = i.Name.Name
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, "starts a goroutine")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && clock != "" && x.Name == clock && n.Sel.Name == "Sleep" {
				found = append(found, "calls time.Sleep")
			}
		}
		return true
	})
	return found
}

// sources are the parsed files of this folder, tests aside, by name.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	files := map[string]*ast.File{}
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		require.NoError(t, err)
		files[e.Name()] = f
	}
	return files
}
