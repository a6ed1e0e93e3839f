package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/wire"
)

// The headers of Streamable HTTP.
const (
	sessionHeader  = "Mcp-Session-Id"
	revisionHeader = "Mcp-Protocol-Version"
	methodHeader   = "Mcp-Method"
	nameHeader     = "Mcp-Name"
	eventHeader    = "Last-Event-Id"
)

// ServeHTTP answers one request. It returns when the connection was taken over, before the call has ended.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	owner := f.owner()
	if owner == nil {
		f.strays++
	}
	f.mu.Unlock()
	if owner == nil {
		http.Error(w, "stallwright: no session for what has no marker", http.StatusInternalServerError)
		return
	}
	switch {
	case r.URL.Path == f.path() && r.Method == http.MethodPost:
		f.post(w, r, owner)
	case r.URL.Path == f.path() && r.Method == http.MethodGet:
		f.get(w, r, owner)
	case r.URL.Path == f.path() && r.Method == http.MethodDelete:
		f.delete(w, r, owner)
	case r.URL.Path == ssePath && r.Method == http.MethodGet && slices.Contains(owner.Script.speaks(), V20241105):
		f.openEvents(w, r, owner)
	case r.URL.Path == messagesPath && r.Method == http.MethodPost:
		f.postEvents(w, r, owner)
	default:
		f.refuse(w, owner, nil, &fatal{status: http.StatusNotFound, code: codeRequest, why: fmt.Sprintf("nothing is at %.20s %.200q", r.Method, r.URL.Path)})
	}
}

// read reads one message, or says that it could not.
func (f *Fake) read(w http.ResponseWriter, r *http.Request) (message, *fatal) {
	rc := http.NewResponseController(w)
	// A writer without deadlines is its server's concern.
	rc.SetReadDeadline(time.Now().Add(3 * f.headerTime()))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, f.maxBody()))
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
		return message{}, &fatal{status: http.StatusRequestEntityTooLarge, code: codeRequest, why: fmt.Sprintf("a message above %d bytes", f.maxBody())}
	} else if err != nil {
		return message{}, &fatal{status: http.StatusRequestTimeout, code: codeRequest, why: "the message did not arrive", honest: true}
	}
	rc.SetReadDeadline(time.Time{})
	return parse(body)
}

// refuse answers with an error and no call, and records it.
func (f *Fake) refuse(w http.ResponseWriter, owner *session, id json.RawMessage, no *fatal) {
	if !no.honest {
		f.record(owner, f.Name, "violation", no.why)
	}
	f.record(owner, f.Name, "refused", fmt.Sprintf("%d %s", no.status, no.why))
	if id == nil {
		id = json.RawMessage("null")
	}
	pairs := []any{"code", no.code, "message", no.why}
	if no.data != "" {
		pairs = append(pairs, "data", rawJSON(no.data))
	}
	w.Header().Set("Content-Type", "application/json")
	if no.status == http.StatusRequestTimeout || no.status == http.StatusRequestEntityTooLarge {
		w.Header().Set("Connection", "close")
	}
	w.WriteHeader(no.status)
	w.Write(object("jsonrpc", "2.0", "id", rawJSON(id), "error", rawJSON(object(pairs...))))
}

// post takes one message of Streamable HTTP.
func (f *Fake) post(w http.ResponseWriter, r *http.Request, owner *session) {
	m, no := f.read(w, r)
	if no != nil {
		f.refuse(w, owner, nil, no)
		return
	}
	f.accepts(r, owner)
	p, no := f.client(m, r, owner)
	if no != nil {
		f.refuse(w, owner, m.ID, no)
		return
	}
	if !m.request() {
		f.oneWay(w, r, p, owner, m)
		return
	}
	c, no := f.take(m, p, owner, r)
	if no != nil {
		f.refuse(w, owner, m.ID, no)
		return
	}
	c.hangup = p.revision == Modern
	st := &stream{framing: bodies}
	switch answers := c.s.Script.Manners.Answers; {
	case answers == StreamAnswers, answers == BestAnswers && m.Method == callMethod, m.Method == "subscriptions/listen":
		st.framing = events
	}
	if m.Method == "initialize" && p.id != "" {
		st.header = http.Header{sessionHeader: {p.id}}
	}
	if c.s.Script.Manners.EventIDs && st.framing == events && p.revision != Modern {
		f.keepEvents(c)
	}
	f.answer(w, r, c, st)
}

// accepts records what a client should have said in its headers.
func (f *Fake) accepts(r *http.Request, owner *session) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if !strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream") {
		f.record(owner, f.Name, "violation", fmt.Sprintf("Accept is %.200q: want application/json and text/event-stream", accept))
	}
	if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		f.record(owner, f.Name, "violation", fmt.Sprintf("Content-Type is %.200q: want application/json", kind))
	}
}

// answer takes the connection over and plays a call on it.
func (f *Fake) answer(w http.ResponseWriter, r *http.Request, c *call, st *stream) {
	if c == nil {
		http.Error(w, "stallwright: "+errClosed.Error(), http.StatusServiceUnavailable)
		return
	}
	hijacked, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		c.record("violation", "the connection cannot be taken over: "+err.Error())
		c.finish(errStopped)
		http.Error(w, "stallwright: the fake needs HTTP/1.1", http.StatusHTTPVersionNotSupported)
		return
	}
	stray, _ := rw.Reader.Peek(rw.Reader.Buffered())
	_, ours := hijacked.(*conn)
	c.keep = ours && !r.Close && r.ProtoAtLeast(1, 1) && st.jobs == nil
	if st.header == nil {
		st.header = http.Header{}
	}
	if !c.keep {
		st.header.Set("Connection", "close")
	}
	st.note = c.record
	st.x = wire.New(hijacked, stray, func(kind string) { c.record(kind, "") })
	st.gone = st.x.Gone()
	c.use(st, st.x)
	if st.jobs != nil {
		f.share(c, st)
	}
	// The handler returns, so that a call that is held does not hold net/http's buffers.
	go c.run()
}

// client finds out who sends a message, and in which revision.
func (f *Fake) client(m message, r *http.Request, owner *session) (*peer, *fatal) {
	q := m.parameters()
	header := r.Header.Get(revisionHeader)
	if m.Method != "initialize" && (header == Modern || q.Meta.Revision != "" || m.Method == "server/discover") {
		return f.modernClient(m, q, r, owner)
	}
	list := owner.Script.legacy()
	if len(list) == 0 {
		return nil, unsupported(owner, orElse(header, q.ProtocolVersion))
	}
	id := r.Header.Get(sessionHeader)
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.Method == "initialize" {
		if id != "" {
			f.record(owner, f.Name, "violation", fmt.Sprintf("initialize with the session id %.100q", id))
		}
		return f.newClient(owner, owner.Script.agreed(q.ProtocolVersion))
	}
	p, no := f.session(id, owner)
	if no != nil {
		return nil, no
	}
	switch {
	case header == "" && p.revision >= V20250618:
		f.record(owner, f.Name, "violation", fmt.Sprintf("%.100s without MCP-Protocol-Version, in %s", m.Method, p.revision))
	case header != "" && !slices.Contains(list, header):
		return nil, &fatal{status: 400, code: codeRequest, why: fmt.Sprintf("MCP-Protocol-Version is %.100q, which the server does not speak", header)}
	case header != "" && header != p.revision && p.apart:
		f.record(owner, f.Name, "violation", fmt.Sprintf("MCP-Protocol-Version is %s in a session of %s", header, p.revision))
	}
	return p, nil
}

// newClient makes the session of an initialize. The mutex is held.
func (f *Fake) newClient(owner *session, revision string) (*peer, *fatal) {
	if owner.Script.Manners.NoIDs {
		if f.common == nil {
			f.common = newPeer(revision, false)
		}
		f.common.revision = revision
		return f.common, nil
	}
	f.known("", owner) // drops those that are lost by now
	if len(f.peers) >= f.maxPeers() {
		return nil, &fatal{status: 503, code: codeInternal, why: fmt.Sprintf("above %d sessions", f.maxPeers()), honest: true}
	}
	p := newPeer(revision, true)
	f.made++
	p.id = fmt.Sprintf("session-%d", f.made)
	f.open(p, owner)
	return p, nil
}

// session is the client of a session id. The mutex is held.
func (f *Fake) session(id string, owner *session) (*peer, *fatal) {
	if owner.Script.Manners.NoIDs {
		if f.common == nil {
			f.common = newPeer(owner.Script.legacy()[0], false)
		}
		return f.common, nil
	}
	if id == "" {
		return nil, &fatal{status: 400, code: codeRequest, why: "no Mcp-Session-Id"}
	}
	if p := f.known(id, owner); p != nil {
		return p, nil
	}
	return nil, &fatal{status: 404, code: codeRequest, why: fmt.Sprintf("no session %.100q", id), honest: true}
}

// oneWay takes a notification or a response.
func (f *Fake) oneWay(w http.ResponseWriter, r *http.Request, p *peer, owner *session, m message) {
	if m.Method == "" {
		f.responded(p, owner, m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if c := f.scripted(m.Method, m.Params, p, owner); c != nil {
		f.heard(p, owner, m)
		f.answer(w, r, c, &stream{framing: bodies, status: http.StatusAccepted})
		return
	}
	f.heard(p, owner, m)
	w.WriteHeader(http.StatusAccepted)
}

// heard records a notification and does what it says.
func (f *Fake) heard(p *peer, owner *session, m message) {
	if m.Method == "notifications/cancelled" {
		if p.revision == Modern && p.listen == nil {
			q := m.parameters()
			f.record(owner, f.Name, "cancelled", fmt.Sprintf("id=%s reason=%.200q", shown(q.RequestID, 200), q.Reason))
			f.record(owner, f.Name, "violation", "cancelled by a notification: over HTTP the end of the response stream says it in "+Modern)
			return
		}
		f.cancelled(p, owner, m)
		return
	}
	f.record(owner, f.Name, "notification", fmt.Sprintf("%.200s", m.Method))
}
