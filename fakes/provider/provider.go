// Package provider is a fake LLM provider: it plays scripts to whoever sends requests, in the dialect of the
// request, and records in a timeline what was asked, what was sent, and how the peer left. It never asserts.
package provider

import (
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

// Lane is the lane of a provider's events. Their Ref is #1 for the first request of a session, and so on. Kinds are:
//
//	request    method, path, model, stream, attempt
//	violation  no program fits, or the request cannot be answered: what was expected
//	headers    the status, when the head has left
//	text …     a frame has left: the kind of its step; for text, think, comment and raw the text
//	await      the gate's name, when it is reached
//	stall …    a fault struck: its kind; split and drip at the first frame that they affect; garble, in place of
//	           the frame's own event, with the kind of the frame
//	keepalive  one was sent
//	blocked    a write waits for the peer to read
//	end        the body has ended as HTTP says
//	left       fin or rst: the peer has left before the program ended
//	closed     the fake was closed, or the session released, before the program ended
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

	MaxBody    int64         // bytes of a request's body, 8 MiB when 0
	MaxConns   int           // connections open at once under Serve, 4096 when 0; more are closed when accepted
	HeaderTime time.Duration // for a request's head to arrive under Serve, and three times that for any body; 10 s when 0

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	strays   int
	conns    map[*conn]struct{}
	server   *http.Server
	queue    *queue
	plays    sync.WaitGroup
	serving  sync.WaitGroup // calls of Serve, and the queue's
	tracked  sync.WaitGroup // connections that net/http has
}

// Session is one script with where it is recorded. Requests belong to it by a marker in their body.
type Session struct {
	Script   script.Script
	Timeline *timeline.Timeline // nothing is recorded when nil
	Gates    *script.Gates      // when nil an Await lasts until the peer leaves
}

// Open begins a session: until Release, requests whose body has [[sw:MARKER]] belong to s, which stays unchanged
// meanwhile. It is an error when the marker is taken, longer than 200 bytes, or has a character that JSON may
// escape or the brackets; when the script is invalid; and after Close. The empty marker stands for requests without
// one, in place of Fallback.
func (p *Provider) Open(marker string, s *Session) error {
	if err := checkMarker(marker); err != nil {
		return err
	}
	if err := check(s.Script); err != nil {
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
		refuse(w, http.StatusRequestTimeout, "the body did not arrive")
		return
	}
	var req Request
	var answer Answer
	if err == nil {
		req, answer = p.recognise(r, body)
	}
	if req.Fixed != nil {
		w.Header().Set("Content-Type", "application/json")
		w.Write(req.Fixed)
		return
	}
	if err == nil && answer == nil && p.Other != nil && !marked(body) {
		r.Body = io.NopCloser(newReader(body))
		p.Other.ServeHTTP(w, r)
		return
	}
	pl, problem := p.take(r, body, req, answer, arrived)
	if pl == nil {
		status := http.StatusInternalServerError
		if err != nil {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, problem)
		return
	}
	c, rw, err := rc.Hijack()
	if err != nil {
		pl.record("violation", "the connection cannot be taken over: "+err.Error())
		pl.done()
		refuse(w, http.StatusHTTPVersionNotSupported, "the fake needs HTTP/1.1: "+err.Error())
		return
	}
	stray, _ := rw.Reader.Peek(rw.Reader.Buffered())
	_, ours := c.(*conn)
	pl.http10 = !r.ProtoAtLeast(1, 1)
	pl.keep = ours && !r.Close && !pl.http10
	// The handler returns, so that a stalled exchange does not hold net/http's buffers.
	pl.start(c, stray)
}

func (p *Provider) recognise(r *http.Request, body []byte) (Request, Answer) {
	for _, d := range p.Dialects {
		if req, answer := d.Recognise(r, body); answer != nil || req.Fixed != nil {
			return req, answer
		}
	}
	return Request{}, nil
}

// refuse answers a request that no program answers.
func refuse(w http.ResponseWriter, status int, problem string) {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	body.Error.Message = "stallwright: " + problem
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

var errClosed = fmt.Errorf("provider: %w", net.ErrClosed)

// Close ends everything: listeners, connections, running exchanges and sessions, and waits for all of it.
func (p *Provider) Close() error {
	p.mu.Lock()
	p.closed = true
	server, queue := p.server, p.queue
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

func (p *Provider) maxBody() int64            { return orElse(p.MaxBody, 8<<20) }
func (p *Provider) maxConns() int             { return orElse(p.MaxConns, 4096) }
func (p *Provider) headerTime() time.Duration { return orElse(p.HeaderTime, 10*time.Second) }

func orElse[T int | int64 | time.Duration](v, zero T) T {
	if v == 0 {
		return zero
	}
	return v
}
