package server

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/stallwright/stallwright/lifecycle/run"
)

// tail is what ends every event about an agent's work.
type tail struct {
	AgentID   string `json:"agent_id"`
	AgentName string `json:"agent_name"`
	SessionID string `json:"session_id"`
}

func (o *stream) tail() tail {
	return tail{o.x.server.agentID(), o.x.server.file.Agent.Name, o.session}
}

type mcpStatus struct {
	Servers   []mcpServer `json:"servers"`
	SessionID string      `json:"session_id"`
}

type mcpServer struct {
	Name      string `json:"server_name"`
	Transport string `json:"transport"`
	Status    string `json:"status"` // connected or failed
	Tools     int    `json:"tools_count"`
	Reason    string `json:"reason,omitempty"`
}

type toolRequested struct {
	ID        string          `json:"tool_id"`
	Name      string          `json:"tool_name"`
	Arguments json.RawMessage `json:"arguments"`
	tail
}

type toolStart struct {
	ID    string `json:"tool_id"`
	Name  string `json:"tool_name"`
	Token int    `json:"progress_token"`
	tail
}

type toolProgress struct {
	Message string `json:"message"`
	Phase   string `json:"phase"`
	Percent *int   `json:"percent,omitempty"`
	Token   int    `json:"progress_token"`
	tail
}

type toolComplete struct {
	ID       string  `json:"tool_id"`
	Name     string  `json:"tool_name"`
	Duration int64   `json:"duration_ms"`
	Success  bool    `json:"success"`
	Result   *string `json:"result,omitempty"`
	Error    *string `json:"error,omitempty"`
	tail
}

type toolUsage struct {
	IDs []string `json:"tool_ids"`
	usage
	SessionID string `json:"session_id"`
}

func tokensOf(u run.Usage) usage {
	return usage{PromptTokens: u.Prompt, CompletionTokens: u.Completion, TotalTokens: u.Total}
}

// custom writes an aura event, where they are on.
func (o *stream) custom(name string, value any) {
	if o.x.server.settings.CustomEvents {
		o.write(eventFrame(name, value))
	}
}

func (o *stream) toolsConnected(e run.ToolsConnected) {
	status := mcpStatus{Servers: []mcpServer{}, SessionID: o.session}
	for _, s := range e.Servers {
		to := mcpServer{Name: s.Name, Transport: s.Transport, Status: "failed", Tools: s.Tools, Reason: s.Reason}
		if s.Connected {
			to.Status = "connected"
		}
		status.Servers = append(status.Servers, to)
	}
	o.custom("aura.mcp_status", status)
}

// toolRequested tells clients of Chat Completions too, in one chunk a call. Open WebUI wants the result in a second one, where
// arguments stand.
func (o *stream) toolRequested(e run.ToolRequested) {
	arguments := string(e.Arguments)
	if o.x.server.settings.ToolResultMode == "open-web-ui" {
		arguments = ""
	}
	o.called = append(o.called, e.ID)
	o.toolCall(len(o.called)-1, e.ID, e.Name, arguments)
	o.custom("aura.tool_requested", toolRequested{e.ID, e.Name, e.Arguments, o.tail()})
}

func (o *stream) toolCompleted(e run.ToolCompleted) {
	event := toolComplete{ID: e.ID, Name: e.Name, Duration: e.Duration.Milliseconds(), Success: !e.Failed, tail: o.tail()}
	if e.Failed {
		event.Error = &e.Content
	} else {
		event.Result = &e.Content
	}
	o.custom("aura.tool_complete", event)
	if at := slices.Index(o.called, e.ID); at >= 0 && o.x.server.settings.ToolResultMode == "open-web-ui" {
		o.toolCall(at, e.ID, "", e.Content)
	}
}

func (o *stream) toolCall(index int, id, name, arguments string) {
	part := toolCallPart{Index: index, ID: id, Type: "function", Function: toolCallFunction{name, arguments}}
	o.write(dataFrame(o.chunk(choice{Delta: delta{ToolCalls: []toolCallPart{part}}})))
}

// progressOf puts progress in words where the tool gave none, and in percent where it said of how much.
func progressOf(e run.ToolProgress, t tail) toolProgress {
	p := toolProgress{Message: e.Message, Phase: "mcp_progress", Token: e.Token, tail: t}
	if p.Message == "" {
		p.Message = fmt.Sprintf("Progress: %v", e.Progress)
	}
	if e.Total > 0 {
		percent := int(math.Max(0, math.Min(100, e.Progress/e.Total*100)))
		p.Percent = &percent
	}
	return p
}
