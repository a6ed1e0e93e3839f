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
		why := "no session for what has no marker"
		if f.Fallback != nil {
			if err := f.Fallback.Script.Validate(); err != nil {
				why = err.Error()
			}
		}
		http.Error(w, "stallwright: "+why, http.StatusInternalServerError)
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
