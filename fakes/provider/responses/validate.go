package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// entry is an item of a request's input.
type entry struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Name    string          `json:"name"`
	Args    *string         `json:"arguments"`
	Output  json.RawMessage `json:"output"`
}

// Validate says what a strict server would refuse in a request: the status, 0 when it is fine, and why. It checks what
// agents get wrong: who speaks, empty messages, calls and their outputs, names of tools, the length of the prompt. A
// request that goes on with a stored answer may have the calls of its outputs there.
func (d Dialect) Validate(r *http.Request, body []byte) (status int, why string) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, suffix) {
		return 0, ""
	}
	var in request
	if err := json.Unmarshal(body, &in); err != nil {
		return http.StatusBadRequest, "not a request: " + err.Error()
	}
	stored := set(in.PreviousResponseID) || set(in.Conversation)
	switch {
	case in.Model == "":
		return http.StatusBadRequest, "Missing required parameter: 'model'."
	case blank(in.Input) && !stored && !set(in.Prompt):
		return http.StatusBadRequest, "Missing required parameter: 'input'."
	}
	if bytes.HasPrefix(in.Input, []byte("[")) {
		var entries []entry
		if err := json.Unmarshal(in.Input, &entries); err != nil {
			return http.StatusBadRequest, "input: " + err.Error()
		}
		if err := conversation(entries, stored); err != nil {
			return http.StatusBadRequest, err.Error()
		}
	} else if len(in.Input) > 0 && in.Input[0] != '"' && set(in.Input) {
		return http.StatusBadRequest, "input: want a text or items"
	}
	if err := tools(in.Tools); err != nil {
		return http.StatusBadRequest, err.Error()
	}
	if n := in.tokens(); d.MaxPrompt > 0 && n > d.MaxPrompt {
		return http.StatusBadRequest, tooLong(n, d.MaxPrompt)
	}
	return 0, ""
}

// conversation says what is wrong with the items of an input.
func conversation(entries []entry, stored bool) error {
	var known, open []string // ids of calls: all, and those without an output
	for i, e := range entries {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("input[%d]: "+format, append([]any{i}, args...)...)
		}
		switch e.Type {
		case "", "message":
			if !slices.Contains([]string{"system", "developer", "user", "assistant"}, e.Role) {
				return wrong("unknown role %.100q", e.Role)
			}
			if blank(e.Content) {
				return wrong("role %s without content", e.Role)
			}
		case "function_call":
			switch {
			case e.CallID == "" || slices.Contains(known, e.CallID):
				return wrong("call id %.100q is empty or taken", e.CallID)
			case e.Name == "":
				return wrong("call %.100q has no name", e.CallID)
			case e.Args == nil:
				return wrong("call %.100q has no arguments", e.CallID)
			}
			known, open = append(known, e.CallID), append(open, e.CallID)
		case "function_call_output":
			at := slices.Index(open, e.CallID)
			if at < 0 && (!stored || slices.Contains(known, e.CallID)) {
				return wrong("an output for call %.100q, which does not wait for one", e.CallID)
			}
			if !set(e.Output) {
				return wrong("call %.100q has an output without content", e.CallID)
			}
			if at >= 0 {
				open = slices.Delete(open, at, at+1)
			} else {
				known = append(known, e.CallID)
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("input: calls %.500q have no output", open)
	}
	return nil
}

// tools says what is wrong with the tools on offer. A function's members stand beside its type, not below it as in Chat
// Completions.
func tools(raw json.RawMessage) error {
	if !set(raw) {
		return nil
	}
	var list []struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	var names []string
	for i, t := range list {
		if t.Type != "function" {
			continue
		}
		if t.Name == "" || slices.Contains(names, t.Name) {
			return fmt.Errorf("tools[%d]: name %.100q is empty or taken", i, t.Name)
		}
		names = append(names, t.Name)
	}
	return nil
}

func set(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// blank says whether there is nothing in a content; white space is something.
func blank(raw json.RawMessage) bool {
	return !set(raw) || string(raw) == `""` || raw[0] == '[' && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}
