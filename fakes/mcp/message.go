package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// message is one of JSON-RPC: a request (method and id), a notification (method), or a response (id).
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // as it was, nil when there is none
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// params are those that the fake looks at, of any method.
type params struct {
	Name            string          `json:"name"`
	Arguments       json.RawMessage `json:"arguments"`
	ProtocolVersion string          `json:"protocolVersion"`
	RequestID       json.RawMessage `json:"requestId"`
	Reason          string          `json:"reason"`
	Meta            struct {
		Token        json.RawMessage `json:"progressToken"`
		Revision     string          `json:"io.modelcontextprotocol/protocolVersion"`
		Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`
}

// Codes of errors of JSON-RPC and MCP.
const (
	codeParse          = -32700
	codeRequest        = -32600
	codeMethod         = -32601
	codeParams         = -32602
	codeInternal       = -32603
	codeHeader         = -32020
	codeRevision       = -32022
	codeRequestStopped = -32800
)

// fatal is why a message is not answered by a call.
type fatal struct {
	status int // of HTTP
	code   int
	why    string
	data   string // JSON
	honest bool   // the client has done nothing wrong
}

func (e *fatal) Error() string { return e.why }

func parse(b []byte) (message, *fatal) {
	var m message
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '[' {
		return m, &fatal{status: 400, code: codeRequest, why: "a batch of messages: the fake takes one at a time"}
	}
	if err := json.Unmarshal(b, &m); err != nil {
		why := "the message is no JSON-RPC"
		if wrong := new(json.SyntaxError); errors.As(err, &wrong) {
			why = fmt.Sprintf("the message is no JSON at byte %d", wrong.Offset)
		}
		return m, &fatal{status: 400, code: codeParse, why: why}
	}
	switch {
	case m.Method == "" && m.ID == nil:
		return m, &fatal{status: 400, code: codeRequest, why: "the message has no method and no id"}
	case m.Method != "" && string(m.ID) == "null":
		return m, &fatal{status: 400, code: codeRequest, why: "the id of a request is null"}
	case m.JSONRPC != "2.0":
		return m, &fatal{status: 400, code: codeRequest, why: fmt.Sprintf("jsonrpc is %.40q: want 2.0", m.JSONRPC)}
	}
	return m, nil
}

func (m message) request() bool { return m.Method != "" && m.ID != nil }

// parameters are what is known of m's; those that are none are taken for empty.
func (m message) parameters() params {
	var p params
	json.Unmarshal(m.Params, &p)
	if len(p.Arguments) == 0 || string(p.Arguments) == "null" {
		p.Arguments = json.RawMessage("{}")
	}
	return p
}

// shown is JSON as it stands in details: on one line, and bounded.
func shown(raw json.RawMessage, most int) string {
	var b bytes.Buffer
	// Only the beginning is compacted of what is cut anyway: it may have megabytes.
	if len(raw) > 8*most {
		return fmt.Sprintf("%.*q…", most, raw[:most])
	}
	if json.Compact(&b, raw) != nil {
		return fmt.Sprintf("%.*q", most, raw)
	}
	if b.Len() > most {
		return string(bytes.ToValidUTF8(b.Bytes()[:most], nil)) + "…"
	}
	return b.String()
}

// quote is text as JSON.
func quote(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string
	}
	return b
}
