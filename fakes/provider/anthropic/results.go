package anthropic

import (
	"bytes"
	"encoding/json"

	"github.com/stallwright/stallwright/fakes/provider"
)

// results are those of tools that the last message tells the model.
func results(body []byte) []provider.Result {
	if !bytes.Contains(body, []byte(`"tool_result"`)) {
		return nil
	}
	var in struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	var out []provider.Result
	for _, m := range in.Messages {
		if m.Role == "assistant" {
			out = nil
			continue
		}
		var blocks []struct {
			Type      string          `json:"type"`
			ToolUseID string          `json:"tool_use_id"`
			Content   json.RawMessage `json:"content"`
			IsError   bool            `json:"is_error"`
		}
		if json.Unmarshal(m.Content, &blocks) != nil { // it is a text
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				out = append(out, provider.Result{ID: b.ToolUseID, Text: provider.PlainText(b.Content), Failed: b.IsError})
			}
		}
	}
	return out
}
