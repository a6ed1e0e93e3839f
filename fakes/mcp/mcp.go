// Package mcp is a fake MCP server: it answers as a well-behaved server of the revision that a client speaks, misbehaves
// where its script says so, and records in a timeline what was asked, what was sent, what was cancelled and how the
// peer left. It never asserts.
//
//	Streamable HTTP ─┐
//	HTTP+SSE ────────┼─ message ── call ── steps ── stream
//	stdio ───────────┘
package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// Lane is the lane of the events of MCP servers. Their Ref is #1 for the first request of a session, and so on, after
// the fake's name where it has one: search#1; #get1 is a GET that is played, and so on. An event of no request has the name
// alone. An id stands in details as the JSON that it was, so that "3" and 3 differ. Kinds are:
//
//	connect     a connection was accepted, or a pipe opened: its number
//	disconnect  a connection under Serve has ended, by either side: its number
//	request     the method, id, tool, unanswered requests of the session (this one included) and arguments of a request
//	notification, response  the method, or the id, of what a client sends without asking
//	get, delete a GET for a stream, a DELETE of a session: the session, and the last event's id when resumed
//	headers     the status, when a head has left by itself
//	progress, log, notify, ask, result, error, raw, comment  it has left
//	answered, unanswered  the id of an Ask of the script, and its answer
//	resent      an event that a client came back for: its id
//	dropped     a message that has no stream to leave on; kept, when a client may come back for it
//	await, open the gate's name
//	effect      the tool's effect was committed: count is how often one with these arguments was in this session
//	cancelled   the requestId and the reason of a notifications/cancelled
//	left        fin or rst: the peer has closed the response stream, the event stream or the pipe
//	ended       nothing is done for a request any more: answered, unanswered, cancelled, left or closed
//	session     opened, deleted, expired or lost: its id, and how many are open
//	stranger    a request of a session with other credentials than those it was begun with: its method, and the session
//	refused     the HTTP status and why
//	connection  what was done to a connection outside of any request
//	start, exit a process over stdio came to its life, which of them, or to its end: its code, its signal, or unannounced
//	eof, signal what a process tells of itself: its input has ended, the name of a signal that it got
//	violation   what the client has done that its revision forbids, or what a step cannot do
//	stall …     a fault struck: its kind
//	crash       the server has died, as far as its clients can tell
//	blocked     a write waits for the peer to read
//	seed        the session's, at its first use
const Lane = "mcp"

// Fake answers MCP clients as scripts say. Set the fields before its first use; the zero values of the bounds work. It is
// an [http.Handler], which closes connections after an answer; with Serve it brings its own server, which keeps them.
// It is safe for concurrent use.
//
// A tools/call with [[sw:MARKER]] in its arguments belongs to the session of that marker. All else belongs to the session
// without one: other requests, connections, and the sessions of the protocol.
type Fake struct {
	Name     string   // of the server, where several play; also what it calls itself
	Fallback *Session // the session without a marker; nil refuses all that needs one

	Sessions string // what session ids begin with, session- when empty
	Adopt    bool   // an id that was not given out is taken for a session's: for a fake that takes the place of an earlier one

	Path       string        // of Streamable HTTP, /mcp when empty; that of HTTP+SSE is /sse and /messages
	MaxBody    int64         // bytes of one message, 8 MiB when 0
	MaxConns   int           // connections open at once under Serve, 4096 when 0; more are closed when accepted
	MaxPeers   int           // sessions of the protocol at once, 10,000 when 0; more are refused
	MaxCalls   int           // requests being answered at once, in one session, 10,000 when 0; more are refused
	HeaderTime time.Duration // for a request's head to arrive under Serve, and three times that for any body; 10 s when 0

	Front       func(own http.Handler) http.Handler // what stands before it under Serve; nil is nothing
	Connections script.Connections                  // what Serve does with connections; Streams means nothing here

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	strays   int
	peers    map[string]*peer // by the session ids that were given out
	common   *peer            // all the clients without a session id
	made     int              // session ids
	others   int              // GETs, DELETEs and notifications that were played, and event streams with ids
	pipes    map[*pipe]context.CancelFunc
	piped    int                // pipes until now
	children int                // processes until now
	resumed  map[string]*replay // by their names
	finished []string           // of resumed, those whose calls have ended

	conns    map[*conn]struct{}
	accepted int
	done     chan struct{} // closed by Close; made at the first use
	listens  map[net.Listener]struct{}
	server   *http.Server
	queue    *queue
	calls    sync.WaitGroup
	serving  sync.WaitGroup // calls of Serve, ServeStdio and ServeChild, their connections until they have a server, event streams
	tracked  sync.WaitGroup // connections that net/http has
}

// Session is one script with where it is recorded.
type Session struct {
	Script   Script
	Timeline *timeline.Timeline // nothing is recorded when nil
	Gates    *script.Gates      // when nil the script's own Open steps alone open its gates
	Seed     uint64             // of all jitter; 0 is a random one, recorded as the event seed at its first use
}

// Open begins a session: until Release, calls whose arguments hold [[sw:MARKER]] belong to s, which stays unchanged
// meanwhile. It is an error when the marker is taken, longer than 200 bytes, or has a character that JSON may
// escape or the brackets; when the script is invalid; and after Close. The empty marker is the session without one, in
// place of Fallback.
func (f *Fake) Open(marker string, s *Session) error {
	if err := script.CheckMarker(marker); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	if err := s.Script.Validate(); err != nil {
		return fmt.Errorf("mcp: session %q: %w", marker, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errClosed
	}
	if f.sessions[marker] != nil || (marker == "" && f.Fallback != nil) {
		return fmt.Errorf("mcp: session %q: open already", marker)
	}
	f.add(marker, s)
	return nil
}

// Release ends a session: its running calls are closed and waited for. It returns, as sentences, what its script has
// left unplayed: programs that fewer requests took than they are for, [script.Any] aside. An unknown marker has left
// nothing.
func (f *Fake) Release(marker string) []string {
	f.mu.Lock()
	s := f.sessions[marker]
	if s == nil || s.released {
		f.mu.Unlock()
		return nil
	}
	s.released = true
	// Fallback would come back if its entry went.
	if marker != "" || f.Fallback == nil {
		delete(f.sessions, marker)
	}
	running := slices.Collect(maps.Keys(s.current))
	f.mu.Unlock()
	for _, c := range running {
		c.halt()
	}
	s.calls.Wait()
	return s.unplayed()
}

// Strays counts the requests that belonged to no session and were refused.
func (f *Fake) Strays() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.strays
}

var errClosed = fmt.Errorf("mcp: %w", net.ErrClosed)

// Close ends everything: listeners, connections, pipes, running calls and sessions, and waits for all of it.
func (f *Fake) Close() error {
	f.mu.Lock()
	first := !f.closed
	f.closed = true
	if first {
		close(f.over())
	}
	server, queue := f.server, f.queue
	listeners := slices.Collect(maps.Keys(f.listens))
	conns := slices.Collect(maps.Keys(f.conns))
	var running []*call
	for _, s := range f.sessions {
		running = slices.AppendSeq(running, maps.Keys(s.current))
	}
	f.mu.Unlock()
	// Calls first, so that their timelines say closed.
	for _, c := range running {
		c.halt()
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
	f.serving.Wait()
	f.calls.Wait()
	f.tracked.Wait()
	return nil
}

// over is closed by Close. The mutex is held.
func (f *Fake) over() chan struct{} {
	if f.done == nil {
		f.done = make(chan struct{})
	}
	return f.done
}

func (f *Fake) sessionID() string {
	f.made++
	return fmt.Sprintf("%s%d", cmp.Or(f.Sessions, "session-"), f.made)
}

func (f *Fake) path() string              { return cmp.Or(f.Path, "/mcp") }
func (f *Fake) maxBody() int64            { return cmp.Or(f.MaxBody, 8<<20) }
func (f *Fake) maxConns() int             { return cmp.Or(f.MaxConns, 4096) }
func (f *Fake) maxPeers() int             { return cmp.Or(f.MaxPeers, 10_000) }
func (f *Fake) maxCalls() int             { return cmp.Or(f.MaxCalls, 10_000) }
func (f *Fake) headerTime() time.Duration { return cmp.Or(f.HeaderTime, 10*time.Second) }
