package approver_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/approver"
)

var update = flag.Bool("update", false, "rewrite approver.schema.json")

func TestTheSchemaIsUpToDate(t *testing.T) {
	if *update {
		require.NoError(t, os.WriteFile("approver.schema.json", approver.Schema(), 0o644))
	}
	b, err := os.ReadFile("approver.schema.json")
	require.NoError(t, err)
	require.Equal(t, string(approver.Schema()), string(b), "go test ./fakes/approver -update")
}

func TestTheExamplesCheck(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(approver.Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("approver.schema.json", doc))
	schema, err := c.Compile("approver.schema.json")
	require.NoError(t, err)
	named := regexp.MustCompile(`^# yaml-language-server: \$schema=(\S+/approver\.schema\.json)\n#\n# `)
	files, err := filepath.Glob("../../examples/scripts/approver/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		got, err := approver.Parse(f, text)
		require.NoError(t, err)
		require.NotEmpty(t, got.About, f)
		tidy, err := approver.Format(f, text)
		require.NoError(t, err)
		require.Equal(t, string(text), string(tidy), "stallwright script fmt -w")
		var v any
		require.NoError(t, yaml.Unmarshal(text, &v))
		require.NoError(t, schema.Validate(v), f)
		m := named.FindSubmatch(text)
		require.NotNil(t, m, "%s names its schema first, and then says what it is for", f)
		require.FileExists(t, filepath.Join(filepath.Dir(f), string(m[1])))
	}
}
