// Package llm calls a language model provider and turns its bytes into items. Each wire dialect is a package below this one.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
)

// Client calls one provider. It is safe for concurrent use.
type Client interface {
	// Stream makes one model turn and calls emit, on the calling goroutine, for each item in the order the
	// provider sent it. It returns nil only when the provider ended the stream as its dialect says a complete
	// answer ends. Else it returns an *Error, the error of emit, or the cause of ctx when ctx ended the call.
	// The connection is closed or given back before Stream returns.
	Stream(ctx context.Context, r Request, emit func(Item) error) error
}

// Request is one model turn as the agent loop asks for it.
type Request struct {
	Model    string
	Messages []Message
	Tools    []Tool // that the model may call
}

// Tool is a function that a model may call.
type Tool struct {
	Name        string // as providers take it: letters, digits, _ and -, at most 64
	Description string
	Schema      json.RawMessage // of its arguments, a JSON Schema of an object; any object when nil
}

// Parameters is the schema, never empty: providers refuse a tool without one.
func (t Tool) Parameters() json.RawMessage {
	if len(t.Schema) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}

// Message is one entry of the conversation.
type Message struct {
	Role       string // system, user, assistant, tool
	Content    string
	ToolCalls  []ToolCall // of an assistant message
	ToolCallID string     // of a tool message
}

// ToolCall is a call the model asked for, complete.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON as the model wrote it
}

// Kind says what an item carries.
type Kind int

// The kinds of items. Comments, pings, role-only frames and empty deltas are not items.
const (
	Text Kind = iota + 1
	Reasoning
	ToolCallOpened    // Index, Call.ID and Call.Name
	ToolCallArguments // Index and Text, a fragment of the arguments
	UsageReported     // Usage
	Finished          // Text is the finish reason, in the words of Chat Completions where it has one, else the provider's own
)

// Item is one decoded piece of provider output.
type Item struct {
	Kind  Kind
	Text  string
	Index int // which tool call of this turn
	Call  ToolCall
	Usage Usage
}

// Usage counts tokens as the provider reported them.
type Usage struct {
	Prompt, Completion, Total int
}

// Code says how a provider failed, in the words of the terminal frame.
type Code string

// The ways a provider fails.
const (
	ProviderError     Code = "provider_error"     // a status, an error frame, a body that is no answer, no connection
	ProviderTruncated Code = "provider_truncated" // the stream ended without its terminator
)

// Error is a failure of the provider. Message never holds credentials.
type Error struct {
	Code    Code
	Status  int // HTTP status, 0 when there was none
	Message string
	Err     error // what the network or the decoder said, may be nil
}

// Error names the code first, then the status if there was one.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("llm: %s: status %d: %s", e.Code, e.Status, e.Message)
	}
	return fmt.Sprintf("llm: %s: %s", e.Code, e.Message)
}

// Unwrap is what the network or the decoder said.
func (e *Error) Unwrap() error { return e.Err }
