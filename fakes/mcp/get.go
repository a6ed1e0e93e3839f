package mcp

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// quiet makes a call of what is no request: a GET, a DELETE or a notification. It is nil when the fake or the
// session was closed, or there are too many. The mutex is held.
func (f *Fake) quiet(method string, p *peer, owner *session, steps ...script.Step) *call {
	if f.closed || owner.released || len(owner.current) >= 2*f.maxCalls() {
		return nil
	}
	f.others++
	c := &call{
		f: f, s: owner, owner: owner, p: p, ref: fmt.Sprintf("%s#%s%d", f.Name, strings.ToLower(method[strings.LastIndexByte(method, '/')+1:]), f.others),
		method: method, revision: p.revision, due: time.Now(), stopped: make(chan struct{}), off: make(chan struct{}), steps: steps,
	}
	c.heed, c.onCancel.Do = c.off, Stop
	f.begin(c)
	return c
}

// scripted is the call of the program for what is no request, or nil when there is none.
func (f *Fake) scripted(method string, params []byte, p *peer, owner *session) *call {
	f.mu.Lock()
	defer f.mu.Unlock()
	if program := owner.next(method, "", params, 0); program != nil {
		return f.quiet(method, p, owner, program.Steps...)
	}
	return nil
}

// get takes a GET of Streamable HTTP: for the session's event stream, or to resume that of a call.
func (f *Fake) get(w http.ResponseWriter, r *http.Request, owner *session) {
	last := r.Header.Get(eventHeader)
	detail := fmt.Sprintf("%.100s", r.Header.Get(sessionHeader))
	if last != "" {
		detail += fmt.Sprintf(" last=%.100q", last)
	}
	f.record(owner, f.Name, "get", strings.TrimSpace(detail))
	if len(owner.Script.legacy()) == 0 || r.Header.Get(revisionHeader) == Modern {
		f.plain(w, owner, http.StatusMethodNotAllowed, "")
		return
	}
	f.mu.Lock()
	p, no := f.session(r.Header.Get(sessionHeader), owner)
	if no == nil {
		f.recognise(p, owner, r, getMethod)
	}
	f.mu.Unlock()
	if no != nil {
		f.refuse(w, owner, nil, no)
		return
	}
	if c := f.scripted(getMethod, nil, p, owner); c != nil {
		f.listen(w, r, c)
		return
	}
	if last != "" && f.back(w, r, p, owner, last) {
		return
	}
	switch owner.Script.Manners.Get {
	case GetRefused:
		f.plain(w, owner, http.StatusMethodNotAllowed, "")
	case GetBad:
		f.plain(w, owner, http.StatusBadRequest, "")
	case GetText:
		f.plain(w, owner, http.StatusOK, "Hello. This is a web page.")
	case GetEmpty:
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
	default:
		f.mu.Lock()
		c := f.quiet(getMethod, p, owner, hold{})
		f.mu.Unlock()
		f.listen(w, r, c)
	}
}

// listen plays a GET, whose stream is the session's from now on.
func (f *Fake) listen(w http.ResponseWriter, r *http.Request, c *call) {
	f.answer(w, r, c, &stream{framing: events, jobs: make(chan job)})
}

// share has a stream written by a goroutine for all of a client.
func (f *Fake) share(c *call, st *stream) {
	c.shared = st
	f.mu.Lock()
	c.p.listen, c.p.listener = st, c
	f.mu.Unlock()
	f.serving.Go(st.serve)
}

// plain answers with a status and a text.
func (f *Fake) plain(w http.ResponseWriter, owner *session, status int, text string) {
	if status >= 400 {
		f.record(owner, f.Name, "refused", fmt.Sprint(status))
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	w.Write([]byte(text))
}

// delete ends a session.
func (f *Fake) delete(w http.ResponseWriter, r *http.Request, owner *session) {
	f.record(owner, f.Name, "delete", fmt.Sprintf("%.100s", r.Header.Get(sessionHeader)))
	if len(owner.Script.legacy()) == 0 || r.Header.Get(revisionHeader) == Modern {
		f.plain(w, owner, http.StatusMethodNotAllowed, "")
		return
	}
	f.mu.Lock()
	p, no := f.session(r.Header.Get(sessionHeader), owner)
	if no == nil {
		f.recognise(p, owner, r, deleteMethod)
	}
	f.mu.Unlock()
	if no != nil {
		f.refuse(w, owner, nil, no)
		return
	}
	if c := f.scripted(deleteMethod, nil, p, owner); c != nil {
		f.answer(w, r, c, &stream{framing: bodies})
		return
	}
	switch owner.Script.Manners.Delete {
	case DeleteUnknown:
		f.plain(w, owner, http.StatusNotFound, "")
	case DeleteRefused:
		f.plain(w, owner, http.StatusMethodNotAllowed, "")
	case DeleteHangs:
		f.mu.Lock()
		c := f.quiet(deleteMethod, p, owner, fault.Stall{})
		f.mu.Unlock()
		f.answer(w, r, c, &stream{framing: bodies})
	default:
		f.end(p, owner, "deleted")
		w.WriteHeader(http.StatusNoContent)
	}
}

// end ends a session and all that runs in it.
func (f *Fake) end(p *peer, owner *session, how string) {
	f.mu.Lock()
	var running []*call
	for _, c := range p.calls {
		running = append(running, c)
	}
	listener := p.listener
	if p.id != "" && f.peers[p.id] == p {
		f.drop(p, owner, how)
	}
	f.mu.Unlock()
	for _, c := range running {
		c.halt()
	}
	if listener != nil {
		listener.cancel() // its stream ends cleanly
	}
}

// held says whether a GET has nothing to say by itself.
func (c *call) held() bool {
	if len(c.steps) != 1 {
		return false
	}
	_, ok := c.steps[0].(hold)
	return ok
}
