// Package stallwright_test checks the rules that no single package can check for itself.
package stallwright_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/stallwright/stallwright/"

// TestImports walks all files of the module, tests and every platform's included.
func TestImports(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			return enter(name)
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			to, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			if rule := broken(name, to); rule != "" {
				t.Errorf("%s imports %s: %s", name, to, rule)
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.NotZero(t, files)
}

// enter leaves out the folders that the go command leaves out: hidden ones, testdata and other modules.
func enter(dir string) error {
	if dir == "." {
		return nil
	}
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(filepath.FromSlash(dir), "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// suite may import everything: it plays the scenarios on the reference server.
const suite = "scenarios/suite_test.go"

// Who may import whom inside the folders: a package those of a lower rank. Packages of one rank in harness may import each
// other, fakes may not: each works alone.
var (
	fakeRanks = map[string]int{
		"timeline": 0, "fault": 0, "script": 1, "wire": 2, "provider": 3, "mcp": 3, "approver": 3, "collector": 3, "admin": 4, "dialects": 4, "proof": 5,
	}
	harnessRanks = map[string]int{
		"verdict": 0, "expect": 1, "invariant": 1, "caller": 1, "overlap": 2, "": 2,
		"bubble": 3, "process": 3, "worker": 3, "specs": 3, "casefile": 3, "reference": 3, "census": 3, "soak": 4,
	}
)

// broken is the rule that an import breaks, or "". The file is relative to the module's root, with slashes.
func broken(file, to string) string {
	from, test := path.Dir(file), strings.HasSuffix(file, "_test.go")
	switch {
	case to == "testing/synctest" && under(from, "scenarios"):
		return "scenarios let time go by with Pass"
	case to == "testing/synctest" && !test && from != fixtures && from != "harness/bubble":
		return "outside of tests only harness/bubble moves virtual time"
	case under(to, "github.com/onsi/ginkgo") && from != "harness/specs" && file != suite:
		return "only harness/specs and the suite know Ginkgo"
	case from == "lifecycle/run" && (to == "net/http" || slices.ContainsFunc([]string{"llm", "tools", "server"}, func(p string) bool { return under(to, module+"lifecycle/"+p) })):
		return "a run knows no provider, MCP or HTTP"
	}
	to, ours := strings.CutPrefix(to, module)
	if !ours || file == suite || under(from, "cmd") {
		return ""
	}
	top, _, _ := strings.Cut(from, "/")
	switch {
	case under(to, "cmd"):
		return "nothing imports a command"
	case under(to, "lifecycle") && !under(from, "lifecycle") && from != "harness/reference":
		return "only harness/reference and cmd know the reference server"
	case to == "harness/reference" && from != to:
		return "only cmd and the suite choose the reference server"
	}
	switch top {
	case "lifecycle":
		if !under(to, "lifecycle") {
			return "the reference server imports nothing of the tool"
		}
	case "fakes":
		return brokenByFake(from, to, test)
	case "harness":
		return brokenByHarness(from, to)
	case "scenarios":
		if !under(to, "harness") && !under(to, "fakes") && !under(to, "scenarios") {
			return "scenarios import harness and fakes"
		}
	case "reports":
		if to != "harness/verdict" && to != "fakes/timeline" && !under(to, "reports") {
			return "reports import harness/verdict and fakes/timeline"
		}
	case "examples":
		if !test || to != "scenarios" && to != "harness/casefile" && to != "fakes/script" && to != "fakes/mcp" {
			return "only the test of the examples imports what reads them"
		}
	default:
		return "no rule allows this folder to import the module"
	}
	return ""
}

// fixtures is what the tests of dialects share.
const fixtures = "fakes/provider/fixture"

func brokenByFake(from, to string, test bool) string {
	if !under(to, "fakes") {
		return "fakes import only fakes"
	}
	if to == fixtures && !test {
		return "only tests of dialects know their fixtures"
	}
	test = test || from == fixtures // it serves tests alone
	me, it := member(from), member(to)
	if me == it {
		return ""
	}
	if it == "memnet" {
		if test {
			return ""
		}
		return "only tests of fakes know memnet"
	}
	mine, ok := fakeRanks[me]
	its, known := fakeRanks[it]
	switch {
	case me == "memnet":
		return "memnet is a leaf"
	case !ok || !known:
		return "a fake without a rank: give it one in this test"
	case its >= mine:
		return "fakes import downwards: timeline, fault ← script ← wire ← provider, mcp, approver, collector"
	}
	return ""
}

func brokenByHarness(from, to string) string {
	if under(to, "fakes") && from != "harness/verdict" {
		return ""
	}
	if !under(to, "harness") {
		if from == "harness/reference" && under(to, "lifecycle") {
			return ""
		}
		return "harness imports fakes, verdict nothing of ours"
	}
	mine, ok := harnessRanks[member(from)]
	its, known := harnessRanks[member(to)]
	switch {
	case !ok || !known:
		return "a package of harness without a rank: give it one in this test"
	case its > mine:
		return "harness imports downwards: verdict ← expect, invariant, caller ← harness ← bubble, process, worker, specs, casefile"
	}
	return ""
}

// member is the part of a path below its top folder, one step deep: provider of fakes/provider/openai.
func member(dir string) string {
	_, rest, _ := strings.Cut(dir, "/")
	first, _, _ := strings.Cut(rest, "/")
	return first
}

// under says whether a path is that folder or inside it.
func under(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, folder+"/")
}

func TestBrokenRules(t *testing.T) {
	for _, test := range []struct {
		name, file, to string
		allowed        bool
	}{
		{"anyone imports the standard library", "lifecycle/run/run.go", "context", true},
		{"a command imports everything", "cmd/stallwright/serve.go", module + "lifecycle/server", true},
		{"nothing imports a command", "scenarios/all.go", module + "cmd/stallwright", false},

		{"the bubble moves virtual time", "harness/bubble/bubble.go", "testing/synctest", true},
		{"tests move virtual time", "lifecycle/run/run_test.go", "testing/synctest", true},
		{"nothing else does", "harness/worker/main.go", "testing/synctest", false},
		{"tests of scenarios do not", "scenarios/catalogue_test.go", "testing/synctest", false},
		{"specs know Ginkgo", "harness/specs/specs.go", "github.com/onsi/ginkgo/v2", true},
		{"the suite knows Ginkgo", suite, "github.com/onsi/ginkgo/v2", true},
		{"other tests do not", "scenarios/catalogue_test.go", "github.com/onsi/ginkgo/v2", false},
		{"commands do not", "cmd/stallwright/run.go", "github.com/onsi/ginkgo/v2/types", false},

		{"lifecycle imports itself", "lifecycle/server/server.go", module + "lifecycle/run", true},
		{"lifecycle imports no fake", "lifecycle/server/server.go", module + "fakes/memnet", false},
		{"nor do its tests", "lifecycle/server/server_test.go", module + "fakes/memnet", false},
		{"a run knows no HTTP", "lifecycle/run/run.go", "net/http", false},
		{"a run knows no provider", "lifecycle/run/run.go", module + "lifecycle/llm/openai", false},
		{"a run knows no MCP", "lifecycle/run/run.go", module + "lifecycle/tools", false},
		{"the reference target imports lifecycle", "harness/reference/reference.go", module + "lifecycle/server", true},
		{"other stages do not", "harness/bubble/bubble.go", module + "lifecycle/server", false},
		{"nor do they import the reference target", "harness/worker/main.go", module + "harness/reference", false},

		{"a fake imports what lies below", "fakes/provider/openai/openai.go", module + "fakes/script", true},
		{"a fake imports its own parts", "fakes/provider/openai/openai.go", module + "fakes/provider", true},
		{"a fake imports nothing above", "fakes/script/script.go", module + "fakes/wire", false},
		{"a fake imports none beside it", "fakes/provider/play.go", module + "fakes/mcp", false},
		{"a fake imports no harness", "fakes/provider/play.go", module + "harness/verdict", false},
		{"a fake does not import memnet", "fakes/provider/play.go", module + "fakes/memnet", false},
		{"its tests do", "fakes/provider/play_test.go", module + "fakes/memnet", true},
		{"memnet imports nothing of ours", "fakes/memnet/conn.go", module + "fakes/fault", false},
		{"a new fake needs a rank", "fakes/queue/queue.go", module + "fakes/wire", false},

		{"harness imports fakes", "harness/trial.go", module + "fakes/script", true},
		{"verdict imports nothing of ours", "harness/verdict/verdict.go", module + "fakes/timeline", false},
		{"harness imports what lies below", "harness/judge.go", module + "harness/invariant", true},
		{"what lies below does not import harness", "harness/expect/happens.go", module + "harness", false},
		{"a stage imports harness", "harness/process/process.go", module + "harness", true},
		{"harness imports no stage", "harness/stage.go", module + "harness/bubble", false},
		{"harness imports no report", "harness/judge.go", module + "reports", false},

		{"scenarios import harness", "scenarios/run_one_ending.go", module + "harness/caller", true},
		{"scenarios import fakes", "scenarios/run_one_ending.go", module + "fakes/fault", true},
		{"scenarios import no lifecycle", "scenarios/run_one_ending.go", module + "lifecycle/run", false},
		{"scenarios do not choose the target", "scenarios/run_one_ending.go", module + "harness/reference", false},
		{"the suite does", suite, module + "harness/reference", true},
		{"reports import verdicts", "reports/junit/junit.go", module + "harness/verdict", true},
		{"reports import the timeline", "reports/html/html.go", module + "fakes/timeline", true},
		{"reports import no harness", "reports/html/html.go", module + "harness", false},
		{"the test of the examples imports what reads them", "examples/examples_test.go", module + "harness/casefile", true},
		{"examples import nothing", "examples/plain/main.go", module + "fakes/script", false},
		{"other folders import nothing", "docs/plain/main.go", module + "fakes/provider", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			rule := broken(test.file, test.to)
			require.Equal(t, test.allowed, rule == "", rule)
		})
	}
}
