package mcp

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

var update = flag.Bool("update", false, "rewrite mcp.schema.json")

func TestSchemaFileIsUpToDate(t *testing.T) {
	if *update {
		require.NoError(t, os.WriteFile("mcp.schema.json", Schema(), 0o644))
	}
	b, err := os.ReadFile("mcp.schema.json")
	require.NoError(t, err)
	require.Equal(t, string(Schema()), string(b), "run the test with -update")
}

func compiled(t *testing.T) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("mcp.schema.json", doc))
	s, err := c.Compile("mcp.schema.json")
	require.NoError(t, err)
	return s
}

// generic is a YAML file as editors hand it to a schema.
func generic(t *testing.T, file []byte) any {
	var v any
	require.NoError(t, yaml.Unmarshal(file, &v), "%s", file)
	return v
}

func TestScriptsOfFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	s := compiled(t)
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			f, err := Parse(name, b)
			require.NoError(t, err)
			require.NoError(t, s.Validate(generic(t, b)))
			out, err := f.YAML()
			require.NoError(t, err)
			again, err := Parse("again.yaml", out)
			require.NoError(t, err, "%s", out)
			require.Equal(t, f, again)
		})
	}
}

func TestAFileIsRead(t *testing.T) {
	f, err := Parse("f.yaml", []byte(`
name: search
revisions: ["2025-11-25"]
manners: {single: true, get: "405", sessions: {for: 2s, lost-at: restart}, on-cancel: {do: twice, after: 1s}}
ready: add
tools:
  - {name: slow, takes: 5s, progress: {every: 1s, token: always}, effect: after, result: {text: done}}
programs:
  - when: {tool: slow}
    times: any
    on-cancel: {do: ignore}
    steps:
      - progress
      - ask: ping
      - repeat: {times: 2, steps: [log: x, pause: 1s]}
      - error: -32000
      - stop-reading: forever
      - stall: forever
`))
	require.NoError(t, err)
	require.Equal(t, File{
		Name: "search", Ready: []string{"add"},
		Script: Script{
			Revisions: []string{V20251125},
			Manners: Manners{
				Single: true, Get: GetRefused, Lives: Lives{For: 2 * time.Second, LostAt: "restart"},
				OnCancel: OnCancel{AnswerTwice, time.Second},
			},
			Tools: []Tool{{
				Name: "slow", Takes: 5 * time.Second, Progress: Progress{Every: time.Second, Token: AlwaysToken}, Effect: AfterAnswer, Result: Result{Text: "done"},
			}},
			Programs: []Program{{
				When: When{Tool: "slow"}, Times: script.Any, OnCancel: OnCancel{Do: Ignore},
				Steps: []script.Step{
					Progress{}, Ask{Method: "ping"}, script.Repeat{Times: 2, Steps: []script.Step{Log{Text: "x"}, script.Pause{For: time.Second}}},
					Error{Code: -32000}, StopReading{}, fault.Stall{},
				},
			}},
		},
	}, f)
	require.Len(t, f.Play().Tools, 2)
	f.Ready = []string{"all"}
	require.Len(t, f.Play().Tools, 1+len(ReadyTools()))
}

func TestWhatIsWrongWithAFile(t *testing.T) {
	s := compiled(t)
	tests := []struct {
		name, file, want string
		fine             bool // for the schema
	}{
		{"an unknown key", "tols: []", "f.yaml:1:1: the MCP script has no key \"tols\"; did you mean tools?", false},
		{"an unknown step", "programs:\n  - steps:\n      - progres", `f.yaml:3:9: there is no step "progres"; did you mean progress?`, false},
		{"a step of a provider", "programs:\n  - steps: [done]", `there is no step "done"`, false},
		{"an unknown key of a step", "programs:\n  - steps:\n      - result: {txt: x}", `f.yaml:3:18: result has no key "txt"; did you mean text?`, false},
		{"an unknown word", "manners:\n  get: 406", `f.yaml:2:8: get is 406: want a text; put it in quotes`, false},
		{"another unknown word", "manners:\n  delete: hnag", `f.yaml:2:11: delete is "hnag": want 404, 405, hang; did you mean hang?`, false},
		{"an unknown revision", "revisions: [\"2025\"]", `f.yaml:1:1: revision "2025": want one of`, true},
		{"no JSON", "programs:\n  - steps:\n      - notify: {method: x, params: '['}", `f.yaml:3:37: notify: params is "[": want JSON`, true},
		{"a tool without a name", "tools:\n  - {takes: 5s}", `f.yaml:2:5: one of tools lacks name`, false},
		{"a time without a unit", "tools:\n  - {name: x, takes: 5}", `takes is 5, without a unit; did you mean 5s or 5ms?`, false},
		{"an unknown ready tool", "ready: [ad]", `no ready tool is called "ad"; did you mean add?`, true},
		{"a list", "- result", "the MCP script is a list: want a mapping", false},
		{"no steps", "programs:\n  - steps: []", "no steps", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(test.file))
			require.ErrorContains(t, err, test.want)
			require.Equal(t, test.fine, s.Validate(generic(t, []byte(test.file))) == nil)
		})
	}
}

func TestWhatYAMLCannotSay(t *testing.T) {
	_, err := File{Script: Script{Tools: ReadyTools()}}.YAML()
	require.ErrorContains(t, err, `tool "slow_task" runs a function`)
	_, err = File{Script: Script{Tools: []Tool{{}}}}.YAML()
	require.ErrorContains(t, err, "tool 1 has no name")
}

func TestFilesSurviveARoundTrip(t *testing.T) {
	s := compiled(t)
	for seed := range uint64(60) {
		d := dice{rand.New(rand.NewPCG(seed, 7)), checker{words()}}
		f := d.file()
		out, err := f.YAML()
		require.NoError(t, err, "seed %d", seed)
		again, err := Parse("f.yaml", out)
		require.NoError(t, err, "seed %d\n%s", seed, out)
		require.Equal(t, f, again, "seed %d\n%s", seed, out)
		require.NoError(t, s.Validate(generic(t, out)), "seed %d\n%s", seed, out)
	}
}

func TestEveryWordIsDescribed(t *testing.T) {
	l := language()
	all := map[string]reflect.Type{}
	for entry, form := range l.Forms {
		all[entry] = form
	}
	shared := map[string]bool{"CONNECTIONS": true}
	for _, s := range Steps() {
		if all[s.Kind()] = reflect.TypeOf(s); all[s.Kind()].PkgPath() != reflect.TypeFor[File]().PkgPath() {
			shared[s.Kind()] = true
		}
	}
	for entry, form := range all {
		w, own := l.Words[entry]
		require.NotEqual(t, own, shared[entry], entry)
		if !own {
			continue
		}
		require.NotEmpty(t, w.About, entry)
		for i := range form.NumField() {
			if name := key(form.Field(i)); name != "-" {
				require.NotEmpty(t, w.Keys[name].About, "%s.%s", entry, name)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	names, err := filepath.Glob("testdata/*.yaml")
	require.NoError(f, err)
	for _, name := range names {
		b, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Parse("f.yaml", b)
		if err != nil {
			return
		}
		out, err := file.YAML()
		if err != nil { // a header's name that is no UTF-8
			return
		}
		again, err := Parse("again.yaml", out)
		require.NoError(t, err, "%s", out)
		require.Equal(t, normal(t, file), normal(t, again))
	})
}

// normal is a file as it is written: an empty list is as good as none.
func normal(t *testing.T, f File) string {
	b, err := f.YAML()
	require.NoError(t, err)
	return string(b)
}
