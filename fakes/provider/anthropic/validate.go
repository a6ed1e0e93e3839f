package anthropic

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Validate says what the API would refuse a request for, with the status of the refusal; 0 is nothing. Credentials are a
// key in x-api-key or a bearer token, whichever the client's generation sends. Turns of one role in a row are one turn
// to the API, and so they are here.
func (Dialect) Validate(r *http.Request, body []byte) (status int, why string) {
	key := r.Header.Get("X-Api-Key")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		key += bearer
	}
	switch {
	case key == "":
		return http.StatusUnauthorized, "no x-api-key and no bearer token"
	case r.Header.Get("Anthropic-Version") == "":
		return http.StatusBadRequest, "no anthropic-version header"
	case r.Method != http.MethodPost:
		return 0, ""
	}
	var in request
	if err := json.Unmarshal(body, &in); err != nil {
		return http.StatusBadRequest, "body: " + err.Error()
	}
	if strings.HasSuffix(r.URL.Path, "/count_tokens") && in.MaxTokens == nil {
		in.MaxTokens = new(int)
		*in.MaxTokens = 1
	}
	in.system = r.Header.Get("Anthropic-Version") >= "2026-10-21"
	if why := in.problem(); why != "" {
		return http.StatusBadRequest, why
	}
	return 0, ""
}

// request is what is looked at of a request.
type request struct {
	Model     string    `json:"model"`
	MaxTokens *int      `json:"max_tokens"`
	Messages  []message `json:"messages"`
	Tools     []struct {
		Name string `json:"name"`
	} `json:"tools"`
	system bool // messages of the role system are allowed
}

type message struct {
	Role    string `json:"role"`
	Content blocks `json:"content"`
	from    int    // its place in the request
}

type blocks []contentBlock

type contentBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
}

// UnmarshalJSON reads blocks, or a text, which is short for one block of it.
func (b *blocks) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*b = nil
		if text != "" {
			*b = blocks{{Type: "text", Text: &text}}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]contentBlock)(b))
}

func (r *request) problem() string {
	switch {
	case r.Model == "":
		return "model: required"
	case r.MaxTokens == nil:
		return "max_tokens: required"
	case *r.MaxTokens < 1:
		return fmt.Sprintf("max_tokens: %d: want 1 or more", *r.MaxTokens)
	case len(r.Messages) == 0:
		return "messages: at least one is required"
	}
	names := map[string]bool{}
	for i, t := range r.Tools {
		if t.Name == "" {
			return fmt.Sprintf("tools.%d.name: required", i)
		}
		if names[t.Name] {
			return fmt.Sprintf("tools.%d.name: %.100q stands twice", i, t.Name)
		}
		names[t.Name] = true
	}
	ids := map[string]bool{}
	for i := range r.Messages {
		if r.Messages[i].Role == "system" && !r.system {
			return fmt.Sprintf("messages.%d.role: system is a member of its own in this version", i)
		}
		if why := r.Messages[i].problem(ids, i == len(r.Messages)-1); why != "" {
			return fmt.Sprintf("messages.%d.%s", i, why)
		}
	}
	return pairs(turns(r.Messages))
}

// problem says what is wrong with a message alone. ids are those of the tool uses before it.
func (m *message) problem(ids map[string]bool, last bool) string {
	switch m.Role {
	case "user", "assistant", "system":
	default:
		return fmt.Sprintf("role: %.100q: want user or assistant", m.Role)
	}
	if len(m.Content) == 0 && (m.Role != "assistant" || !last) {
		return "content: empty"
	}
	for i, b := range m.Content {
		at := fmt.Sprintf("content.%d", i)
		switch b.Type {
		case "":
			return at + ".type: required"
		case "text":
			if b.Text == nil || strings.TrimSpace(*b.Text) == "" {
				return at + ".text: empty"
			}
		case "tool_use":
			switch {
			case m.Role != "assistant":
				return at + ": a tool_use that is not of the assistant"
			case b.ID == "":
				return at + ".id: required"
			case b.Name == "":
				return at + ".name: required"
			case !strings.HasPrefix(strings.TrimSpace(string(b.Input)), "{"):
				return at + ".input: want an object"
			case ids[b.ID]:
				return fmt.Sprintf("%s.id: %.100q stands twice", at, b.ID)
			}
			ids[b.ID] = true
		case "tool_result":
			switch {
			case m.Role != "user":
				return at + ": a tool_result that is not of the user"
			case b.ToolUseID == "":
				return at + ".tool_use_id: required"
			}
		}
	}
	return ""
}

// turns joins messages of one role in a row. The messages of the system, which later versions of the API take, are no turns.
func turns(messages []message) []message {
	var list []message
	for i, m := range messages {
		if m.Role == "system" {
			continue
		}
		if n := len(list); n > 0 && list[n-1].Role == m.Role {
			list[n-1].Content = append(list[n-1].Content[:len(list[n-1].Content):len(list[n-1].Content)], m.Content...)
			continue
		}
		m.from = i
		list = append(list, m)
	}
	return list
}

// pairs says which tool use has no result in the next turn, which result has no use in the turn before, which use has
// two, and which results come after something else.
func pairs(list []message) string {
	open := map[string]bool{}
	for _, m := range list {
		other := false
		for _, b := range m.Content {
			switch {
			case m.Role != "user":
			case b.Type != "tool_result":
				other = true
			case !open[b.ToolUseID]:
				return fmt.Sprintf("messages.%d: tool_result without its tool_use in the turn before, or the second for it: %.100q", m.from, b.ToolUseID)
			case other:
				return fmt.Sprintf("messages.%d: tool_result behind other content: %.100q", m.from, b.ToolUseID)
			default:
				delete(open, b.ToolUseID)
			}
		}
		if len(open) > 0 {
			return fmt.Sprintf("messages.%d: no tool_result for the tool_use of the turn before: %.100q", m.from, first(open))
		}
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				open[b.ID] = true
			}
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("messages: the last has a tool_use without a tool_result: %.100q", first(open))
	}
	return ""
}

func first(ids map[string]bool) string { return slices.Min(slices.Collect(maps.Keys(ids))) }
