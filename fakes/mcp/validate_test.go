package mcp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

func TestScriptsThatCannotBePlayed(t *testing.T) {
	program := func(steps ...script.Step) mcp.Script { return mcp.Script{Programs: []mcp.Program{{Steps: steps}}} }
	tests := []struct {
		name   string
		script mcp.Script
		want   string
	}{
		{"a revision that there is not", mcp.Script{Revisions: []string{"2020-01-01"}}, `revision "2020-01-01"`},
		{"a tool without a name", withTools(mcp.Tool{}), "tool 1 has no name"},
		{"two tools of one name", withTools(mcp.Tool{Name: "x"}, mcp.Tool{Name: "y"}, mcp.Tool{Name: "x"}), `tool 3 is a second "x"`},
		{"a schema that is no JSON", withTools(mcp.Tool{Name: "x", Schema: "{"}), `tool "x": schema is "{": want JSON`},
		{"time that runs backwards", withTools(mcp.Tool{Name: "x", Takes: -time.Second}), `tool "x": takes -1s: want 0 or more`},
		{"no steps", program(), "program 1 has no steps"},
		{"a step of a provider", program(script.Done{}), "program 1, step 1: an MCP server has no step script.Done"},
		{"no step", program(nil), "step 1: an MCP server has no step <nil>"},
		{"inside a repeat", program(script.Repeat{Times: 1, Steps: []script.Step{script.Role{}}}), "step 1 (repeat): step 1: an MCP server has no step"},
		{"a repeat of nothing", program(script.Repeat{}), "no steps"},
		{"parameters that are no JSON", program(mcp.Notify{Method: "x", Params: "["}), `step 1 (notify): params is "[": want JSON`},
		{"a result that is too large", program(mcp.Result{Size: 2 << 30}), "want at most"},
		{"a result that is no JSON", program(mcp.Result{JSON: "x"}), `json is "x": want JSON`},
		{"progress that runs backwards", program(mcp.Progress{Count: -1}), "count -1 of 0: want 0 or more"},
		{"times below any", mcp.Script{Programs: []mcp.Program{{Times: -2, Steps: []script.Step{mcp.Result{}}}}}, "program 1: want times"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := new(mcp.Fake)
			require.ErrorContains(t, f.Open("", &mcp.Session{Script: test.script}), test.want)
		})
	}
}

func TestMarkersThatCannotBeUsed(t *testing.T) {
	f := new(mcp.Fake)
	require.NoError(t, f.Open("a", &mcp.Session{}))
	for _, marker := range []string{"a", "a b", "[", `"`, strings.Repeat("x", 201)} {
		require.Error(t, f.Open(marker, &mcp.Session{}), marker)
	}
	require.Empty(t, f.Release("none"))
	require.NoError(t, f.Close())
	require.Empty(t, f.Release("a"))
}

func TestStepsHaveKindsOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range mcp.Steps() {
		require.False(t, seen[s.Kind()], s.Kind())
		seen[s.Kind()] = true
	}
}
