package mcp

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strconv"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// strike does what a fault says, at its instant.
func (c *call) strike(step script.Step) error {
	switch s := step.(type) {
	case fault.Stall:
		if s.For > 0 {
			c.record(s.Kind(), s.For.String())
			c.due = c.due.Add(s.For)
			return nil
		}
		c.record(s.Kind(), "for ever")
		return c.rest()
	case fault.Split, fault.Drip, fault.Garble:
		return c.shape(step)
	case fault.Cut, fault.Reset, fault.HalfClose:
		return c.part(step)
	case fault.Status:
		return c.status(s)
	}
	c.record("violation", fmt.Sprintf("an MCP server has no step %T", step))
	return nil
}

// shape breaks, splits or drips what follows. It is recorded when it strikes.
func (c *call) shape(step script.Step) error {
	if st := c.out; st != nil {
		return st.do(c.stopped, func() error { st.shape(step); return nil })
	}
	return nil
}

// part ends the call's connection, or its pipe, before the answer has ended. Over HTTP+SSE and a GET that is the event
// stream.
func (c *call) part(step script.Step) error {
	st := c.out
	if st == nil {
		c.record("dropped", step.Kind())
		return nil
	}
	if st.x == nil {
		if _, shut := step.(fault.Cut); !shut || !st.pipe.close() {
			c.record("violation", step.Kind()+" needs a connection: this is a pipe")
			return nil
		}
		c.record(step.Kind(), "")
		c.out = nil
		return nil
	}
	err := st.do(c.stopped, func() error {
		switch step.(type) {
		case fault.Cut:
			st.prepare()
			if err := st.x.Flush(); err != nil {
				return err
			}
			st.x.Cut()
		case fault.Reset:
			st.x.Reset()
		case fault.HalfClose:
			st.last = true
			return st.x.HalfClose()
		}
		return nil
	})
	if err != nil {
		return c.left()
	}
	c.record(step.Kind(), "")
	if _, half := step.(fault.HalfClose); !half {
		c.out = nil
		if c.id == nil {
			return errEnded
		}
	}
	return nil
}

// status answers with a status and a body in place of JSON-RPC.
func (c *call) status(s fault.Status) error {
	st := c.out
	if st == nil || st.x == nil {
		c.record("violation", s.Kind()+" needs an HTTP answer")
		return nil
	}
	body := []byte(s.Body)
	if s.Body == "" && !s.Blank {
		body = object("error", rawJSON(object("message", http.StatusText(s.Code))))
	}
	return c.write(func(st *stream) error {
		if st.headed {
			return errOver
		}
		st.header.Set("Content-Type", cmp.Or(s.ContentType, "application/json"))
		st.header.Set("Content-Length", strconv.Itoa(len(body)))
		for name, value := range s.Header {
			st.header.Set(name, value)
		}
		st.status = s.Code
		st.prepare()
		if len(body) == 0 {
			return st.x.Flush()
		}
		return st.bytes(body)
	}, s.Kind(), strconv.Itoa(s.Code))
}

// garble breaks the bytes of one message.
func garble(b []byte, how string, f framing) []byte {
	data := []byte("data: ")
	at := 0
	if f == events {
		at = bytes.Index(b, data) + len(data)
	}
	end := bytes.TrimRight(b, "\n")
	tail := b[len(end):]
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	switch how {
	case "plain":
		return join(b[:at], []byte("upstream connect error"), tail)
	case "doubled":
		if f == events {
			return join(b[:at], data, end[at:], tail)
		}
	case "no-blank":
		if f == events {
			return join(end, []byte("\n"))
		}
		return end
	case "no-event":
		return bytes.TrimPrefix(b, []byte("event: message\n"))
	case "no-data":
		return join(b[:at], tail)
	case "utf-8":
		if i := bytes.LastIndexByte(end, '"'); i > at {
			return join(end[:i], []byte{0xff}, end[i:], tail)
		}
	default: // brace
		return join(bytes.TrimSuffix(end, []byte("}")), tail)
	}
	return b
}
