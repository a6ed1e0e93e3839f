package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/wire"
)

// call is one request being answered, or one GET, on a goroutine of its own.
type call struct {
	f       *Fake
	s       *session
	owner   *session // of all that is not a call
	p       *peer
	ref     string
	ordinal int

	id       json.RawMessage // nil of a GET
	method   string
	tool     *Tool
	token    json.RawMessage // of progress
	revision string
	hangup   bool // the end of the response stream cancels it
	effect   uint64

	steps    []script.Step
	onCancel OnCancel
	after    Result // of a call that was cancelled

	out     *stream // nil when there is none any more
	heed    <-chan struct{}
	due     time.Time // the instant at which the next step is due
	timer   *time.Timer
	rand    *rand.Rand
	told    int // progress
	keep    bool
	turn    chan struct{} // closed when it is its turn; nil when it need not wait for one
	replay  *replay       // of its events
	returns *replay       // that this GET comes back for
	backTo  int           // the number of the last event that its client has
	shared  *stream       // that this GET has opened for its client
	stopped chan struct{} // closed by halt
	off     chan struct{} // closed when it is cancelled

	// Guarded by the fake's mutex.
	answered bool
	x        *wire.Exchange // that is its own
}

var (
	errCancelled = errors.New("mcp: the call was cancelled")
	errLeft      = errors.New("mcp: the peer has left")
	errEnded     = errors.New("mcp: the program has ended the exchange")
)

func (c *call) record(kind, detail string) { c.f.record(c.s, c.ref, kind, detail) }

// take makes a call of a request, and chooses its program. r is nil over a pipe.
func (f *Fake) take(m message, p *peer, owner *session, r *http.Request) (*call, *fatal) {
	arrived := time.Now()
	q := m.parameters()
	f.mu.Lock()
	defer f.mu.Unlock()
	s := owner
	if m.Method == callMethod {
		var unknown string
		if s, unknown = f.find(q.Arguments, owner); s == nil {
			f.strays++
			return nil, &fatal{status: 500, code: codeInternal, why: unknown}
		}
	}
	if f.closed || s.released {
		return nil, &fatal{status: 503, code: codeInternal, why: errClosed.Error(), honest: true}
	}
	if len(s.current) >= f.maxCalls() {
		return nil, &fatal{status: 503, code: codeInternal, why: fmt.Sprintf("above %d calls", f.maxCalls()), honest: true}
	}
	s.requests++
	c := &call{
		f: f, s: s, owner: owner, p: p, ref: fmt.Sprintf("%s#%d", f.Name, s.requests), ordinal: s.requests,
		id: m.ID, method: strings.Clone(m.Method), token: q.Meta.Token, revision: p.revision, due: arrived,
		stopped: make(chan struct{}), off: make(chan struct{}),
	}
	open := 1
	for other := range s.current {
		if other.id != nil && !other.answered {
			open++
		}
	}
	c.record("request", describe(m, q, open))
	if p.apart && (p.calls[string(m.ID)] != nil || p.ended[string(m.ID)] != nil) {
		c.record("violation", "the id was used before: "+shown(m.ID, 200))
	}
	if program := s.next(m.Method, q.Name, m.Params, c.ordinal); program != nil {
		c.plan(program)
		c.tool = f.lookup(s, owner, q.Name)
	} else {
		c.behave(m, q, r)
	}
	c.onCancel = reaction(c.onCancel, s.Script.Manners.OnCancel)
	if c.heed = c.off; c.onCancel.Do == Ignore {
		c.heed = nil
	}
	sum := fnv.New64a()
	sum.Write([]byte(q.Name))
	sum.Write(q.Arguments)
	c.effect = sum.Sum64()
	p.calls[string(m.ID)] = c
	c.lineUp()
	f.begin(c)
	return c, nil
}

// begin counts a call as running. The mutex is held.
func (f *Fake) begin(c *call) {
	c.s.current[c] = struct{}{}
	c.s.calls.Add(1)
	c.p.running.Add(1)
	f.calls.Add(1)
}

func describe(m message, q params, open int) string {
	tool, args := "", ""
	if m.Method == callMethod {
		tool, args = fmt.Sprintf(" tool=%.100q", q.Name), " args="+shown(q.Arguments, 400)
	}
	return fmt.Sprintf("%.100s id=%s%s open=%d%s", m.Method, shown(m.ID, 200), tool, open, args)
}

// plan has a program played.
func (c *call) plan(p *Program) {
	c.steps, c.onCancel = p.Steps, p.OnCancel
	if c.onCancel.Do == "" && hasAwaitCancel(p.Steps) {
		c.onCancel.Do = Ignore
	}
}

func reaction(own, manners OnCancel) OnCancel {
	if own.Do == "" {
		own = manners
	}
	own.Do = cmp.Or(own.Do, Stop)
	return own
}

func hasAwaitCancel(steps []script.Step) bool {
	for _, step := range steps {
		switch s := step.(type) {
		case AwaitCancel:
			return true
		case script.Repeat:
			if hasAwaitCancel(s.Steps) {
				return true
			}
		}
	}
	return false
}
