package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// turn is a message of a request.
type turn struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string  `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID   string          `json:"tool_call_id"`
	Refusal      string          `json:"refusal"`
	Audio        json.RawMessage `json:"audio"`
	FunctionCall json.RawMessage `json:"function_call"`
}

// Validate says what a strict server would refuse in a request: the status, 0 when it is fine, and why. It checks what
// agents get wrong: who speaks, empty messages, calls and their results, names of tools, the length of the prompt.
func (d Dialect) Validate(r *http.Request, body []byte) (status int, why string) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, suffix) {
		return 0, ""
	}
	if d.Flavour == Azure && r.Header.Get("Api-Key") == "" && r.Header.Get("Authorization") == "" {
		return http.StatusUnauthorized, "neither an api-key header nor Authorization"
	}
	var in struct {
		Model    string          `json:"model"`
		Messages json.RawMessage `json:"messages"`
		Tools    *[]struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
			Type string `json:"type"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return http.StatusBadRequest, "not a request: " + err.Error()
	}
	if in.Model == "" && (d.Flavour != Azure || deployment(r.URL.Path) == "") {
		return http.StatusBadRequest, "model is missing"
	}
	var turns []turn
	if len(in.Messages) > 0 {
		if err := json.Unmarshal(in.Messages, &turns); err != nil {
			return http.StatusBadRequest, "messages: " + err.Error()
		}
	}
	if len(turns) == 0 {
		return http.StatusBadRequest, "messages: want at least one"
	}
	if err := conversation(turns); err != nil {
		return http.StatusBadRequest, err.Error()
	}
	if in.Tools != nil {
		if len(*in.Tools) == 0 {
			return http.StatusBadRequest, "tools is empty: leave it out, or offer one"
		}
		var names []string
		for i, t := range *in.Tools {
			if t.Type == "function" && (t.Function.Name == "" || slices.Contains(names, t.Function.Name)) {
				return http.StatusBadRequest, fmt.Sprintf("tools[%d]: name %.100q is empty or taken", i, t.Function.Name)
			}
			names = append(names, t.Function.Name)
		}
	}
	if n := tokens(in.Messages); d.MaxPrompt > 0 && n > d.MaxPrompt {
		return http.StatusBadRequest, tooLong(n, d.MaxPrompt)
	}
	return 0, ""
}

// conversation says what is wrong with the order and the parts of messages. Each result of a tool follows the message
// with its call, before anybody else speaks.
func conversation(turns []turn) error {
	var known, open []string // ids of calls: all, and those without a result
	for i, t := range turns {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("messages[%d]: "+format, append([]any{i}, args...)...)
		}
		if t.Role == "tool" {
			at := slices.Index(open, t.ToolCallID)
			if at < 0 {
				return wrong("a tool's result for call %.100q, which does not wait for one", t.ToolCallID)
			}
			if t.Content == nil || string(t.Content) == "null" {
				return wrong("a tool's result without content")
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return wrong("role %.100q, but calls %.500q have no result yet", t.Role, open)
		}
		switch t.Role {
		case "assistant":
			if blank(t.Content) && len(t.ToolCalls) == 0 && t.Refusal == "" && t.Audio == nil && t.FunctionCall == nil {
				return wrong("an assistant's message with neither content nor calls")
			}
			for _, c := range t.ToolCalls {
				switch {
				case c.ID == "" || slices.Contains(known, c.ID):
					return wrong("call id %.100q is empty or taken", c.ID)
				case c.Type == "custom":
				case c.Type != "function":
					return wrong("call %.100q has type %.100q: want function", c.ID, c.Type)
				case c.Function.Name == "":
					return wrong("call %.100q has no name", c.ID)
				case c.Function.Arguments == nil:
					return wrong("call %.100q has no arguments", c.ID)
				}
				known, open = append(known, c.ID), append(open, c.ID)
			}
		case "system", "developer", "user", "function":
			if blank(t.Content) {
				return wrong("role %s without content", t.Role)
			}
		default:
			return wrong("unknown role %.100q", t.Role)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: calls %.500q have no result", open)
	}
	return nil
}

// blank says whether there is nothing in a content; white space is something.
func blank(content json.RawMessage) bool {
	switch string(content) {
	case "", "null", `""`:
		return true
	}
	return content[0] == '[' && len(bytes.TrimSpace(content[1:len(content)-1])) == 0
}

// tokens is how long a prompt is, for who needs no exact count.
func tokens(messages json.RawMessage) int { return (len(messages) + 3) / 4 }
