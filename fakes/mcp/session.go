package mcp

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stallwright/stallwright/fakes/script"
)

// session is what is known of a Session while it is open. The fake's mutex guards its fields.
type session struct {
	*Session
	used     []int // requests that took each program
	requests int
	released bool
	current  map[*call]struct{}
	calls    sync.WaitGroup
	gates    *script.Gates
	line     []*call        // the tool calls of a Single server, in the order of their arrival; the first is under way
	effects  map[uint64]int // by tool and arguments
	listed   bool           // tools/list was asked for
	lost     bool           // the gate of LostAt was seen open
	drawn    *uint64        // the seed, when it was used
}

// lineUp puts a call at the end of its session's line, if the server does one thing at a time. The fake's mutex is held.
func (c *call) lineUp() {
	if !c.s.Script.Manners.Single || c.method != callMethod {
		return
	}
	c.turn = make(chan struct{})
	if c.s.line = append(c.s.line, c); len(c.s.line) == 1 {
		close(c.turn)
	}
}

// leaveLine takes a call out of the line, wherever in it it stands. The fake's mutex is held.
func (c *call) leaveLine() {
	at := slices.Index(c.s.line, c)
	if at < 0 {
		return
	}
	c.s.line = slices.Delete(c.s.line, at, at+1)
	if at == 0 && len(c.s.line) > 0 {
		close(c.s.line[0].turn)
	}
}

// add opens a session. The fake's mutex is held.
func (f *Fake) add(marker string, s *Session) *session {
	if f.sessions == nil {
		f.sessions = map[string]*session{}
	}
	open := &session{
		Session: s, used: make([]int, len(s.Script.Programs)), current: map[*call]struct{}{}, gates: s.Gates,
		effects: map[uint64]int{},
	}
	if open.gates == nil {
		open.gates = new(script.Gates)
	}
	f.sessions[marker] = open
	return open
}

// owner is the session without a marker, or nil. The fake's mutex is held.
func (f *Fake) owner() *session {
	s := f.sessions[""]
	if s == nil && f.Fallback != nil && f.Fallback.Script.Validate() == nil {
		s = f.add("", f.Fallback)
	}
	if s == nil || s.released {
		return nil
	}
	return s
}

// find is the session of a tool call with these arguments, nil when it has a marker that none has. The mutex is held.
func (f *Fake) find(arguments []byte, owner *session) (*session, string) {
	unknown := ""
	for m := range script.Markers(arguments) {
		if s := f.sessions[m]; s != nil && m != "" {
			return s, ""
		}
		unknown = fmt.Sprintf("no session %.200q", m)
	}
	if unknown != "" {
		return nil, unknown
	}
	return owner, ""
}

func (f *Fake) record(s *session, ref, kind, detail string) {
	if s != nil && s.Timeline != nil {
		s.Timeline.Add(Lane, ref, kind, detail)
	}
}

// next is the program for a request, or nil. It counts as taken. The mutex is held.
func (s *session) next(method, tool string, params []byte, ordinal int) *Program {
	for i := range s.Script.Programs {
		p := &s.Script.Programs[i]
		if p.Times != script.Any && s.used[i] >= max(p.Times, 1) {
			continue
		}
		if p.When.fits(method, tool, params, ordinal) {
			s.used[i]++
			return p
		}
	}
	return nil
}

func (w When) fits(method, tool string, params []byte, ordinal int) bool {
	want := cmp.Or(w.Method, callMethod)
	return (want == method || (want == AnyRequest && request(method))) &&
		(w.Tool == "" || w.Tool == tool) &&
		(w.Contains == "" || bytes.Contains(params, []byte(w.Contains))) &&
		(w.Ordinal == 0 || w.Ordinal == ordinal)
}

// request says whether a method is one of requests.
func request(method string) bool {
	return method != getMethod && method != deleteMethod && !strings.HasPrefix(method, "notifications/")
}

const (
	callMethod   = "tools/call"
	getMethod    = "GET"
	deleteMethod = "DELETE"
)

// unplayed is called after the session's end.
func (s *session) unplayed() []string {
	var list []string
	for i, p := range s.Script.Programs {
		if times := max(p.Times, 1); p.Times != script.Any && s.used[i] < times {
			list = append(list, fmt.Sprintf("program %d (%s) was taken by %d of %d requests", i+1, p.When, s.used[i], times))
		}
	}
	return list
}

// String says which requests are meant.
func (w When) String() string {
	var list []string
	if w.Ordinal != 0 {
		list = append(list, fmt.Sprintf("request %d", w.Ordinal))
	}
	list = append(list, cmp.Or(w.Method, callMethod))
	if w.Tool != "" {
		list = append(list, fmt.Sprintf("tool %.80q", w.Tool))
	}
	if w.Contains != "" {
		list = append(list, fmt.Sprintf("contains %.80q", w.Contains))
	}
	return strings.Join(list, ", ")
}

// seed is the session's, chosen and recorded at its first use.
func (s *session) seed(f *Fake) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.drawn == nil {
		seed := s.Seed
		for seed == 0 {
			seed = rand.Uint64()
		}
		s.drawn = &seed
		f.record(s, f.Name, "seed", strconv.FormatUint(seed, 10))
	}
	return *s.drawn
}
