package gemini

import (
	"bytes"
	"encoding/json"

	"github.com/stallwright/stallwright/fakes/provider"
)

// results are those of functions that stand behind the last content of the model.
func results(body []byte) []provider.Result {
	if !bytes.Contains(body, []byte(`"functionResponse"`)) {
		return nil
	}
	var in struct {
		Contents []struct {
			Role  string `json:"role"`
			Parts []struct {
				FunctionResponse *struct {
					ID       string          `json:"id"`
					Name     string          `json:"name"`
					Response json.RawMessage `json:"response"`
				} `json:"functionResponse"`
			} `json:"parts"`
		} `json:"contents"`
	}
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	var out []provider.Result
	for _, c := range in.Contents {
		if c.Role == "model" {
			out = nil
			continue
		}
		for _, p := range c.Parts {
			if r := p.FunctionResponse; r != nil {
				id := r.ID
				if id == "" {
					id = r.Name
				}
				out = append(out, provider.Result{ID: id, Text: string(r.Response)})
			}
		}
	}
	return out
}
