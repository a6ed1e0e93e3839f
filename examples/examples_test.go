// Package examples_test checks that the examples are what docs/reports.md says they are.
package examples_test

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness/casefile"
	"github.com/stallwright/stallwright/scenarios"
)

// numbers are those of the reports; some are missing between them.
const numbers = `
B001 B003 B005 B006 B007 B012 B013 B014 B015 B016 B020 B022 B023 B024 B025 B028 B029 B030 B031 B034 B037 B038
B039 B041 B043 B046 B047 B048 B050 B051 B052 B053 B054 B055 B060 B061 B062 B064 B065 B066 B067 B068 B073 B075
B076 B077 B078 B079 B080 B081 B082 B083 B084 B088 B089 B091 B092 B093 B098 B099 B102 B103 B106 B107 B111 B112
B113 B114 B116 B117 B118 B119 B120 B123 B124 B125 B127 B128 B131 B132 B137 B138 B139 B140 B144 B145 B146 B148
B149 B150 B152 B153 B156 B157 B160 B162 B165 B166 B167 B168 B169 B170 B171 B172 B173 B178 B179 B182 B183 B184
B187 B188 B190 B191 B192 B195 B196 B198 B200 B201 B203 B204 B205 B206 B212 B213 B214 B215 B216 B217 B221 B222
B223 B225 B226 B227 B232 B233 B234 B238 B239 B240 B243 B244 B245 B249 B250 B251 B253 B254 B255 B256 B259 B261
B262 B265 B266 B268 B269 B270 B272 B273 B274 B277 B283 B284 B285 B286 B287 B288 B290 B291 B292 B296 B297 B298
B299 B300 B301 B304 B305 B306 B307 B308 B313 B314 B315
`

// report is a row of the table.
type report struct {
	number, class, where, what string
	files                      []string // that play it, from here
	scenarios                  []string
	rest                       []string // of the last column, in words
}

var (
	fileLink     = regexp.MustCompile(`^(case|script|MCP script) \[([a-z0-9-]+)\]\(\.\./examples/([a-z/]+/[a-z0-9-]+\.yaml)\)$`)
	scenarioLink = regexp.MustCompile("^scenario `([a-z0-9/@-]+)`$")
	inWords      = regexp.MustCompile("^(needs (approvals|orchestration|telemetry|process restart): later|(cannot be expressed|in part): .+)$")
	reportedAt   = regexp.MustCompile(`^\[[^\]]+, \d{4}-\d{2}[^\]]*\]\(https://github\.com/[^)]+\)$`)
)

func reports(t *testing.T) []report {
	doc, err := os.ReadFile("../docs/reports.md")
	require.NoError(t, err)
	var out []report
	for line := range strings.Lines(string(doc)) {
		if !strings.HasPrefix(line, "| B") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		require.Len(t, cells, 5, line)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		r := report{number: cells[0], class: cells[1], where: cells[2], what: cells[3]}
		for _, entry := range strings.Split(cells[4], "; ") {
			if m := fileLink.FindStringSubmatch(entry); m != nil {
				require.Equal(t, m[2]+".yaml", path.Base(m[3]), line)
				require.Equal(t, m[1], played(path.Dir(m[3])), line)
				r.files = append(r.files, m[3])
			} else if m := scenarioLink.FindStringSubmatch(entry); m != nil {
				r.scenarios = append(r.scenarios, m[1])
			} else {
				r.rest = append(r.rest, entry)
			}
		}
		out = append(out, r)
	}
	return out
}

// played is what the files of a folder are.
func played(folder string) string {
	switch path.Base(folder) {
	case "mcp":
		return "MCP script"
	case "scripts":
		return "script"
	}
	return "case"
}

func TestEachReportHasOneRow(t *testing.T) {
	classes := regexp.MustCompile(`^[A-Z]{3,7}$`)
	var seen []string
	for _, r := range reports(t) {
		seen = append(seen, r.number)
		require.Regexp(t, classes, r.class, r.number)
		require.Regexp(t, reportedAt, r.where, r.number)
		require.NotEmpty(t, r.what, r.number)
		require.NotZero(t, len(r.files)+len(r.scenarios)+len(r.rest), "%s says nowhere how it is played", r.number)
		for i, words := range r.rest {
			require.Regexp(t, inWords, words, r.number)
			if strings.HasPrefix(words, "in part: ") {
				require.NotZero(t, len(r.files)+len(r.scenarios), "%s: of what?", r.number)
			}
			require.Equal(t, i, slices.Index(r.rest, words), "%s says twice %q", r.number, words)
		}
	}
	want := strings.Fields(numbers)
	require.Len(t, want, 187)
	require.Equal(t, want, seen)
}

func TestScenariosOfReportsExist(t *testing.T) {
	known := map[string]bool{}
	for _, s := range scenarios.All() {
		known[s.ID] = true
		for _, c := range s.Cases() {
			known[c.ID()] = true
		}
	}
	for _, r := range reports(t) {
		for _, id := range r.scenarios {
			require.True(t, known[id], "%s: there is no scenario %s", r.number, id)
		}
	}
}

// The comment of a file names the reports that it is for, and the table names the file with each of them.
func TestFilesOfReportsAreLinked(t *testing.T) {
	linked := map[string][]string{}
	for _, r := range reports(t) {
		for _, f := range r.files {
			require.NotContains(t, linked[f], r.number, "%s names %s twice", r.number, f)
			linked[f] = append(linked[f], r.number)
		}
	}
	number := regexp.MustCompile(`\bB\d{3}\b`)
	for _, pattern := range []string{"reports/*.yaml", "reports/scripts/*.yaml", "reports/scripts/mcp/*.yaml"} {
		for _, f := range glob(t, pattern, 15) {
			var named []string
			for line := range strings.Lines(read(t, f)) {
				if strings.HasPrefix(line, "#") {
					named = append(named, number.FindAllString(line, -1)...)
				}
			}
			require.Equal(t, linked[f], named, f)
			delete(linked, f)
		}
	}
	for f, by := range linked { // the examples for everyone name no report
		require.FileExists(t, f, by)
	}
}

func TestCasesCheck(t *testing.T) {
	var guarantees []string
	for _, g := range scenarios.Catalogue() {
		guarantees = append(guarantees, g.ID)
	}
	in := map[string]string{}
	for _, s := range append(scenarios.All(), scenarios.Canary()) {
		in[s.ID] = "the suite"
	}
	hit := glob(t, "cases/*.yaml", 20)
	require.Len(t, hit, 20, "those that people hit most are twenty")
	for _, f := range slices.Concat(hit, glob(t, "reports/*.yaml", 60)) {
		c, err := casefile.Parse(f, []byte(read(t, f)), guarantees)
		require.NoError(t, err)
		require.Empty(t, in[c.Scenario.ID], "%s has the ID %s", f, c.Scenario.ID)
		in[c.Scenario.ID] = f
	}
}

func TestScriptsCheck(t *testing.T) {
	for _, f := range glob(t, "reports/scripts/*.yaml", 15) {
		text := read(t, f)
		_, err := script.Parse(f, []byte(text))
		require.NoError(t, err)
		tidy, err := script.Format(f, []byte(text))
		require.NoError(t, err)
		require.Equal(t, text, string(tidy), "stallwright script fmt -w")
	}
}

func TestMCPScriptsCheck(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(mcp.Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("mcp.schema.json", doc))
	schema, err := c.Compile("mcp.schema.json")
	require.NoError(t, err)
	named := regexp.MustCompile(`^# yaml-language-server: \$schema=(\S+/mcp\.schema\.json)\n#\n# `)
	for _, f := range slices.Concat(glob(t, "scripts/mcp/*.yaml", 3), glob(t, "reports/scripts/mcp/*.yaml", 20)) {
		text := read(t, f)
		got, err := mcp.Parse(f, []byte(text))
		require.NoError(t, err)
		require.NotEmpty(t, got.About, f)
		tidy, err := mcp.Format(f, []byte(text))
		require.NoError(t, err)
		require.Equal(t, text, string(tidy), "stallwright script fmt -w")
		var v any
		require.NoError(t, yaml.Unmarshal([]byte(text), &v))
		require.NoError(t, schema.Validate(v), f)
		m := named.FindStringSubmatch(text)
		require.NotNil(t, m, "%s names its schema first, and then says what it is for", f)
		require.FileExists(t, path.Join(path.Dir(f), m[1]))
	}
}

// glob lists files, of which there must be so many at least.
func glob(t *testing.T, pattern string, least int) []string {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), least, pattern)
	for i := range files {
		files[i] = filepath.ToSlash(files[i])
	}
	return files
}

func read(t *testing.T, name string) string {
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(b)
}
