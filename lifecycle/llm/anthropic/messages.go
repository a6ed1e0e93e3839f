package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    string    `json:"system,omitempty"`
	Messages  []message `json:"messages"`
	Stream    bool      `json:"stream"`
	Tools     []tool    `json:"tools,omitempty"`
}

// tool declares a function that the model may call.
type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type toolUse struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type toolResult struct {
	Type      string `json:"type"`
	ToolUseID string `json:"tool_use_id"`
	Content   string `json:"content"`
}

// newRequest says r as the API wants it: the system's words apart, results of tools in the user's name and all those of one
// turn in one message, no empty text.
func newRequest(r llm.Request, maxTokens int) request {
	out := request{Model: r.Model, MaxTokens: maxTokens, Messages: []message{}, Stream: true}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, tool{t.Name, t.Description, t.Parameters()})
	}
	var system []string
	for _, m := range r.Messages {
		role := m.Role
		var content []any
		switch role {
		case "system":
			if m.Content != "" {
				system = append(system, m.Content)
			}
			continue
		case "tool":
			role = "user"
			content = []any{toolResult{"tool_result", m.ToolCallID, m.Content}}
		default:
			if m.Content != "" {
				content = append(content, textBlock{"text", m.Content})
			}
			for _, c := range m.ToolCalls {
				content = append(content, toolUse{"tool_use", c.ID, c.Name, input(c.Arguments)})
			}
		}
		if len(content) == 0 {
			continue
		}
		if n := len(out.Messages); n > 0 && out.Messages[n-1].Role == role {
			out.Messages[n-1].Content = append(out.Messages[n-1].Content, content...)
			continue
		}
		out.Messages = append(out.Messages, message{role, content})
	}
	out.System = strings.Join(system, "\n\n")
	return out
}

// input is arguments as the object that the API wants. What is no object is shown to the model in one, so that it can see
// what it wrote.
func input(arguments string) json.RawMessage {
	if strings.TrimSpace(arguments) == "" {
		return json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &object) == nil && object != nil {
		return json.RawMessage(arguments)
	}
	b, err := json.Marshal(map[string]string{"INVALID_JSON": arguments})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

// event is one of a stream, or a whole message, or an error: they differ in type.
type event struct {
	Type       string          `json:"type"`
	Index      int64           `json:"index"`
	Block      block           `json:"content_block"`
	Delta      delta           `json:"delta"`
	Message    json.RawMessage `json:"message"` // of message_start an object; of errors without an error object a text
	Usage      *usage          `json:"usage"`
	Error      json.RawMessage `json:"error"`
	Content    []block         `json:"content"` // of a whole message
	StopReason string          `json:"stop_reason"`
}

type block struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
}

type delta struct {
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"` // of message_delta
}

type usage struct {
	Input         *int `json:"input_tokens"` // without those of the caches
	CacheCreation *int `json:"cache_creation_input_tokens"`
	CacheRead     *int `json:"cache_read_input_tokens"`
	Output        *int `json:"output_tokens"`
}

// overwrite takes what a later report says: its counts are totals.
func (u *usage) overwrite(later usage) {
	for _, c := range []struct{ to, from **int }{
		{&u.Input, &later.Input}, {&u.CacheCreation, &later.CacheCreation}, {&u.CacheRead, &later.CacheRead}, {&u.Output, &later.Output},
	} {
		if *c.from != nil {
			*c.to = *c.from
		}
	}
}

func (u usage) item() llm.Item {
	count := func(n *int) int {
		if n == nil {
			return 0
		}
		return *n
	}
	prompt, completion := count(u.Input)+count(u.CacheCreation)+count(u.CacheRead), count(u.Output)
	return llm.Item{Kind: llm.UsageReported, Usage: llm.Usage{Prompt: prompt, Completion: completion, Total: prompt + completion}}
}

// finishReason is a stop reason in the words of Chat Completions, which callers know; one that they have no word for stays.
func finishReason(stop string) string {
	switch stop {
	case "end_turn", "stop_sequence":
		return "stop"
	case "max_tokens", "model_context_window_exceeded":
		return "length"
	case "tool_use":
		return "tool_calls"
	case "refusal":
		return "content_filter"
	}
	return stop
}
