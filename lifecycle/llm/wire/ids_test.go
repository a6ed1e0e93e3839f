package wire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

func TestIDsDifferInAConversation(t *testing.T) {
	ids := NewIDs([]llm.Message{{ToolCalls: []llm.ToolCall{{ID: "call-1"}, {ID: "x"}}}})
	require.Equal(t, "call-0", ids.For(""))
	require.Equal(t, "x", ids.For("x"), "the provider's is passed on, even twice")
	require.Equal(t, "call-3", ids.For("call-3"))
	require.Equal(t, []string{"call-2", "call-4"}, []string{ids.For(""), ids.For("")})
}
