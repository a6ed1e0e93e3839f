package gemini

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Validate says what the API would refuse in a request: a status and why, or 0.
func (Dialect) Validate(_ *http.Request, body []byte) (status int, why string) {
	var in struct {
		Contents []content `json:"contents"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return http.StatusBadRequest, "the body is not a request: " + err.Error()
	}
	if why := contents(in.Contents); why != "" {
		return http.StatusBadRequest, why
	}
	return 0, ""
}

type content struct {
	Role  string                       `json:"role"`
	Parts []map[string]json.RawMessage `json:"parts"`
}

type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func contents(list []content) string {
	if len(list) == 0 {
		return "contents is not specified"
	}
	var open []named // calls of the content before
	for i, c := range list {
		if c.Role != "" && c.Role != "user" && c.Role != "model" {
			return fmt.Sprintf("contents[%d].role %q: want user or model", i, c.Role)
		}
		if len(c.Parts) == 0 {
			return fmt.Sprintf("contents[%d].parts must not be empty", i)
		}
		for j, p := range c.Parts {
			if !hasData(p) {
				return fmt.Sprintf("contents[%d].parts[%d] has no data", i, j)
			}
		}
		results, calls := gather(c.Parts, "functionResponse"), gather(c.Parts, "functionCall")
		if len(results) != len(open) {
			return fmt.Sprintf("contents[%d] has %d function responses to %d function calls before it", i, len(results), len(open))
		}
		for j, r := range results {
			if r.Name == "" {
				return fmt.Sprintf("contents[%d]: function response %d has no name", i, j)
			}
			if r.ID != "" && open[j].ID != "" && r.ID != open[j].ID {
				return fmt.Sprintf("contents[%d]: function response %q answers no call in its place", i, r.ID)
			}
		}
		if len(calls) > 0 && (i == 0 || c.Role != "model") {
			return fmt.Sprintf("contents[%d]: function calls come from the model, after a turn of the user", i)
		}
		seen := map[string]bool{}
		for _, call := range calls {
			if call.Name == "" {
				return fmt.Sprintf("contents[%d]: a function call has no name", i)
			}
			if call.ID != "" && seen[call.ID] {
				return fmt.Sprintf("contents[%d]: function call id %q is there twice", i, call.ID)
			}
			seen[call.ID] = true
		}
		open = calls
	}
	return ""
}

// hasData says whether a part is more than its marks.
func hasData(part map[string]json.RawMessage) bool {
	for name, value := range part {
		if name != "thought" && name != "thoughtSignature" && string(value) != "null" {
			return true
		}
	}
	return false
}

func gather(parts []map[string]json.RawMessage, kind string) []named {
	var list []named
	for _, p := range parts {
		if raw, ok := p[kind]; ok && string(raw) != "null" {
			var n named
			_ = json.Unmarshal(raw, &n) // what does not fit has no name
			list = append(list, n)
		}
	}
	return list
}
