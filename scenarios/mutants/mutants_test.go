package mutants

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// good is a file without a mistake; edits replaces parts of it.
const good = `id = "forgets-end"
file = "lifecycle/server/stream.go"
func = "(*stream).finish"
find = 's.end()'
replace = ''
breaks = ["stream.one-terminal", "stream.order"]
signature = "count/terminal-frame"
why = "A client that never sees the end waits for ever."
`

func TestLoad(t *testing.T) {
	ms, err := Load(fstest.MapFS{
		"forgets-end.toml": {Data: []byte(good)},
		"a.toml":           {Data: []byte(strings.Replace(good, "forgets-end", "a", 1) + "scenario = \"stream/**\"\nfind2 = 1\n")[:len(good)+4]},
		"README.md":        {Data: []byte("not a mutant")},
	})
	require.Error(t, err, "the second file is cut in the middle")
	require.Contains(t, err.Error(), "scenarios/mutants/a.toml:9:")
	require.Nil(t, ms)

	ms, err = Load(fstest.MapFS{
		"forgets-end.toml": {Data: []byte(good)},
		"a.toml":           {Data: []byte(strings.NewReplacer("forgets-end", "a", "(*stream)", "stream", "s.end", "s.stop").Replace(good) + "scenario = 'stream/**'\ntime = 'real'\n")},
	})
	require.NoError(t, err)
	require.Len(t, ms, 2)
	require.Equal(t, "a", ms[0].ID)
	require.Equal(t, []string{"stream/**"}, ms[0].Patterns())
	require.Equal(t, Real, ms[0].Time)
	require.Equal(t, Mutant{
		ID: "forgets-end", File: "lifecycle/server/stream.go", Func: "stream.finish", Find: "s.end()",
		Breaks: []string{"stream.one-terminal", "stream.order"}, Signature: "count/terminal-frame",
		Why: "A client that never sees the end waits for ever.",
	}, ms[1])
	require.Equal(t, ms[1].Breaks, ms[1].Patterns())
	require.Equal(t, map[string][]string{"stream.one-terminal": {"a", "forgets-end"}, "stream.order": {"a", "forgets-end"}}, Breaking(ms))
}

func TestLoadErrors(t *testing.T) {
	tests := []struct {
		name     string
		old, new string
		want     []string
	}{
		{"an unknown key is named with its place", "why =", "wy =", []string{"forgets-end.toml:8:1: unknown key wy; the nearest is why"}},
		{"a missing key is named", "signature = \"count/terminal-frame\"\n", "", []string{"forgets-end.toml: signature is missing"}},
		{"a missing replacement is not an empty one", "replace = ''\n", "", []string{"replace is missing"}},
		{"an empty find is refused", "'s.end()'", "''", []string{"find is empty"}},
		{"no TOML", "id =", "id :", []string{"forgets-end.toml:1:"}},
		{"a value of another type", `"count/terminal-frame"`, "3", []string{"forgets-end.toml:7:"}},
		{"an ID that is not the file's name", `"forgets-end"`, `"forgets"`, []string{`id is "forgets", want the file's name "forgets-end"`}},
		{"an ID of other characters", `"forgets-end"`, `"Forgets_end"`, []string{`id is "Forgets_end", want the form`}},
		{"a file outside of the server", "lifecycle/", "harness/", []string{`file is "harness/server/stream.go"`}},
		{"a file that climbs out", "lifecycle/", "lifecycle/../", []string{"want a Go file under lifecycle/"}},
		{"a test file", "stream.go", "stream_test.go", []string{"that is not a test"}},
		{"a function of no known form", "(*stream).finish", "stream.finish()", []string{"func is"}},
		{"no guarantee", `["stream.one-terminal", "stream.order"]`, "[]", []string{"breaks names 0 guarantees"}},
		{"too many guarantees", `["stream.one-terminal", "stream.order"]`, `["a.a", "a.b", "a.c", "a.d"]`, []string{"breaks names 4 guarantees"}},
		{"the same guarantee twice", "stream.order", "stream.one-terminal", []string{"breaks names stream.one-terminal twice"}},
		{"something that is no guarantee", "stream.order", "stream/order", []string{`breaks is "stream/order"`}},
		{"a signature of no known form", "count/terminal-frame", "count", []string{`signature is "count"`}},
		{"a replacement that changes nothing", "replace = ''", "replace = 's.end()'", []string{"nothing is broken"}},
		{"a time that is neither", "why =", "time = \"virtual\"\nwhy =", []string{`time is "virtual", want real or nothing`}},
		{"all that is wrong at once", "lifecycle/", "harness/\"\nwy = \"", []string{"unknown key wy"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Contains(t, good, test.old)
			_, err := Load(fstest.MapFS{"forgets-end.toml": {Data: []byte(strings.Replace(good, test.old, test.new, 1))}})
			require.Error(t, err)
			for _, want := range test.want {
				require.Contains(t, err.Error(), want)
			}
		})
	}

	t.Run("the errors of all files come together", func(t *testing.T) {
		_, err := Load(fstest.MapFS{
			"a.toml":           {Data: []byte(strings.Replace(good, "forgets-end", "a", 1))},
			"b.toml":           {Data: []byte("id = 'b'")},
			"forgets-end.toml": {Data: []byte(good)},
			"z.toml":           {Data: []byte("id = ")},
		})
		require.ErrorContains(t, err, "b.toml: file is missing")
		require.ErrorContains(t, err, "b.toml: why is missing")
		require.ErrorContains(t, err, "forgets-end.toml: makes the same edit as a.toml")
		require.ErrorContains(t, err, "z.toml:1:")
	})
}

func TestAll(t *testing.T) {
	_, err := All()
	require.NoError(t, err)
	_, err = files.ReadFile("README.md")
	require.NoError(t, err)
	_, err = files.ReadFile("mutants.go")
	require.Error(t, err, "sources are not embedded")
}

// The server as it is has the text that each mutant replaces: an edit of the server that forgets its mutants shows here, in a second.
func TestEachMutantFitsTheServer(t *testing.T) {
	all, err := All()
	require.NoError(t, err)
	_, err = Overlay("../..", all, t.TempDir())
	require.NoError(t, err)
}

func TestCheck(t *testing.T) {
	ms := []Mutant{{ID: "a", Breaks: []string{"cancel.propagates", "stream.ordr"}}, {ID: "b", Breaks: []string{"leak.gorotines"}}}
	err := Check(ms, []string{"cancel.propagates", "leak.goroutines", "stream.order"})
	require.EqualError(t, err, "scenarios/mutants/a.toml: breaks: there is no guarantee stream.ordr; the nearest is stream.order\n"+
		"scenarios/mutants/b.toml: breaks: there is no guarantee leak.gorotines; the nearest is leak.goroutines")
	require.NoError(t, Check(ms[:0], nil))
}

func TestSelect(t *testing.T) {
	ms := []Mutant{{ID: "a"}, {ID: "bc"}}
	got, err := Select(ms, []string{"bc", "bc"})
	require.NoError(t, err)
	require.Equal(t, ms[1:], got)
	_, err = Select(ms, []string{"bd", "a", "x"})
	require.EqualError(t, err, "there is no mutant bd; the nearest is bc\nthere is no mutant x; the nearest is a")
}
