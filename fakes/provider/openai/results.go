package openai

import (
	"bytes"
	"encoding/json"

	"github.com/stallwright/stallwright/fakes/provider"
)

// results are those of tools that stand behind the last answer of the model.
func results(messages json.RawMessage) []provider.Result {
	if !bytes.Contains(messages, []byte(`"tool_call_id"`)) {
		return nil
	}
	var list []struct {
		Role       string          `json:"role"`
		ToolCallID string          `json:"tool_call_id"`
		Content    json.RawMessage `json:"content"`
	}
	if json.Unmarshal(messages, &list) != nil {
		return nil
	}
	var out []provider.Result
	for _, m := range list {
		switch m.Role {
		case "assistant":
			out = nil
		case "tool":
			out = append(out, provider.Result{ID: m.ToolCallID, Text: provider.PlainText(m.Content)})
		}
	}
	return out
}
