package wire

import (
	"strconv"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

// IDs gives ids to the tool calls of one answer that have none of the provider's. They differ from all others in the
// conversation, and are the same when the same answer comes again.
type IDs struct {
	taken map[string]bool
	next  int
}

// NewIDs knows the calls of a conversation.
func NewIDs(messages []llm.Message) *IDs {
	ids := &IDs{taken: make(map[string]bool)}
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			ids.taken[c.ID] = true
		}
	}
	return ids
}

// For is the id of the next call: the provider's, or one of ours where that is empty.
func (ids *IDs) For(id string) string {
	for id == "" {
		if own := "call-" + strconv.Itoa(ids.next); !ids.taken[own] {
			id = own
		}
		ids.next++
	}
	ids.taken[id] = true
	return id
}
