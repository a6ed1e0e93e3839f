package server

import (
	"bytes"

	"github.com/stallwright/stallwright/lifecycle/run"
)

// chunk is one frame of a streamed completion. What does not apply is left out, never null.
type chunk struct {
	ID      string      `json:"id"`
	Object  string      `json:"object"`
	Created int64       `json:"created"`
	Model   string      `json:"model"`
	Choices []choice    `json:"choices"`
	Usage   *usage      `json:"usage,omitempty"`
	Error   *frameError `json:"error,omitempty"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	FinishReason string `json:"finish_reason,omitempty"`
}

type delta struct {
	Role      string         `json:"role,omitempty"`
	Content   *string        `json:"content,omitempty"`
	ToolCalls []toolCallPart `json:"tool_calls,omitempty"`
}

type toolCallPart struct {
	Index    int              `json:"index"` // over the whole answer
	ID       string           `json:"id"`
	Type     string           `json:"type"`
	Function toolCallFunction `json:"function"`
}

type toolCallFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

type frameError struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    string `json:"code"`
}

type sessionInfo struct {
	Model     string `json:"model"`
	SessionID string `json:"session_id"`
}

type usageEvent struct {
	usage
	SessionID string `json:"session_id"`
}

type reasoningEvent struct {
	Content   string `json:"content"`
	AgentID   string `json:"agent_id"`
	AgentName string `json:"agent_name"`
	SessionID string `json:"session_id"`
}

var (
	doneFrame      = []byte("data: [DONE]\n\n")
	heartbeatFrame = []byte(": heartbeat\n\n")
)

// dataFrame is an SSE frame without an event name, as OpenAI's are.
func dataFrame(value any) []byte {
	return frame("", value)
}

// eventFrame is an SSE frame with an event name.
func eventFrame(name string, value any) []byte {
	return frame("event: "+name+"\n", value)
}

// frame relies on JSON having no line breaks of its own.
func frame(head string, value any) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	b.WriteString("data: ")
	b.Write(encode(value))
	b.WriteString("\n\n")
	return b.Bytes()
}

// finishReason is the provider's own; one that named none and ended well stopped.
func finishReason(f run.Finished) string {
	if f.Reason == "" {
		return "stop"
	}
	return f.Reason
}

// usageOf is nil when the provider reported none.
func usageOf(f run.Finished) *usage {
	if !f.Reported {
		return nil
	}
	return &usage{PromptTokens: f.Usage.Prompt, CompletionTokens: f.Usage.Completion, TotalTokens: f.Usage.Total}
}

// modelName is the model as responses carry it.
func (s *Server) modelName() string {
	return s.file.Agent.LLM.Provider + "/" + s.file.Agent.LLM.Model
}
