package config

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// optional is the mark of a line of the example that holds a key, or the head of a table, which may be left out.
var optional = regexp.MustCompile(`(?m)^#(\[|[a-z_]+ = )`)

// The example at the root of the repository has every key there is, and works as it stands.
func TestTheExampleIsWholeAndSound(t *testing.T) {
	text, err := os.ReadFile("../../agent.example.toml")
	require.NoError(t, err)
	plain, err := Parse("agent.example.toml", text, from(nil))
	require.NoError(t, err)
	require.Empty(t, plain.Warnings(Defaults()))

	all := optional.ReplaceAll(text, []byte("$1"))
	f, err := Parse("agent.example.toml", all, from(nil))
	require.NoError(t, err)
	require.Empty(t, f.Warnings(Defaults()))

	d := document{name: "agent.example.toml", data: all, lookup: from(nil), at: map[string]int{}}
	d.walk()
	shown := map[string]bool{}
	for path := range d.at {
		form := ""
		for word := range strings.SplitSeq(path, ".") {
			form = within(form, word)
		}
		shown[form] = true
	}
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		require.True(t, shown[key], "agent.example.toml does not show %s", key)
	}
}

// What the example says of a key that may be left out is its default, where it has one.
func TestTheExampleShowsTheDefaults(t *testing.T) {
	text, err := os.ReadFile("../../agent.example.toml")
	require.NoError(t, err)
	plain, err := Parse("agent.example.toml", text, from(nil))
	require.NoError(t, err)
	shown, err := Parse("agent.example.toml", optional.ReplaceAll(text, []byte("$1")), from(nil))
	require.NoError(t, err)
	shown.Agent.Alias, shown.MCP.Servers, shown.HITL, shown.Orchestration = "", nil, HITL{}, Orchestration{} // they have none
	require.Equal(t, plain, shown)
}

// Every variable that is read stands in the example.
func TestTheExampleNamesEveryVariable(t *testing.T) {
	text, err := os.ReadFile("../../agent.example.toml")
	require.NoError(t, err)
	_, err = FromEnv(func(name string) (string, bool) {
		require.Contains(t, string(text), name)
		return "", false
	})
	require.NoError(t, err)
}
