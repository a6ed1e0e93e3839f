package process

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/harness"
)

func TestUnfit(t *testing.T) {
	for _, tc := range []struct {
		name            string
		needs, has      harness.Tooling
		alone, anywhere bool
		want            string // "" when it can be played
		hint            string
	}{
		{"a case without tools", "", "", false, false, "", ""},
		{"a case without tools, on a server with some", "", "http", false, false, "", ""},
		{"a server without tools", "http", "", false, false, "was not said to have any (--tools)", "--tools http;"},
		{"what the case needs", "http+http", "http+http", false, false, "", ""},
		{"more than the case needs", "http", "http+sse", false, false, "", ""},
		{"less than the case needs", "http+http", "http", false, false, "needs http+http to be the first of the MCP servers, and the server has http (--tools)", "--tools http+http;"},
		{"in another order", "sse", "http+sse", false, false, "needs sse to be the first", "--tools sse;"},
		{"a child of the server's", "stdio", "http", false, false, "over stdio", "stallwright's own can"},
		{"servers of its own", "http", "http", true, false, "that no other case uses", "stallwright's own can"},
		{"no servers of its own", "", "http", true, false, "", ""},
		{"any servers", "http+http+http", "sse", false, true, "", ""},
		{"any servers, and there are none", "http+http+http", "", false, true, "was not said to have any (--tools)", "--tools http+http;"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := harness.Case{Scenario: harness.Scenario{ID: "a/b", Alone: tc.alone, Anywhere: tc.anywhere}, Variant: harness.Variant{Set: harness.Set{Tools: tc.needs}}}
			why, hint := Unfit(c, harness.Short().With(harness.Set{}), tc.has)
			if tc.want == "" {
				require.Empty(t, why)
				require.Empty(t, hint)
				return
			}
			require.Contains(t, why, tc.want)
			require.Contains(t, hint, tc.hint)
		})
	}
}

func TestUnfitClocks(t *testing.T) {
	c := harness.Case{Scenario: harness.Scenario{ID: "a/b"}, Variant: harness.Variant{Set: harness.Set{Inactivity: true}}}
	why, hint := Unfit(c, harness.Short().With(harness.Set{}), "")
	require.Contains(t, why, "inactivity clock")
	require.Contains(t, hint, "--window")
}
