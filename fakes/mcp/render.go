package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
)

type rawJSON = json.RawMessage

// object is a JSON object of names and values, in their order.
func object(pairs ...any) []byte {
	out := []byte{'{'}
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, quote(pairs[i].(string))...), ':')
		if raw, ok := pairs[i+1].(rawJSON); ok { // as it is, valid or not
			out = append(out, raw...)
			continue
		}
		value, err := json.Marshal(pairs[i+1])
		if err != nil {
			panic(err) // of this package's making
		}
		out = append(out, value...)
	}
	return append(out, '}')
}

// notify sends a notification. Where only the answer can leave, and there is no other stream, it is dropped.
func (c *call) notify(method string, params []byte, on Where, kind, detail string) error {
	pairs := []any{"jsonrpc", "2.0", "method", method}
	if len(params) > 0 {
		pairs = append(pairs, "params", rawJSON(params))
	}
	return c.tell(object(pairs...), on, kind, detail)
}

// tell sends what is no response.
func (c *call) tell(body []byte, on Where, kind, detail string) error {
	if on == OnSession || (c.out != nil && c.out.framing == bodies) {
		return c.aside(body, kind, detail)
	}
	return c.deliver(payload{head: body}, kind, detail)
}

// aside sends on the session's own stream.
func (c *call) aside(body []byte, kind, detail string) error {
	c.f.mu.Lock()
	st := c.p.listen
	c.f.mu.Unlock()
	if st != nil && st.do(c.stopped, func() error { return st.put(payload{head: body}, "") }) == nil {
		c.record(kind, detail)
		return nil
	}
	c.record("dropped", kind+" "+detail)
	return nil
}

// deliver sends on the call's stream, and keeps it for a stream that resumes it.
func (c *call) deliver(p payload, kind, detail string) error {
	id := c.replay.keep(p)
	if c.out == nil && c.replay != nil {
		c.record("kept", kind+" "+detail)
		return nil
	}
	return c.write(func(st *stream) error { return st.put(p, id) }, kind, detail)
}

// respond sends the response, in place of which nothing else comes.
func (c *call) respond(p payload, kind, detail string) error {
	if c.id == nil { // a GET: whatever is sent on its stream
		return c.deliver(p, kind, detail)
	}
	c.f.mu.Lock()
	c.answered = true
	c.f.mu.Unlock()
	return c.deliver(p, kind, detail)
}

// envelope is what stands before and behind the members of a response.
func (c *call) envelope(id ID, version bool) []byte {
	pairs := []any{}
	if version {
		pairs = append(pairs, "jsonrpc", "2.0")
	}
	if raw := c.idAs(id); raw != nil {
		pairs = append(pairs, "id", rawJSON(raw))
	}
	body := object(pairs...)
	return body[:len(body)-1]
}

// idAs is the id of an answer, nil for none.
func (c *call) idAs(id ID) []byte {
	switch id {
	case WrongID:
		return []byte("987654321")
	case NullID:
		return []byte("null")
	case NoID:
		return nil
	case TextID:
		var text string
		if json.Unmarshal(c.id, &text) != nil {
			return quote(string(c.id))
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strconv.AppendInt(nil, n, 10)
		}
		return []byte("987654321")
	case ForeignID:
		c.f.mu.Lock()
		defer c.f.mu.Unlock()
		for other := range c.p.calls {
			if other != string(c.id) {
				return []byte(other)
			}
		}
		return []byte("987654321")
	}
	return c.id
}

func (c *call) result(r Result) error {
	p := c.resultBody(r)
	detail := fmt.Sprintf("id=%s bytes=%d", shown(c.idAs(r.ID), 200), len(p.head)+p.text+len(p.tail))
	if r.IsError {
		detail += " is-error"
	}
	if r.ID != OwnID {
		detail += " as=" + string(r.ID)
	}
	if r.With != ResultAlone {
		detail += " with=" + string(r.With)
	}
	for range max(r.Times, 1) {
		if err := c.respond(p, r.Kind(), detail); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) resultBody(r Result) payload {
	head := c.envelope(r.ID, r.With != NoVersion)
	var p payload
	separate := func() {
		if len(head) > 1 {
			head = append(head, ',')
		}
	}
	switch r.With {
	case Neither:
		return payload{head: append(head, '}')}
	case ErrorToo:
		separate()
		head = append(head, `"error":{"code":-32603,"message":"both at once"}`...)
	}
	separate()
	head = append(head, `"result":`...)
	switch {
	case r.JSON != "":
		head = append(head, r.JSON...)
	case r.Text == "" && r.Size == 0 && r.Structured == "" && c.method != callMethod:
		head = append(head, c.proper()...)
	default:
		head = append(head, '{')
		if c.revision == Modern {
			head = append(head, `"resultType":"complete",`...)
		}
		head = append(head, `"content":[{"type":"text","text":`...)
		if r.Size > 0 {
			head, p.text = append(head, '"'), r.Size
			p.tail = append(p.tail, '"')
		} else {
			head = append(head, quote(cmp.Or(r.Text, r.Structured))...)
		}
		p.tail = append(p.tail, "}]"...)
		if r.Structured != "" {
			p.tail = append(append(p.tail, `,"structuredContent":`...), r.Structured...)
		}
		if r.IsError {
			p.tail = append(p.tail, `,"isError":true`...)
		}
		p.tail = append(p.tail, '}')
	}
	p.head, p.tail = head, append(p.tail, '}')
	return p
}

func (c *call) fail(e Error) error {
	pairs := []any{"code", e.Code, "message", cmp.Or(e.Message, "the server says no")}
	if e.Data != "" {
		pairs = append(pairs, "data", rawJSON(e.Data))
	}
	body := append(c.envelope(e.ID, true), `,"error":`...)
	body = append(append(body, object(pairs...)...), '}')
	detail := fmt.Sprintf("id=%s code=%d %.200s", shown(c.idAs(e.ID), 200), e.Code, e.Message)
	return c.respond(payload{head: body}, e.Kind(), detail)
}
