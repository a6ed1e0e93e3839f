// Package tools is the server's MCP side: it connects to the configured servers for one run at a time, lists their tools, calls them,
// and cancels what is in flight when the run ends.
//
//	Pool.Lease ─▶ Lease ─▶ conn (one a server) ─▶ mcp-go client ─▶ link ─▶ mcp-go transport ─▶ HTTP filter or child process
//
// The client and the transports are mcp-go's. The link and the filter below stand between them where the protocol asks for more than
// they do: ids are checked, every size is bounded, and a call that is given up is cancelled once, with the run's own reason.
package tools

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Transports of a [Server].
const (
	HTTPStreamable = "http_streamable"
	SSE            = "sse"
	Stdio          = "stdio"
)

// Server is one configured MCP server.
type Server struct {
	Name      string // unique in a pool
	Transport string // HTTPStreamable, SSE or Stdio

	URL     string            // of the two HTTP transports
	Headers map[string]string // sent with every HTTP request; what the protocol itself sets wins
	// HeadersFromRequest names, for each header sent, the header of the client's request that its value is copied from. One that the
	// client did not send is not sent.
	HeadersFromRequest map[string]string

	Command string   // of Stdio: looked up in PATH
	Args    []string // of Stdio
	// Env is what the child's environment holds beside the few variables that programs need to start (PATH, HOME and the like): the
	// server's own environment holds keys that no tool should see.
	Env map[string]string

	Revision string // protocol version, such as "2025-11-25"; empty asks the server
}

// Status says how one server answered.
type Status struct {
	Server    string
	Connected bool
	Tools     int
	Error     string // why not connected, or what of its list was left out; at most 500 bytes, without credentials
}

// Tool is a tool as the model is told of it.
type Tool struct {
	Server      string
	Name        string          // unique in the lease, of 1 to 64 letters, digits, - and _
	Description string          // the server's words
	Schema      json.RawMessage // of the arguments, as the server sent it; an object
}

// Call is one tool call as the model asked for it.
type Call struct {
	ID        string // the model's
	Name      string // a [Tool.Name]
	Arguments json.RawMessage
}

// Progress is how far a server says that a call is.
type Progress struct {
	Progress, Total float64 // Total is 0 when it is not known
	Message         string  // at most 1 KiB
}

// Result is what a tool answered.
type Result struct {
	Text    string // all content joined by line ends, at most 1 MiB and a note when there was more
	IsError bool   // the tool, or its server, says that the call failed
}

// ErrUnknownTool is the error of a call whose name is no tool of the lease. Nothing was sent.
var ErrUnknownTool = errors.New("tools: there is no such tool")

// errOver is the error of a call on a lease that was given back.
var errOver = errors.New("tools: the lease is over")

// TransportError is a call that got no answer: the connection failed, or what came is none. Whether the tool ran is not known.
type TransportError struct {
	Server  string
	Message string // at most 500 bytes, without credentials
}

// Error names the server first.
func (e *TransportError) Error() string { return fmt.Sprintf("tools: %s: %s", e.Server, e.Message) }
