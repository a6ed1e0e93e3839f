package ollama

import (
	"bytes"
	"encoding/json"

	"github.com/stallwright/stallwright/fakes/provider"
)

// results are those of tools that stand behind the last message of the model.
func results(body []byte) []provider.Result {
	if !bytes.Contains(body, []byte(`"tool"`)) {
		return nil
	}
	var in struct {
		Messages []struct {
			Role       string `json:"role"`
			Content    string `json:"content"`
			ToolCallID string `json:"tool_call_id"`
			ToolName   string `json:"tool_name"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	var out []provider.Result
	for _, m := range in.Messages {
		switch m.Role {
		case "assistant":
			out = nil
		case "tool":
			id := m.ToolCallID
			if id == "" {
				id = m.ToolName
			}
			out = append(out, provider.Result{ID: id, Text: m.Content})
		}
	}
	return out
}
