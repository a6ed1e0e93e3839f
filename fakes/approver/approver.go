// Package approver is a fake approval webhook: it is asked about tool calls, and decides as scripts say. It records in a timeline what was
// asked, what was sent, and how the peer left. It never asserts.
package approver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// Lane is the lane of an approver's events. Their Ref is #1 for the first request of a session, and so on. Kinds are:
//
//	request    method, path, the approval's id, the tool, and the signature: valid, missing, wrong, or off without a secret
//	again      the approval was asked about before: its id
//	violation  the request or its signature is none, or no program fits
//	decide     a decision has left: yes or no, and what is wrong with its signature
//	pad        the blanks behind it have left
//	open       the gate that is opened
//	stall …    a fault struck: its kind
//	left       the peer has left before the program ended
//	closed     the fake was closed, or the session released, before the program ended
const Lane = "approver"

// SignatureHeader and TimestampHeader carry signatures, in both directions.
const (
	SignatureHeader = "X-Aura-Signature-256"
	TimestampHeader = "X-Aura-Timestamp"
)

// Approver answers requests as scripts say. Set the fields before its first use; the zero values of the bounds work. It is an
// [http.Handler] for any server that can be hijacked; with Serve it brings its own. It is safe for concurrent use.
//
// A request belongs to a session by a marker in its body; one without belongs to the session without.
type Approver struct {
	Secret   string   // verifies requests and signs answers; nothing is signed when empty
	Fallback *Session // the session without a marker; nil refuses requests without one

	Front      func(own http.Handler) http.Handler // what stands before it under Serve; nil is nothing
	MaxBody    int64                               // bytes of a request's body, 1 MiB when 0
	MaxConns   int                                 // connections open at once under Serve, 1024 when 0; more are closed when accepted
	HeaderTime time.Duration                       // for a request's head to arrive under Serve, and three times that for any body; 10 s when 0

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	strays   int
	server   *http.Server
	conns    map[net.Conn]struct{}
	plays    sync.WaitGroup
	serving  sync.WaitGroup
	tracked  sync.WaitGroup // connections that net/http has
}

// Session is one script with where it is recorded.
type Session struct {
	Script   Script
	Timeline *timeline.Timeline // nothing is recorded when nil
	Gates    *script.Gates      // when nil the script's own Open steps alone open its gates
}

type session struct {
	*Session
	used     []int
	requests int
	asked    map[string]bool // approvals
	gates    *script.Gates
	over     chan struct{} // closed at its release
	plays    sync.WaitGroup
}

var errClosed = fmt.Errorf("approver: %w", net.ErrClosed)

// Open begins a session: until Release, requests whose body has [[sw:MARKER]] belong to s, which stays unchanged meanwhile. It is an error
// when the marker is taken or cannot be one, when the script is invalid, and after Close. The empty marker is the session without one, in
// place of Fallback.
func (a *Approver) Open(marker string, s *Session) error {
	if err := script.CheckMarker(marker); err != nil {
		return fmt.Errorf("approver: %w", err)
	}
	if err := s.Script.Validate(); err != nil {
		return fmt.Errorf("approver: session %q: %w", marker, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return errClosed
	}
	if a.sessions[marker] != nil || (marker == "" && a.Fallback != nil) {
		return fmt.Errorf("approver: session %q: open already", marker)
	}
	a.add(marker, s)
	return nil
}

// add is called with mu held.
func (a *Approver) add(marker string, s *Session) *session {
	if a.sessions == nil {
		a.sessions = map[string]*session{}
	}
	open := &session{Session: s, used: make([]int, len(s.Script)), asked: map[string]bool{}, gates: s.Gates, over: make(chan struct{})}
	if open.gates == nil {
		open.gates = new(script.Gates)
	}
	a.sessions[marker] = open
	return open
}

// Release ends a session: its running exchanges are closed and waited for. It returns, as sentences, the programs that fewer requests took
// than they are for, [script.Any] aside. An unknown marker has left nothing.
func (a *Approver) Release(marker string) []string {
	a.mu.Lock()
	s := a.sessions[marker]
	delete(a.sessions, marker)
	a.mu.Unlock()
	if s == nil {
		return nil
	}
	close(s.over)
	s.plays.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	var left []string
	for i, p := range s.Script {
		if times := max(p.Times, 1); p.Times != script.Any && s.used[i] < times {
			left = append(left, fmt.Sprintf("program %d was taken by %d of %d requests", i+1, s.used[i], times))
		}
	}
	return left
}

// Strays counts the requests that belonged to no session and were refused.
func (a *Approver) Strays() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.strays
}

// find is the session of a request, or nil. mu is held.
func (a *Approver) find(body []byte) *session {
	marked := false
	for m := range script.Markers(body) {
		marked = true
		if s := a.sessions[m]; s != nil && m != "" {
			return s
		}
	}
	if marked {
		return nil
	}
	s := a.sessions[""]
	if s == nil && a.Fallback != nil && !a.closed {
		s = a.add("", a.Fallback)
	}
	return s
}

// question is what a webhook is asked.
type question struct {
	DecisionID string `json:"decision_id"`
	Items      []struct {
		Tool string `json:"tool_name"`
	}
}

// ServeHTTP plays a program.
func (a *Approver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(3 * cmp.Or(a.HeaderTime, 10*time.Second)))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, cmp.Or(a.MaxBody, 1<<20)))
	if err != nil {
		status := http.StatusRequestTimeout
		if errors.As(err, new(*http.MaxBytesError)) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "stallwright: the request did not arrive whole", status)
		return
	}
	_ = rc.SetReadDeadline(time.Time{})
	p, why := a.take(r, body)
	if why != "" {
		http.Error(w, "stallwright: "+why, http.StatusInternalServerError)
		return
	}
	defer a.plays.Done()
	defer p.s.plays.Done()
	p.play(w, r)
}

// take records a request and chooses its program, or says why there is none.
func (a *Approver) take(r *http.Request, body []byte) (*play, string) {
	var q question
	readable := json.Unmarshal(body, &q) == nil
	tool := ""
	if len(q.Items) > 0 {
		tool = q.Items[0].Tool
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.find(body)
	if a.closed || s == nil {
		a.strays++
		return nil, "the request belongs to no session"
	}
	s.requests++
	p := &play{a: a, s: s, ref: fmt.Sprintf("#%d", s.requests), id: q.DecisionID}
	signature := a.verify(r.Header, q.DecisionID, body)
	p.record("request", fmt.Sprintf("%.20s %.200s id=%.80s tool=%.200s signature=%s", r.Method, r.URL.Path, q.DecisionID, tool, signature))
	if s.asked[q.DecisionID] {
		p.record("again", fmt.Sprintf("%.80s", q.DecisionID))
	}
	s.asked[q.DecisionID] = true
	switch {
	case r.Method != http.MethodPost || !readable || q.DecisionID == "":
		p.record("violation", "the request is no question about an approval")
		return nil, "this is no question about an approval"
	case signature == "missing" || signature == "wrong":
		p.record("violation", "the signature is "+signature)
	}
	for i, program := range s.Script {
		if program.Times != script.Any && s.used[i] >= max(program.Times, 1) {
			continue
		}
		if program.When.fits(tool, body, s.requests) {
			s.used[i]++
			p.steps = program.Steps
			break
		}
	}
	if p.steps == nil && len(s.Script) > 0 {
		p.record("violation", "no program left for a question about "+fmt.Sprintf("%.200q", tool))
		return nil, "no program left"
	}
	if p.steps == nil || !last(p.steps[len(p.steps)-1]) {
		p.steps = append(p.steps[:len(p.steps):len(p.steps)], Decide{Approved: true})
	}
	s.plays.Add(1)
	a.plays.Add(1)
	return p, ""
}

// Serve answers on l until Close, which makes it return nil, or until l fails.
func (a *Approver) Serve(l net.Listener) error {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		l.Close()
		return nil
	}
	if a.server == nil {
		a.conns = map[net.Conn]struct{}{}
		var handler http.Handler = a
		if a.Front != nil {
			handler = a.Front(a)
		}
		a.server = &http.Server{Handler: handler, ReadHeaderTimeout: cmp.Or(a.HeaderTime, 10*time.Second), MaxHeaderBytes: 64 << 10, ConnState: a.changed}
	}
	server := a.server
	a.serving.Add(1)
	a.mu.Unlock()
	defer a.serving.Done()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// changed counts connections, and closes those above the bound.
func (a *Approver) changed(c net.Conn, state http.ConnState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch state {
	case http.StateNew:
		a.conns[c] = struct{}{}
		a.tracked.Add(1)
		if len(a.conns) > cmp.Or(a.MaxConns, 1024) {
			c.Close()
		}
	case http.StateClosed, http.StateHijacked:
		delete(a.conns, c)
		a.tracked.Done()
	}
}

// Close ends everything: listeners, connections, running exchanges and sessions, and waits for all of it.
func (a *Approver) Close() error {
	a.mu.Lock()
	first := !a.closed
	a.closed = true
	server := a.server
	var open []*session
	for _, s := range a.sessions {
		open = append(open, s)
	}
	a.sessions = nil
	a.mu.Unlock()
	for _, s := range open {
		close(s.over)
	}
	a.plays.Wait()
	if server != nil && first {
		server.Close()
	}
	a.serving.Wait()
	if server != nil {
		server.Close() // again, for a connection that was being accepted during the first
	}
	a.tracked.Wait()
	return nil
}
