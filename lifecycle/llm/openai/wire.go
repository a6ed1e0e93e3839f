package openai

import (
	"encoding/json"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

type request struct {
	Model         string        `json:"model"`
	Messages      []message     `json:"messages"`
	Stream        bool          `json:"stream"`
	StreamOptions streamOptions `json:"stream_options"`
	Tools         []tool        `json:"tools,omitempty"`
}

// tool declares a function that the model may call.
type tool struct {
	Type     string      `json:"type"`
	Function declaration `json:"function"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
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
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool{"function", declaration{t.Name, t.Description, t.Parameters()}})
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
	Content          content         `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        any             `json:"reasoning"`         // some send an object here, which is no text to pass on
	ReasoningDetails json.RawMessage `json:"reasoning_details"` // the same again, or all there is
	ToolCalls        []toolCall      `json:"tool_calls"`
}

func (m *delta) empty() bool {
	return len(m.Content) == 0 && m.Refusal == "" && m.thought() == "" && len(m.ToolCalls) == 0
}

// number gives the calls of a whole message, which has a list of them, their indexes.
func (m *delta) number() {
	for n := range m.ToolCalls {
		at := int64(n)
		m.ToolCalls[n].Index = &at
	}
}

// thought is the reasoning of a delta. Those who send it in several fields send the same in all.
func (m *delta) thought() string {
	if m.ReasoningContent != "" {
		return m.ReasoningContent
	}
	if s, _ := m.Reasoning.(string); s != "" {
		return s
	}
	var details []struct {
		Text    string `json:"text"`
		Summary string `json:"summary"`
	}
	if len(m.ReasoningDetails) == 0 || json.Unmarshal(m.ReasoningDetails, &details) != nil {
		return ""
	}
	var s strings.Builder
	for _, d := range details { // what is encrypted has neither
		s.WriteString(d.Text)
		s.WriteString(d.Summary)
	}
	return s.String()
}

// content is a text, or a list of parts: text and thinking, in the order in which they were said.
type content []piece

type piece struct {
	kind llm.Kind
	text string
}

// UnmarshalJSON reads either form. Parts of other types hold no text.
func (c *content) UnmarshalJSON(data []byte) error {
	if data[0] != '[' {
		var text *string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		if *c = nil; text != nil && *text != "" {
			*c = content{{llm.Text, *text}}
		}
		return nil
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking []struct {
			Text string `json:"text"`
		} `json:"thinking"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	*c = nil
	for _, p := range parts {
		switch p.Type {
		case "text":
			*c = append(*c, piece{llm.Text, p.Text})
		case "thinking":
			for _, t := range p.Thinking {
				*c = append(*c, piece{llm.Reasoning, t.Text})
			}
		}
	}
	return nil
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}
