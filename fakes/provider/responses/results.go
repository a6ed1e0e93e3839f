package responses

import (
	"bytes"
	"encoding/json"

	"github.com/stallwright/stallwright/fakes/provider"
)

// results are those of tools that stand behind the last words or calls of the model.
func results(input json.RawMessage) []provider.Result {
	if !bytes.Contains(input, []byte(`"function_call_output"`)) {
		return nil
	}
	var list []struct {
		Type   string          `json:"type"`
		Role   string          `json:"role"`
		CallID string          `json:"call_id"`
		Output json.RawMessage `json:"output"`
	}
	if json.Unmarshal(input, &list) != nil {
		return nil
	}
	var out []provider.Result
	for _, i := range list {
		switch {
		case i.Type == "function_call", i.Role == "assistant":
			out = nil
		case i.Type == "function_call_output":
			out = append(out, provider.Result{ID: i.CallID, Text: provider.PlainText(i.Output)})
		}
	}
	return out
}
