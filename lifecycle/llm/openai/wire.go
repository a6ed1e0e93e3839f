package openai

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

type request struct {
	Model         string        `json:"model"`
	Messages      []message     `json:"messages"`
	Stream        bool          `json:"stream"`
	StreamOptions streamOptions `json:"stream_options"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// toolCall is a call in a request, a fragment of one in a stream.
type toolCall struct {
	Index    *int64   `json:"index,omitempty"`
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func newRequest(r llm.Request) request {
	out := request{Model: r.Model, Messages: make([]message, len(r.Messages)), Stream: true, StreamOptions: streamOptions{IncludeUsage: true}}
	for i, m := range r.Messages {
		to := message{Role: m.Role, Content: &m.Content, ToolCallID: m.ToolCallID}
		if m.Content == "" && len(m.ToolCalls) > 0 {
			to.Content = nil // as the provider itself writes such a turn
		}
		for _, c := range m.ToolCalls {
			to.ToolCalls = append(to.ToolCalls, toolCall{ID: c.ID, Type: "function", Function: function{Name: c.Name, Arguments: c.Arguments}})
		}
		out.Messages[i] = to
	}
	return out
}

// answer is a chunk of a stream, or a whole chat.completion: they differ in delta and message.
type answer struct {
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"` // of errors without an error object
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	Message      *delta `json:"message"`
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content          string     `json:"content"`
	ReasoningContent string     `json:"reasoning_content"`
	Reasoning        any        `json:"reasoning"` // some send an object here, which is no text to pass on
	ToolCalls        []toolCall `json:"tool_calls"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// errorIn is the message of an error member, and whether there is one: null and "" are none.
func errorIn(raw json.RawMessage) (string, bool) {
	switch string(raw) {
	case "", "null", `""`:
		return "", false
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	var object struct {
		Message string `json:"message"`
	}
	if _ = json.Unmarshal(raw, &object); object.Message != "" {
		return object.Message, true
	}
	return string(raw), true
}

// redact hides the key in a text. Keys of a few bytes are no secrets and would shred it.
func redact(s, key string) string {
	if len(key) < 4 {
		return s
	}
	return strings.ReplaceAll(s, key, "[redacted]")
}

// clean replaces what a terminal or a log could act on by spaces, and cuts the text to n bytes on a rune.
func clean(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
