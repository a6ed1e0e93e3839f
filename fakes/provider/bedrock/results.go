package bedrock

import (
	"bytes"
	"encoding/json"

	"github.com/stallwright/stallwright/fakes/provider"
)

// results are those of tools that stand behind the last message of the model.
func results(body []byte) []provider.Result {
	if !bytes.Contains(body, []byte(`"toolResult"`)) {
		return nil
	}
	var in struct {
		Messages []struct {
			Role    string `json:"role"`
			Content []struct {
				ToolResult *struct {
					ToolUseID string          `json:"toolUseId"`
					Content   json.RawMessage `json:"content"`
					Status    string          `json:"status"`
				} `json:"toolResult"`
			} `json:"content"`
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
		for _, c := range m.Content {
			if r := c.ToolResult; r != nil {
				out = append(out, provider.Result{ID: r.ToolUseID, Text: provider.PlainText(r.Content), Failed: r.Status == "error"})
			}
		}
	}
	return out
}
