package responses

import (
	"encoding/json"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

type request struct {
	Model     string    `json:"model"`
	Input     []any     `json:"input"`
	Stream    bool      `json:"stream"`
	Store     bool      `json:"store"`
	Reasoning *settings `json:"reasoning,omitempty"`
	Tools     []tool    `json:"tools,omitempty"`
}

// tool declares a function that the model may call. Without strict the API would hold its schema to rules of its own.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type settings struct {
	Summary string `json:"summary"`
}

type said struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type functionCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type functionCallOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

// newRequest lists what was said as items: a message and each of its calls are items of their own.
func newRequest(r llm.Request, summary string) request {
	out := request{Model: r.Model, Input: []any{}, Stream: true}
	if summary != "" {
		out.Reasoning = &settings{summary}
	}
	for _, m := range r.Messages {
		if m.Role == "tool" {
			out.Input = append(out.Input, functionCallOutput{"function_call_output", m.ToolCallID, m.Content})
			continue
		}
		if m.Content != "" || len(m.ToolCalls) == 0 {
			out.Input = append(out.Input, said{m.Role, m.Content})
		}
		for _, c := range m.ToolCalls {
			out.Input = append(out.Input, functionCall{"function_call", c.ID, c.Name, c.Arguments})
		}
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool{"function", t.Name, t.Description, t.Parameters(), false})
	}
	return out
}

// event is the data of an event. What has several types is read by the kinds of events that are of interest.
type event struct {
	Type      string          `json:"type"`
	Output    int64           `json:"output_index"`
	Delta     json.RawMessage `json:"delta"`
	Text      json.RawMessage `json:"text"`
	Refusal   json.RawMessage `json:"refusal"`
	Arguments json.RawMessage `json:"arguments"`
	Item      json.RawMessage `json:"item"`
	Response  json.RawMessage `json:"response"`
	Error     json.RawMessage `json:"error"`
	Message   json.RawMessage `json:"message"` // of an error without an error object
}

// response is the answer, whole or as it stands.
type response struct {
	Object            string          `json:"object"`
	Status            string          `json:"status"`
	Error             json.RawMessage `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []item `json:"output"`
	Usage  *struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage"`
}

// item is an output item. What has several types is read by the kinds that are of interest.
type item struct {
	Type      string          `json:"type"`
	CallID    string          `json:"call_id"`
	Name      json.RawMessage `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Content   json.RawMessage `json:"content"` // of a message, and of reasoning that is sent as it is
	Summary   json.RawMessage `json:"summary"` // of reasoning
}

type part struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// read reads a member that may be missing.
func read(raw json.RawMessage, to any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, to)
}
