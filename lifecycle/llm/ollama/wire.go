package ollama

import (
	"bytes"
	"encoding/json"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

// request says nothing of thinking: a model that can then does, and one that cannot would refuse to be asked.
type request struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Stream   bool      `json:"stream"`
	Tools    []tool    `json:"tools,omitempty"`
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

// message is one of a request, or what a line of an answer adds to it.
type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func newRequest(r llm.Request) request {
	out := request{Model: r.Model, Messages: make([]message, len(r.Messages)), Stream: true}
	names := make(map[string]string) // of the calls so far
	for i, m := range r.Messages {
		to := message{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID, ToolName: names[m.ToolCallID]}
		for n, c := range m.ToolCalls {
			names[c.ID] = c.Name
			to.ToolCalls = append(to.ToolCalls, toolCall{ID: c.ID, Function: function{Index: n, Name: c.Name, Arguments: object(c.Arguments)}})
		}
		out.Messages[i] = to
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool{"function", declaration{t.Name, t.Description, t.Parameters()}})
	}
	return out
}

// object is the arguments as the dialect wants them. Those that are no object, of another provider's model, are kept in one.
func object(arguments string) json.RawMessage {
	raw := json.RawMessage(bytes.TrimSpace([]byte(arguments)))
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}")
	case raw[0] == '{' && json.Valid(raw):
		return raw
	}
	kept, _ := json.Marshal(map[string]string{"arguments": arguments}) // strings cannot fail
	return kept
}

// answer is one line.
type answer struct {
	Message    message         `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Prompt     *int            `json:"prompt_eval_count"` // absent when the prompt was cached as a whole
	Completion *int            `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}
