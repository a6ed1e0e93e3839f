package run

import (
	"encoding/json"
	"time"
)

// Event is something the response may show: one of the types of this file.
type Event interface{ event() }

// Text is a piece of the answer.
type Text struct{ Content string }

// Reasoning is a piece of visible thinking.
type Reasoning struct{ Content string }

// Finished is the last event of an answer that is complete.
type Finished struct {
	Reason   string // the provider's own finish reason, may be empty
	Usage    Usage
	Reported bool // whether the provider reported any usage
}

// ToolsConnected is the first event of a run whose agent has MCP servers: how connecting to each of them went.
type ToolsConnected struct{ Servers []ToolServer }

// ToolServer is one MCP server as a run found it.
type ToolServer struct {
	Name, Transport string
	Connected       bool
	Tools           int
	Reason          string // why it is not connected; holds no credentials
}

// ToolRequested announces a call that the model asked for.
type ToolRequested struct {
	ID, Name  string
	Arguments json.RawMessage // an object; {} when what the model wrote is none
}

// ToolStarted says that a call is being executed.
type ToolStarted struct {
	ID, Name string
	Token    int // of its progress
}

// ToolProgress is what a tool tells of its progress.
type ToolProgress struct {
	Token           int
	Message         string
	Progress, Total float64 // a total of 0 is unknown
}

// ToolCompleted is the result of a call.
type ToolCompleted struct {
	ID, Name string
	Duration time.Duration // since it was announced
	Failed   bool
	Content  string // the result, or what went wrong
}

// ToolUsage is what the model turn cost that read the results of these calls.
type ToolUsage struct {
	IDs   []string
	Usage Usage
}

// Usage counts tokens, summed over the run's model turns.
type Usage struct{ Prompt, Completion, Total int }

func (e Text) event()      {}
func (e Reasoning) event() {}
func (e Finished) event()  {}

func (e ToolsConnected) event() {}
func (e ToolRequested) event()  {}
func (e ToolStarted) event()    {}
func (e ToolProgress) event()   {}
func (e ToolCompleted) event()  {}
func (e ToolUsage) event()      {}
