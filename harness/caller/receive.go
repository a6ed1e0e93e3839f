package caller

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// What one answer may hold before the caller gives it up; above what any scenario makes a server send.
const (
	lineLimit   = 32 << 20
	answerLimit = 256 << 20
)

// receive reads the answer to its end, one timeline event a frame.
func (r *Request) receive(conn net.Conn) {
	in := bufio.NewReaderSize(io.LimitReader(conn, answerLimit), 4<<10)
	method := &http.Request{Method: r.method()}
	resp, err := http.ReadResponse(in, method)
	if err != nil {
		r.over("no response", err)
		return
	}
	defer resp.Body.Close()
	kind := resp.Header.Get("Content-Type")
	status := fmt.Sprintf("%d %s", resp.StatusCode, kind)
	if retry := resp.Header.Get("Retry-After"); retry != "" {
		status += ", retry-after " + retry
	}
	r.note("status", status)
	if session := resp.Header.Get("X-Chat-Session-Id"); session != "" {
		r.note("session", session)
	}
	if strings.HasPrefix(kind, "text/event-stream") {
		err = r.stream(resp.Body)
	} else {
		err = r.document(resp)
	}
	if err != nil {
		r.over("cut", err)
		return
	}
	r.note("end", "complete")
}

// over records how an answer ended that did not end well, unless the caller itself went away.
func (r *Request) over(how string, err error) {
	if r.gone() {
		return
	}
	switch {
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		how += ": reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		how += ": closed"
	default:
		how += ": " + err.Error()
	}
	r.note("end", how)
}

// stream reads server-sent events.
func (r *Request) stream(body io.Reader) error {
	in := bufio.NewReaderSize(body, 4<<10)
	var name string
	var data []string
	for {
		line, err := readLine(in)
		if err == io.EOF && line == "" {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if name != "" || data != nil {
				r.frame(name, strings.Join(data, "\n"))
			}
			name, data = "", nil
		case field == "":
			r.note("comment", value)
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		}
		if err == io.EOF {
			return nil
		}
	}
}

func readLine(in *bufio.Reader) (string, error) {
	var b []byte
	for {
		part, err := in.ReadSlice('\n')
		b = append(b, part...)
		if err == bufio.ErrBufferFull {
			if len(b) > lineLimit {
				return "", fmt.Errorf("a line of more than %d bytes", lineLimit)
			}
			continue
		}
		return strings.TrimRight(string(b), "\r\n"), err
	}
}

// chunk is what the caller knows of a Chat Completions answer, streamed or not.
type chunk struct {
	ID      any
	Choices []struct {
		Delta        message
		Message      message
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
	Error *struct {
		Message string
		Type    string
		Code    any
	}
}

type message struct {
	Role      string
	Content   string
	Reasoning string `json:"reasoning_content"`
	ToolCalls []struct {
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// frame records one server-sent event: an event with a name as it is, a chunk by what it carries.
func (r *Request) frame(name, data string) {
	switch {
	case name != "":
		r.note("event", name+" "+data)
	case data == "[DONE]":
		r.note("done", "")
	default:
		r.chunk(data)
	}
}

// chunk records what an OpenAI object carries, one event for each thing, and its id when it is the first that has one.
func (r *Request) chunk(data string) {
	var c chunk
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		r.note("garbage", data)
		return
	}
	if id, _ := c.ID.(string); id != "" && !r.named {
		r.named = true
		r.note("id", id)
	}
	for _, choice := range c.Choices {
		m := choice.Delta
		if m.Content == "" && m.Role == "" && m.ToolCalls == nil {
			m = choice.Message
		}
		if m.Reasoning != "" {
			r.note("reasoning", m.Reasoning)
		}
		if m.Content != "" {
			r.note("text", m.Content)
		}
		for _, call := range m.ToolCalls {
			r.note("tool", call.Function.Name+" "+call.Function.Arguments)
		}
		if choice.FinishReason != nil && c.Error == nil {
			r.note("finish", *choice.FinishReason)
		}
	}
	if u := c.Usage; u != nil {
		r.note("usage", fmt.Sprintf("prompt %d, completion %d, total %d", u.Prompt, u.Completion, u.Total))
	}
	if e := c.Error; e != nil {
		code, _ := e.Code.(string)
		r.note("error", fmt.Sprintf("%s: %s", code, e.Message))
	}
}

// document reads an answer that is not a stream.
func (r *Request) document(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, lineLimit))
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		r.note("garbage", string(body))
		return nil
	}
	r.chunk(string(body))
	return nil
}
