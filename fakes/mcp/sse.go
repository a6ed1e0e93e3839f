package mcp

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// The paths of HTTP+SSE.
const (
	ssePath      = "/sse"
	messagesPath = "/messages"
)

// openEvents takes the GET of HTTP+SSE, whose stream is the client's session.
func (f *Fake) openEvents(w http.ResponseWriter, r *http.Request, owner *session) {
	p := newPeer(V20241105, true)
	p.stream = true
	p.begins(r)
	c := f.scripted(getMethod, nil, p, owner)
	f.mu.Lock()
	p.id = f.sessionID()
	if len(f.peers) < f.maxPeers() || c != nil {
		f.record(owner, f.Name, "get", p.id)
		f.open(p, owner)
		if c == nil {
			c = f.quiet(getMethod, p, owner, hold{})
		}
	}
	f.mu.Unlock()
	f.listen(w, r, c)
}

// greet tells the client of HTTP+SSE where its messages go.
func (c *call) greet() error {
	if !c.p.stream || c.shared == nil || c.refuses() {
		return nil
	}
	const event = "event: endpoint\ndata: "
	proper := event + messagesPath + "?sessionId=" + c.p.id + "\n\n"
	manner := c.owner.Script.Manners.Endpoint
	switch manner {
	case NoEndpoint:
		return c.headers(script.Headers{})
	case ForeignEndpoint:
		proper = event + "http://elsewhere.invalid" + messagesPath + "?sessionId=" + c.p.id + "\n\n"
	case TwoEndpoints:
		proper += proper
	}
	return c.raw(proper, "endpoint", strings.TrimSpace(c.p.id+" "+string(manner)))
}

// refuses says whether a program begins with what is no event stream.
func (c *call) refuses() bool {
	switch c.steps[0].(type) {
	case fault.Status, fault.Cut, fault.Reset:
		return true
	}
	return false
}

// postEvents takes one message of HTTP+SSE.
func (f *Fake) postEvents(w http.ResponseWriter, r *http.Request, owner *session) {
	m, no := f.read(w, r)
	if no != nil {
		f.refuse(w, owner, nil, no)
		return
	}
	id := r.URL.Query().Get("sessionId")
	f.mu.Lock()
	p := f.known(id, owner)
	if p != nil {
		f.recognise(p, owner, r, m.Method)
	}
	f.mu.Unlock()
	if p == nil || !p.stream {
		f.refuse(w, owner, m.ID, &fatal{status: http.StatusNotFound, code: codeRequest, why: fmt.Sprintf("no session %.100q", id), honest: true})
		return
	}
	w.WriteHeader(http.StatusAccepted)
	f.dispatch(m, p, owner, r)
}

// dispatch does what a message says that came where answers go elsewhere: on the client's one stream.
func (f *Fake) dispatch(m message, p *peer, owner *session, r *http.Request) {
	f.mu.Lock()
	st := p.listen
	f.mu.Unlock()
	if !m.request() {
		if m.Method == "" {
			f.responded(p, owner, m)
			return
		}
		c := f.scripted(m.Method, m.Params, p, owner)
		f.heard(p, owner, m)
		if c != nil {
			c.use(st, nil)
			go c.run()
		}
		return
	}
	if no := f.agree(m, p, owner); no != nil {
		f.complain(m.ID, p, owner, no)
		return
	}
	c, no := f.take(m, p, owner, r)
	if no != nil {
		f.complain(m.ID, p, owner, no)
		return
	}
	if c.use(st, nil); st == nil {
		c.record("dropped", "the stream is gone")
	}
	go c.run()
}

// agree has a client without HTTP headers speak a revision, or says that it cannot.
func (f *Fake) agree(m message, p *peer, owner *session) *fatal {
	q := m.parameters()
	speaks := owner.Script
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case m.Method == "initialize" && len(speaks.legacy()) == 0:
		return unsupported(owner, q.ProtocolVersion)
	case m.Method == "initialize":
		p.revision = speaks.agreed(q.ProtocolVersion)
	case q.Meta.Revision == "" && p.revision == "" && m.Method != "server/discover":
		f.record(owner, f.Name, "violation", fmt.Sprintf("%.100s before initialize", m.Method))
	case q.Meta.Revision != "" && (!speaks.modern() || q.Meta.Revision != Modern) && m.Method != "server/discover":
		return unsupported(owner, q.Meta.Revision)
	case q.Meta.Revision != "" && speaks.modern():
		p.revision = Modern
		if len(q.Meta.Capabilities) == 0 {
			return &fatal{code: codeParams, why: fmt.Sprintf("%.100s without clientCapabilities in _meta", m.Method)}
		}
	}
	return nil
}

// complain answers with an error and no program.
func (f *Fake) complain(id []byte, p *peer, owner *session, no *fatal) {
	if !no.honest {
		f.record(owner, f.Name, "violation", no.why)
	}
	f.mu.Lock()
	c := f.quiet("refused", p, owner, Error{Code: no.code, Message: no.why, Data: no.data})
	st := p.listen
	f.mu.Unlock()
	if c == nil {
		return
	}
	if c.id = id; id == nil {
		c.id = []byte("null")
	}
	c.use(st, nil)
	go c.run()
}
