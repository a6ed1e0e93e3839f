// Package provider is a fake LLM provider: it plays scripts to whoever sends requests, in the dialect of the
// request, and records in a timeline what was asked, what was sent, and how the peer left. It never asserts.
package provider

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// Lane is the lane of a provider's events. Their Ref is #1 for the first request of a session, and so on. Kinds are:
//
//	request     method, path, model, stream, attempt, and the exchanges under way, this one included
//	told        the id and the text of a tool's result that the request gives the model, and whether it is flagged as an error
//	violation   no program fits, or the request or a step cannot be done, or a step does nothing on this wire: what was
//	            expected, or which step and why
//	refused     the status and why, of a request that a strict session does not take
//	headers     the status, when the head has left
//	text …      a frame has left: the kind of its step; for text, think, refusal, comment and raw the text
//	await, meet the gate's or the barrier's name, when it is reached
//	open        the gate that is opened
//	seed        the session's, at its first use
//	stall …     a fault struck: its kind; split, drip, batch and lines at the first frame that they affect; garble, in
//	            place of the frame's own event, with the kind of the frame and what was done to it
//	keepalive   one was sent
//	blocked     a write waits for the peer to read, or to widen its window
//	end         the body has ended as HTTP says
//	left        fin, rst, or rst-stream and a code: the peer has left before the program ended
//	closed      the fake was closed, the session released, or the connection ended by another stream's fault or by a
//	            violation, before the program ended
//	connection  what was done to a connection outside of any exchange, and how one ended that brought no whole request; only
//	            in the timeline of the session without a marker
//
// The details of what ends an exchange (end, cut, reset, stream-reset, status, left, closed) count what was sent:
// bytes=N frames=N, and how long ago the last byte, event and progress left: byte=0.000s event=0.000s progress=never.
// Progress is text, reasoning, refusal and tool calls; a comment is no event. A byte leaves when the write of it returns. So
// under a peer that never reads byte tells nothing of what it saw: a write that was blocked, and had part of its bytes
// taken, returns when the peer has left, and its last byte left then. unread=N are bytes that the peer has sent behind its
// request.
const Lane = "provider"

// Provider answers requests as scripts say. Set the fields before its first use; the zero values of the bounds work.
// It is an [http.Handler] for any server; with Serve it brings its own, which also keeps connections alive after an
// answer: as a mere handler it closes them. It is safe for concurrent use.
//
// A program whose steps run out ends as if by [script.End], or, after a half-close, when the peer leaves.
type Provider struct {
	Dialects []Dialect    // asked in order
	Fallback *Session     // answers requests that carry no marker; nil refuses them
	Other    http.Handler // answers, outside every session, requests with no marker that no dialect recognises; nil refuses them
	Reserved string       // when not empty: requests whose path begins so are for Other alone, marker or not; reading one above MaxBody fails with [http.MaxBytesError]

	MaxBody    int64         // bytes of a request's body, 8 MiB when 0
	MaxConns   int           // connections open at once under Serve, 4096 when 0; more are closed when accepted
	HeaderTime time.Duration // for a request's head to arrive under Serve, and three times that for any body; 10 s when 0

	Connections script.Connections // what Serve does with connections, before and between their requests
	TLS         *tls.Config        // when not nil, Serve speaks TLS; HTTP/2 too, unless its NextProtos are set otherwise

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	strays   int
	conns    map[*conn]struct{}
	accepted int           // connections, those above the bound aside
	done     chan struct{} // closed by Close; made by the first Serve
	listens  map[net.Listener]struct{}
	server   *http.Server
	queue    *queue
	plays    sync.WaitGroup
	serving  sync.WaitGroup // calls of Serve, their connections until they have a server, and the queue's
	tracked  sync.WaitGroup // connections that net/http has
}

// Session is one script with where it is recorded. Requests belong to it by a marker in their body.
type Session struct {
	Script   script.Script
	Timeline *timeline.Timeline // nothing is recorded when nil
	Gates    *script.Gates      // when nil the script's own Open steps alone open its gates
	Strict   bool               // requests that their dialect's Validator refuses are answered so, and take no program
	Seed     uint64             // of all jitter; 0 is a random one. Recorded as the event seed at its first use
}

// Open begins a session: until Release, requests whose body has [[sw:MARKER]] belong to s, which stays unchanged
// meanwhile. It is an error when the marker is taken, longer than 200 bytes, or has a character that JSON may
// escape or the brackets; when the script is invalid, or is for a dialect that is not there; and after Close. The empty marker stands for requests without
// one, in place of Fallback.
func (p *Provider) Open(marker string, s *Session) error {
	if err := script.CheckMarker(marker); err != nil {
		return fmt.Errorf("provider: %w", err)
	}
	if err := p.check(s.Script); err != nil {
		return fmt.Errorf("provider: session %q: %w", marker, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	if p.sessions[marker] != nil || (marker == "" && p.Fallback != nil) {
		return fmt.Errorf("provider: session %q: open already", marker)
	}
	p.add(marker, s)
	return nil
}

// Release ends a session: its running exchanges are closed and waited for. It returns, as sentences, what its
// script has left unplayed: programs that fewer requests took than they are for, [script.Any] aside. An unknown
// marker has left nothing.
func (p *Provider) Release(marker string) []string {
	p.mu.Lock()
	s := p.sessions[marker]
	if s == nil || s.released {
		p.mu.Unlock()
		return nil
	}
	s.released = true
	// Fallback would come back if its entry went.
	if marker != "" || p.Fallback == nil {
		delete(p.sessions, marker)
	}
	running := s.running()
	p.mu.Unlock()
	for _, pl := range running {
		pl.stop()
	}
	s.plays.Wait()
	return s.unplayed()
}

// Strays counts the requests that belonged to no session and were refused.
func (p *Provider) Strays() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.strays
}

// ServeHTTP plays a program. It returns when the connection was taken over, before the program has ended.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		c.asked.Store(true)
	}
	rc := http.NewResponseController(w)
	// A writer without deadlines is its server's concern.
	rc.SetReadDeadline(time.Now().Add(3 * p.headerTime()))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, p.maxBody()))
	arrived := time.Now()
	tooLong := new(http.MaxBytesError)
	switch {
	case err == nil:
		rc.SetReadDeadline(time.Time{})
	case !errors.As(err, &tooLong): // the peer is slow, or has left; net/http still reads for as long as the deadline lets it
		w.Header().Set("Connection", "close")
		p.tell(fmt.Sprintf("the body of %.20s %.200s did not arrive: %d bytes of it did", r.Method, r.URL.Path, len(body)))
		(&refusal{status: http.StatusRequestTimeout, why: "the body did not arrive"}).send(w)
		return
	}
	pl := p.choose(w, r, body, err != nil, arrived)
	if pl == nil {
		return
	}
	c, rw, err := rc.Hijack()
	if err != nil {
		pl.record("violation", "the connection cannot be taken over: "+err.Error())
		pl.done()
		(&refusal{status: http.StatusHTTPVersionNotSupported, why: "the fake needs HTTP/1.1: " + err.Error()}).send(w)
		return
	}
	stray, _ := rw.Reader.Peek(rw.Reader.Buffered())
	_, ours := c.(*conn)
	pl.http10 = !r.ProtoAtLeast(1, 1)
	pl.keep = ours && !r.Close && !pl.http10
	// The handler returns, so that a stalled exchange does not hold net/http's buffers.
	pl.start(c, stray)
}

// choose finds the program for a request. When there is none it answers by itself and returns nil.
func (p *Provider) choose(w http.ResponseWriter, r *http.Request, body []byte, tooLong bool, arrived time.Time) *play {
	if p.Reserved != "" && strings.HasPrefix(r.URL.Path, p.Reserved) && p.Other != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		if tooLong { // which Other says in its own words
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), tooMuch(p.maxBody())))
		}
		p.Other.ServeHTTP(w, r)
		return nil
	}
	got := recognised{tooLong: tooLong}
	if !tooLong {
		got = p.recognise(r, body)
	}
	if got.req.Fixed != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(cmp.Or(got.req.Status, http.StatusOK))
		w.Write(got.req.Fixed)
		return nil
	}
	if !tooLong && got.answer == nil && p.Other != nil && !marked(body) {
		r.Body = io.NopCloser(bytes.NewReader(body))
		p.Other.ServeHTTP(w, r)
		return nil
	}
	pl, no := p.take(r, body, got, arrived)
	if no != nil {
		no.send(w)
	}
	return pl
}

// tooMuch is what is behind the part of a body that was read.
type tooMuch int64

func (n tooMuch) Read([]byte) (int, error) { return 0, &http.MaxBytesError{Limit: int64(n)} }

// recognised is what a dialect makes of a request.
type recognised struct {
	dialect Dialect
	req     Request
	answer  Answer
	tooLong bool // the body: no dialect was asked
}

func (p *Provider) recognise(r *http.Request, body []byte) recognised {
	var missing recognised
	for _, d := range p.Dialects {
		switch req, answer := d.Recognise(r, body); {
		case answer == nil && req.Fixed == nil:
		case req.Fixed != nil && req.Status >= 400:
			if missing.dialect == nil {
				missing = recognised{dialect: d, req: req}
			}
		default:
			return recognised{dialect: d, req: req, answer: answer}
		}
	}
	return missing
}

var errClosed = fmt.Errorf("provider: %w", net.ErrClosed)

// Close ends everything: listeners, connections, running exchanges and sessions, and waits for all of it.
func (p *Provider) Close() error {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	server, queue := p.server, p.queue
	if first && p.done != nil {
		close(p.done)
	}
	listeners := slices.Collect(maps.Keys(p.listens))
	var conns []*conn
	for c := range p.conns {
		conns = append(conns, c)
	}
	var running []*play
	for _, s := range p.sessions {
		running = append(running, s.running()...)
	}
	p.mu.Unlock()
	// Exchanges first, so that their timelines say closed.
	for _, pl := range running {
		pl.stop()
	}
	for _, l := range listeners {
		l.Close()
	}
	if server != nil {
		queue.Close()
		server.Close()
	}
	for _, c := range conns {
		c.Close()
	}
	p.serving.Wait()
	p.plays.Wait()
	p.tracked.Wait()
	return nil
}

func (p *Provider) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func (p *Provider) maxBody() int64            { return cmp.Or(p.MaxBody, 8<<20) }
func (p *Provider) maxConns() int             { return cmp.Or(p.MaxConns, 4096) }
func (p *Provider) headerTime() time.Duration { return cmp.Or(p.HeaderTime, 10*time.Second) }
