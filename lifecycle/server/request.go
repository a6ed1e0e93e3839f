package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

const (
	maxBody      = 2 << 20          // bytes of a request
	bodyWindow   = 30 * time.Second // for a request's body: 2 MiB take that long at 70 kB/s
	maxSessionID = 128              // bytes
)

// chatRequest is what the server reads of a chat completion request. All other fields are ignored.
type chatRequest struct {
	Messages []message         `json:"messages"`
	Stream   bool              `json:"stream"`
	Metadata map[string]string `json:"metadata"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is a text, or the texts of an array of text parts put together. null is empty.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return c.unmarshalParts(data)
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return errors.New("messages.content must be a string or an array of text parts")
	}
	*c = content(text)
	return nil
}

func (c *content) unmarshalParts(data []byte) error {
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return errors.New("messages.content must be a string or an array of text parts")
	}
	for _, p := range parts {
		if p.Type != "text" {
			return errors.New("messages.content may hold parts of type text only")
		}
		*c += content(p.Text)
	}
	return nil
}

// readRequest reads and checks the body. It returns a problem for a request that cannot be played; when the run ended meanwhile, the
// problem is that ending's.
func (x *exchange) readRequest() (*chatRequest, *problem) {
	body, p := x.readBody()
	if p != nil {
		return nil, p
	}
	q, p := parse(body)
	if p != nil {
		return nil, p
	}
	return q, q.check()
}

// readBody reads to the end of the body: the HTTP server notices that a client left only after that.
func (x *exchange) readBody() ([]byte, *problem) {
	_ = x.conn.SetReadDeadline(time.Now().Add(bodyWindow))
	stop := context.AfterFunc(x.run.Context(), x.interruptRead)
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, maxBody))
	if !stop() {
		x.w.Header().Set("Connection", "close") // its read side is spoilt
		return nil, problemOf(x.run.Ending())
	}
	_ = x.conn.SetReadDeadline(time.Time{})
	if err != nil {
		return nil, x.bodyProblem(err)
	}
	close(x.received)
	return body, nil
}

// interruptRead keeps a body that does not come from holding the run's ending.
func (x *exchange) interruptRead() {
	_ = x.conn.SetReadDeadline(time.Unix(1, 0))
}

func (x *exchange) bodyProblem(err error) *problem {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return newProblem(http.StatusRequestEntityTooLarge, invalidRequest, fmt.Sprintf("the request body is longer than %d bytes", maxBody))
	}
	x.w.Header().Set("Connection", "close") // the rest of the body may still come
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return newProblem(http.StatusRequestTimeout, invalidRequest, fmt.Sprintf("the request body did not arrive within %v", bodyWindow))
	}
	if x.r.Context().Err() != nil { // the connection itself failed, not the form of the body
		x.run.End(run.Ending{How: run.Disconnected, Message: "the client left while it sent its request"})
	}
	return newProblem(http.StatusBadRequest, invalidRequest, "the request body cannot be read")
}

func parse(body []byte) (*chatRequest, *problem) {
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, newProblem(http.StatusBadRequest, invalidRequest, "the request body is not a JSON object")
	}
	var q chatRequest
	err := json.Unmarshal(body, &q)
	if err == nil {
		return &q, nil
	}
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		p := newProblem(http.StatusBadRequest, invalidRequest, fmt.Sprintf("%s cannot be a JSON %s", mistyped.Field, mistyped.Value))
		p.Param = &mistyped.Field
		return nil, p
	}
	return nil, newProblem(http.StatusBadRequest, invalidRequest, "the request body is not valid: "+err.Error())
}

func (q *chatRequest) check() *problem {
	if len(q.Messages) == 0 {
		return newProblem(http.StatusBadRequest, invalidRequest, "No messages provided")
	}
	if last := q.Messages[len(q.Messages)-1]; last.Role != "user" {
		return newProblem(http.StatusBadRequest, invalidRequest, "Last message must be from user, got: "+knownRole(last.Role))
	}
	return nil
}

// knownRole keeps a stranger's text out of an error message.
func knownRole(role string) string {
	switch role {
	case "system", "user", "assistant", "tool":
		return role
	default:
		return "unknown"
	}
}

// conversation is what the model is sent of the request: what user and assistant said, blank messages left out, and the last message
// whatever it holds. The agent's own system prompt is the only one, and without tools nothing can be told of their results.
func (q *chatRequest) conversation() []llm.Message {
	last := len(q.Messages) - 1
	var messages []llm.Message
	for i, m := range q.Messages {
		said := m.Role == "user" || m.Role == "assistant"
		blank := strings.TrimSpace(string(m.Content)) == ""
		if said && !blank || i == last {
			messages = append(messages, llm.Message{Role: m.Role, Content: string(m.Content)})
		}
	}
	return messages
}

// session is the id of the chat this request belongs to: the client's, or a fresh one when it names none or one that cannot stand in a
// header.
func (q *chatRequest) session(h http.Header) string {
	id := q.Metadata["chat_session_id"]
	if id == "" {
		id = h.Get("X-Chat-Session-Id")
	}
	if id == "" {
		id = h.Get("X-Openwebui-Chat-Id")
	}
	if !printable(id) {
		return newID("cs_")
	}
	return id
}

func printable(id string) bool {
	if id == "" || len(id) > maxSessionID {
		return false
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

func newID(prefix string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}
