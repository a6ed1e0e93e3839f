// Package collector is a fake OpenTelemetry collector: it takes traces over OTLP/HTTP in protobuf, misbehaves where its script says so, and
// records in a timeline what arrived and how the peer left. It never asserts.
package collector

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// Lane is the lane of the events of a collector. Their Ref is #1 for the first request of a session, and so on. Kinds are:
//
//	request     an export has arrived: its spans, its bytes and its service
//	span        one of its spans: the name, parent, status, ending, code, trace and span, ids shortened; it may yet be refused
//	accepted    it was answered well: the spans that were not taken
//	refused     the HTTP status and why: too large, or by the script
//	await, open the gate's name
//	stall …     a fault struck: its kind
//	left        the peer has closed the connection before it was answered
//	violation   what OTLP/HTTP forbids, or what this fake does not speak
const Lane = "collector"

// Path is where traces are posted to.
const Path = "/v1/traces"

// Collector takes exports as its script says. Set the fields before its first use; the zero values work. It is an [http.Handler], and with Serve
// it brings its own server. It is safe for concurrent use.
type Collector struct {
	MaxConns   int                                 // connections open at once under Serve, 256 when 0; more wait
	HeaderTime time.Duration                       // for a request's head to arrive under Serve, and three times that for all of it; 10 s when 0
	Front      func(own http.Handler) http.Handler // what stands before it under Serve; nil is nothing

	mu      sync.Mutex
	session *session
	closed  bool
	strays  int
	servers []*http.Server
	serving sync.WaitGroup
	tracked sync.WaitGroup // connections that net/http has
}

// Session is one script with where it is recorded.
type Session struct {
	Script   Script
	Timeline *timeline.Timeline // nothing is recorded when nil
	Gates    *script.Gates      // when nil the script's own Open steps alone open its gates
}

// session is a Session as it is played.
type session struct {
	Session
	requests int
	taken    []int          // by program
	over     chan struct{}  // closed at its end
	playing  sync.WaitGroup // exports
}

// Open begins a session in place of the one before: what arrives from now on belongs to s, which stays unchanged. It is an error when the script
// is invalid, and after Close.
func (c *Collector) Open(s *Session) error {
	if err := s.Script.Validate(); err != nil {
		return err
	}
	next := &session{Session: *s, taken: make([]int, len(s.Script.Programs)), over: make(chan struct{})}
	if next.Gates == nil {
		next.Gates = &script.Gates{}
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return errClosed
	}
	last := c.session
	c.session = next
	c.mu.Unlock()
	last.end()
	return nil
}

// Release ends the session: its running exports are closed and waited for, and those that come later are refused. It returns, as sentences,
// what of its script was not played: programs that fewer exports took than they are for, [script.Any] aside.
func (c *Collector) Release() (unplayed []string) {
	c.mu.Lock()
	s := c.session
	c.session = nil
	c.mu.Unlock()
	if s == nil {
		return nil
	}
	s.end()
	for i, p := range s.Script.Programs {
		if want := max(p.Times, 1); p.Times != script.Any && s.taken[i] < want {
			unplayed = append(unplayed, fmt.Sprintf("program %d was played %d times of %d", i+1, s.taken[i], want))
		}
	}
	return unplayed
}

// Strays counts the requests that came while no session was open.
func (c *Collector) Strays() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.strays
}

// end closes what is being played, and waits for it. No more exports may begin.
func (s *session) end() {
	if s != nil {
		close(s.over)
		s.playing.Wait()
	}
}

// begin counts a request of the session that is open.
func (c *Collector) begin() (s *session, ref string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		c.strays++
		return nil, ""
	}
	c.session.playing.Add(1)
	c.session.requests++
	return c.session, "#" + strconv.Itoa(c.session.requests)
}

// take is the first program that is not used up; none means that the export is accepted.
func (c *Collector) take(s *session) []script.Step {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range s.Script.Programs {
		if p.Times == script.Any || s.taken[i] < max(p.Times, 1) {
			s.taken[i]++
			return p.Steps
		}
	}
	return nil
}

func (s *session) record(ref, kind, detail string) {
	if s.Timeline != nil {
		s.Timeline.Add(Lane, ref, kind, detail)
	}
}

var errClosed = fmt.Errorf("collector: %w", net.ErrClosed)

// Serve answers on l, in HTTP/1.1, until Close, when it returns nil, or until l fails. It closes l.
func (c *Collector) Serve(l net.Listener) error {
	defer l.Close()
	var front http.Handler = c
	if c.Front != nil {
		front = c.Front(c)
	}
	wait := cmp.Or(c.HeaderTime, 10*time.Second)
	server := &http.Server{Handler: front, ReadHeaderTimeout: wait, ReadTimeout: 3 * wait, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ConnState: c.track}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return errClosed
	}
	c.servers = append(c.servers, server)
	c.serving.Add(1)
	c.mu.Unlock()
	defer c.serving.Done()
	err := server.Serve(limit(l, cmp.Or(c.MaxConns, 256)))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	return err
}

// track counts the connections that net/http has, so that Close can wait for it to let go of them.
func (c *Collector) track(_ net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		c.tracked.Add(1)
	case http.StateHijacked, http.StateClosed:
		c.tracked.Done()
	}
}

// Close ends everything: the session, listeners and connections, and waits for all of it.
func (c *Collector) Close() error {
	c.mu.Lock()
	c.closed = true
	last := c.session
	c.session = nil
	servers := slices.Clone(c.servers)
	c.mu.Unlock()
	last.end()
	for _, s := range servers {
		s.Close()
	}
	c.serving.Wait()
	c.tracked.Wait()
	return nil
}
