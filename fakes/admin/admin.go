// Package admin lets test suites of any language steer a fake over HTTP: load scripts, open gates, read and
// follow timelines.
package admin

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// Prefix begins the path of every request to the handler.
const Prefix = "/_stallwright/"

// Lane is the lane of the handler's events in the timeline of a session. Kinds are:
//
//	open      the gate that a request opens
//	unplayed  what the script has left, at the session's end: programs, and exchanges that wait at a gate or a barrier
//	released  the session has ended; its last event
const Lane = "admin"

// writeTime is how long a client may take to accept an answer, or one event of a stream: much longer than a client
// on the same machine needs that reads at all.
const writeTime = 30 * time.Second

// Handler answers requests under Prefix:
//
//	GET    health                      that it lives, with the numbers of sessions and of stray requests
//	GET    scripts                     the open sessions
//	POST   scripts?marker=M&strict=B   begins a session with the script in the body, YAML or JSON; without a marker it
//	                                   replaces the one of requests that have none
//	DELETE scripts?marker=M            ends a session; answers what its script has left unplayed, and which of its
//	                                   exchanges wait at a gate or a barrier
//	GET    timeline?marker=M&after=N&limit=L
//	                                   the events after number N, L of them, 10,000 at most and when left out; more says
//	                                   that there are others behind them
//	GET    timeline/stream?marker=M&after=N
//	                                   the same as NDJSON, then each event as it comes, until the session ends, its
//	                                   timeline is full, or the client leaves
//	POST   gates/NAME?marker=M         opens a gate that some step of the session awaits
//	POST   reset                       ends all sessions, and opens that of Begin again
//
// Errors are JSON: {"errors": [{"message": …}]}, with line, column and hint for those of a script. Requests that name
// another host, or come from a web page of another site, are refused; with AnyHost such a page may read, and no more.
//
// Set the fields before the first use; it is safe for concurrent use.
type Handler struct {
	Fake    Fake
	AnyHost bool // other names than those of loopback are fine

	MaxBody     int64 // bytes of a script, 1 MiB when 0
	MaxSessions int   // open at once, 1,000 when 0

	// Opened is told of each session as it begins. It must not block, nor call the handler. May be nil.
	Opened func(marker string, t *timeline.Timeline)

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	first    *Script
}

// session is one of the fake's, as long as it is open. Its fields are guarded by the handler's mutex, or do not
// change.
type session struct {
	marker   string
	script   Script
	timeline *timeline.Timeline
	gates    *script.Gates
	ending   bool // somebody releases it
}

var (
	errClosed = fmt.Errorf("admin: %w", net.ErrClosed)
	errTaken  = errors.New("a session with this marker is open: DELETE it first")
	errFull   = errors.New("too many sessions are open: DELETE some, or reset")
)

// Begin opens the session of requests without a marker. A reset opens it again.
func (h *Handler) Begin(what Script) error {
	h.mu.Lock()
	h.first = &what
	h.mu.Unlock()
	_, err := h.open("", what, false)
	return err
}

// Timeline is the timeline of an open session, nil when there is none.
func (h *Handler) Timeline(marker string) *timeline.Timeline {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sessions[marker]; s != nil {
		return s.timeline
	}
	return nil
}

// Close ends all sessions, and with them the streams of their timelines, which their server waits for. No session can
// be opened afterwards.
func (h *Handler) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.releaseAll()
	return nil
}

func (h *Handler) open(marker string, what Script, strict bool) (*session, error) {
	s := &session{marker: marker, script: what, timeline: timeline.New(), gates: new(script.Gates)}
	h.mu.Lock()
	defer h.mu.Unlock()
	most := h.MaxSessions
	if most == 0 {
		most = 1000
	}
	switch {
	case h.closed:
		return nil, errClosed
	case h.sessions[marker] != nil:
		return nil, errTaken
	case len(h.sessions) >= most:
		return nil, errFull
	}
	if err := what.Open(marker, Session{s.timeline, s.gates, strict}); err != nil {
		return nil, err
	}
	if h.sessions == nil {
		h.sessions = map[string]*session{}
	}
	h.sessions[marker] = s
	if h.Opened != nil {
		h.Opened(marker, s.timeline)
	}
	return s, nil
}

// release ends a session, and waits for its exchanges. It returns false when there is none, or another call ends it.
func (h *Handler) release(marker string) (unplayed []string, ok bool) {
	h.mu.Lock()
	s := h.sessions[marker]
	if s == nil || s.ending {
		h.mu.Unlock()
		return nil, false
	}
	// Its marker stays taken until the fake has let go of it.
	s.ending = true
	h.mu.Unlock()
	unplayed = h.Fake.Release(marker)
	for _, what := range unplayed {
		s.timeline.Add(Lane, "", "unplayed", what)
	}
	s.timeline.Add(Lane, "", "released", "")
	h.mu.Lock()
	delete(h.sessions, marker)
	h.mu.Unlock()
	return unplayed, true
}

// releaseAll returns what the sessions have left, by their markers.
func (h *Handler) releaseAll() map[string][]string {
	h.mu.Lock()
	markers := slices.Sorted(maps.Keys(h.sessions))
	h.mu.Unlock()
	left := map[string][]string{}
	for _, m := range markers {
		if unplayed, ok := h.release(m); ok && len(unplayed) > 0 {
			left[m] = unplayed
		}
	}
	return left
}

// reset ends all sessions and begins again.
func (h *Handler) reset() (map[string][]string, error) {
	left := h.releaseAll()
	h.mu.Lock()
	first := h.first
	h.mu.Unlock()
	if first == nil {
		return left, nil
	}
	if _, err := h.open("", *first, false); err != nil && !errors.Is(err, errTaken) {
		return left, err
	}
	return left, nil
}

// Last says whether no event follows e in the timeline of a session.
func Last(e timeline.Event) bool {
	return e.Lane == Lane && e.Kind == "released" || e.Seq == timeline.Limit
}

// foreign says whether a request comes from a web page that is not this fake's.
func foreign(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return true
		}
	}
	return false
}

// local says whether a request names this machine. A web page that has its own name point here must not get in.
func local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = strings.Trim(r.Host, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
