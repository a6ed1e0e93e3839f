package tools

import (
	"bytes"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxBytes bounds one message of a server, in bytes: room for an image or two, and a tenth of what would hurt.
const maxBytes = 8 << 20

// kind is what a message of a server is.
type kind int

const (
	noise kind = iota // no JSON-RPC message that we can take
	notification
	request
	response
)

// classify looks at a message's head. The id is that of a request or response.
func classify(raw []byte) (kind, mcp.RequestId, string) {
	var head struct {
		ID     mcp.RequestId   `json:"id"`
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(raw, &head) != nil {
		return noise, mcp.RequestId{}, ""
	}
	switch {
	case head.Method != "" && head.ID.IsNil():
		return notification, head.ID, head.Method
	case head.Method != "":
		return request, head.ID, head.Method
	case head.ID.IsNil() && head.Error == nil:
		return noise, head.ID, ""
	default:
		return response, head.ID, ""
	}
}

// idScanner finds the id of a JSON object that is too large to be kept, or broken, byte by byte. What it finds in broken JSON is a guess.
type idScanner struct {
	depth           int
	quoted, escaped bool
	word            []byte // of the string or scalar at depth 1, up to a length that no id of ours has
	key             string // the last string at depth 1 that stands before a colon
	value           bool   // after that colon
	id              string
	found, method   bool
}

func (s *idScanner) feed(data []byte) {
	for len(data) > 0 {
		if s.quoted && !s.escaped && s.depth > 1 { // most of what is large is in one string
			if i := bytes.IndexAny(data, `"\`); i < 0 {
				return
			} else {
				data = data[i:]
			}
		}
		s.step(data[0])
		data = data[1:]
	}
}

func (s *idScanner) step(b byte) {
	if s.quoted {
		s.keep(b)
		switch {
		case s.escaped:
			s.escaped = false
		case b == '\\':
			s.escaped = true
		case b == '"':
			s.quoted = false
		}
		return
	}
	switch b {
	case '"':
		s.quoted = true
		if s.depth == 1 {
			s.word = s.word[:0]
		}
		s.keep(b)
	case '{', '[':
		s.depth++
	case '}', ']':
		s.end()
		s.depth--
	case ':':
		if s.depth == 1 && !s.value {
			s.key, s.value, s.word = string(s.word), true, s.word[:0]
		}
	case ',':
		s.end()
	case ' ', '\t', '\r', '\n':
	default:
		s.keep(b)
	}
}

func (s *idScanner) keep(b byte) {
	if s.depth == 1 && len(s.word) < 64 {
		s.word = append(s.word, b)
	}
}

// end is the end of a member.
func (s *idScanner) end() {
	if s.depth != 1 {
		return
	}
	switch {
	case s.value && s.key == `"id"` && !s.found:
		s.id, s.found = string(s.word), true
	case s.value && s.key == `"method"`:
		s.method = true
	}
	s.value, s.key, s.word = false, "", s.word[:0]
}

// response is the id, if what was fed is a response.
func (s *idScanner) response() (mcp.RequestId, bool) {
	var id mcp.RequestId
	if !s.found || s.method || json.Unmarshal([]byte(s.id), &id) != nil || id.IsNil() {
		return id, false
	}
	return id, true
}
