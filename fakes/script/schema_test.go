package script

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite script.schema.json")

func TestSchemaFileIsUpToDate(t *testing.T) {
	if *update {
		require.NoError(t, os.WriteFile("script.schema.json", Schema(), 0o644))
	}
	b, err := os.ReadFile("script.schema.json")
	require.NoError(t, err)
	require.Equal(t, string(Schema()), string(b), "run the test with -update")
}

func compiled(t *testing.T) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("script.schema.json", doc))
	s, err := c.Compile("script.schema.json")
	require.NoError(t, err)
	return s
}

// generic is a YAML file as editors hand it to a schema.
func generic(t *testing.T, file []byte) any {
	var v any
	require.NoError(t, yaml.Unmarshal(bytes.TrimPrefix(file, []byte("\ufeff")), &v), "%s", file)
	return texts(v)
}

// texts puts a string where bytes stand: in JSON they are none.
func texts(v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case []any:
		for i := range v {
			v[i] = texts(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = texts(v[k])
		}
	}
	return v
}

func TestSchemaAllowsWhatParseReads(t *testing.T) {
	s := compiled(t)
	for seed := range uint64(100) {
		b, err := newDice(seed, 2).file().YAML()
		require.NoError(t, err)
		require.NoError(t, s.Validate(generic(t, b)), "seed %d\n%s", seed, b)
	}
	for _, test := range goodFiles {
		require.NoError(t, s.Validate(generic(t, []byte(test.file))), test.name)
	}
}

func TestSchemaRefuses(t *testing.T) {
	s := compiled(t)
	for _, test := range []struct{ name, file string }{
		{"a text", "hello"},
		{"a file without programs or steps", "about: x"},
		{"programs beside steps", "programs: []\nsteps: [ping]"},
		{"an unknown key of the file", "abuot: x\nsteps: [ping]"},
		{"an unknown step", "- stal: 5s"},
		{"an unknown bare step", "- pong"},
		{"a bare step that needs more", "- text"},
		{"two kinds in one step", "- {ping: null, empty: null}"},
		{"an unknown key of a step", "- text: {chunks: [a], evry: 5s}"},
		{"a step without a key that it needs", "- text: {every: 5s}"},
		{"a number in place of a text", "- text: [1]"},
		{"a text in place of a number", "- usage: {prompt: x, completion: 1}"},
		{"a duration without a unit", "- pause: 5"},
		{"a negative duration", "- pause: -5s"},
		{"a pause without end", "- pause: forever"},
		{"an unknown form", "- keepalive: {form: coment, every: 5s}"},
		{"an unknown way to garble", "- garble: brace-less"},
		{"a step that takes nothing", "- cut: now"},
		{"a wrong step in a repeat", "- repeat: {times: 2, steps: [pong]}"},
		{"a word for the times of a program", "programs: [{times: some, steps: [ping]}]"},
		{"an unknown condition", "programs: [{when: {steam: true}, steps: [ping]}]"},
		{"a program without steps", "programs: [{times: 1}]"},
		{"a batch of one", "- batch: 1"},
	} {
		require.Error(t, s.Validate(generic(t, []byte(test.file))), test.name)
		_, err := Parse("f.yaml", []byte(test.file))
		require.Error(t, err, test.name)
	}
}

func TestEveryWordIsDescribed(t *testing.T) {
	all := words()
	require.Len(t, all, len(forms()))
	for entry, form := range forms() {
		w, ok := all[entry]
		require.True(t, ok, entry)
		require.NotEmpty(t, w.about, entry)
		require.Len(t, w.keys, form.NumField(), entry)
		for _, name := range names(fields(form)) {
			require.NotEmpty(t, w.keys[name].about, "%s.%s", entry, name)
		}
		for _, name := range w.short {
			require.Contains(t, w.keys, name, entry)
		}
	}
}
