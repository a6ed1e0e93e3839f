package mcp

import (
	"fmt"
	"strconv"
	"time"
)

// asking is a request of the server's that has no answer yet.
type asking struct {
	answered chan struct{}
	answer   message // once answered is closed
}

// asksLimit bounds the requests of the server to one client that are never answered.
const asksLimit = 10_000

// ask sends a request to the client.
func (c *call) ask(a Ask) error {
	c.f.mu.Lock()
	c.p.asked++
	id := quote("ask-" + strconv.Itoa(c.p.asked))
	if a.ID == SameID && c.id != nil {
		id = c.id
	}
	waiting := &asking{answered: make(chan struct{})}
	if len(c.p.asks) < asksLimit {
		c.p.asks[string(id)] = waiting
	}
	c.f.mu.Unlock()
	params := a.Params
	if params == "" {
		params = properParams(a.Method)
	}
	body := object("jsonrpc", "2.0", "id", rawJSON(id), "method", a.Method, "params", rawJSON(params))
	if err := c.tell(body, a.On, a.Kind(), fmt.Sprintf("%.100s id=%s", a.Method, id)); err != nil || a.Blind {
		return err
	}
	var until time.Time
	if a.For > 0 {
		until = time.Now().Add(a.For)
	}
	if err := c.wait(until, waiting.answered); err != nil {
		return err
	}
	c.due = time.Now()
	select {
	case <-waiting.answered:
		c.record("answered", fmt.Sprintf("id=%s %s", id, outcome(waiting.answer)))
	default:
		c.record("unanswered", fmt.Sprintf("id=%s", id))
	}
	return nil
}

func properParams(method string) string {
	switch method {
	case "sampling/createMessage":
		return `{"messages":[{"role":"user","content":{"type":"text","text":"say hello"}}],"maxTokens":16}`
	case "elicitation/create":
		return `{"message":"which name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`
	}
	return "{}"
}

// outcome is a response as it stands in details.
func outcome(m message) string {
	if m.Error != nil {
		return "error=" + shown(m.Error, 300)
	}
	return "result=" + shown(m.Result, 300)
}

// responded takes a response of the client.
func (f *Fake) responded(p *peer, owner *session, m message) {
	f.mu.Lock()
	waiting := p.asks[string(m.ID)]
	delete(p.asks, string(m.ID))
	f.mu.Unlock()
	f.record(owner, f.Name, "response", fmt.Sprintf("id=%s %s", shown(m.ID, 100), outcome(m)))
	if waiting == nil {
		f.record(owner, f.Name, "violation", "a response to nothing that was asked: id="+shown(m.ID, 100))
		return
	}
	waiting.answer = m
	close(waiting.answered)
}
