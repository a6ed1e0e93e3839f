package mcp

import (
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
	queued  bool          // it holds its session's turn
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
	own.Do = orElse(own.Do, Stop)
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

// use gives a call its stream. It belongs to the call alone when x is not nil.
func (c *call) use(s *stream, x *wire.Exchange) {
	c.out = s
	if x == nil {
		return
	}
	c.f.mu.Lock()
	c.x = x
	c.f.mu.Unlock()
	if closed(c.stopped) {
		x.Close()
	}
}

// halt ends a call from outside; its session waits for it.
func (c *call) halt() {
	c.f.mu.Lock()
	x := c.x
	if !closed(c.stopped) {
		close(c.stopped)
	}
	c.f.mu.Unlock()
	if x != nil {
		x.Close()
	}
}

// cancel tells a call that its client does not want it any more.
func (c *call) cancel() {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if !closed(c.off) {
		close(c.off)
	}
}

// closed says whether a channel is; a nil one never is.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// wait returns at the instant until, when open is closed, or when the call must not go on. A zero until never comes, a
// nil open is never closed.
func (c *call) wait(until time.Time, open <-chan struct{}) error {
	for {
		var gone <-chan struct{}
		if c.out != nil {
			gone = c.out.gone
		}
		// What ends a call comes before what lets it go on.
		switch {
		case closed(c.stopped):
			return errStopped
		case closed(c.heed):
			return errCancelled
		case closed(gone):
			if err := c.left(); err != nil {
				return err
			}
			continue
		}
		var tick <-chan time.Time
		if !until.IsZero() {
			d := time.Until(until)
			if d <= 0 {
				return nil
			}
			if c.timer == nil {
				c.timer = time.NewTimer(d)
			} else {
				c.timer.Reset(d)
			}
			tick = c.timer.C
		} else if open == nil && c.out == nil && c.replay == nil {
			return errLeft // nothing would come of it
		}
		select {
		case <-tick:
			continue
		case <-open:
			return nil
		case <-c.stopped:
		case <-c.heed:
		case <-gone:
		case r := <-c.replay.asked():
			if err := c.resume(r); err != nil {
				return err
			}
		}
		if tick != nil {
			c.timer.Stop()
		}
	}
}

// left is called when the stream is gone: whether the call goes on without it.
func (c *call) left() error {
	if closed(c.stopped) {
		return errStopped
	}
	how := string(wire.FIN)
	if c.out.x != nil {
		how = string(c.out.x.How())
	}
	shared := c.out.jobs != nil
	c.out = nil
	if how == string(wire.Local) {
		return errStopped
	}
	c.record("left", how)
	switch {
	case shared || c.id == nil:
		return errLeft
	case c.hangup:
		c.cancel()
	}
	return nil
}

// finish ends a call.
func (c *call) finish(err error) {
	if c.queued {
		<-c.s.turn
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.f.mu.Lock()
	x, answered := c.x, c.answered
	delete(c.s.current, c)
	c.p.forget(c)
	c.f.keepEnded(c.replay)
	if c.shared != nil && c.p.listener == c {
		c.p.listen, c.p.listener = nil, nil
	}
	if c.shared != nil && c.p.stream && c.f.peers[c.p.id] == c.p {
		c.f.drop(c.p, c.owner, "closed")
	}
	c.f.mu.Unlock()
	if x != nil {
		x.Close() // nothing, when the connection was given back
	}
	how := "unanswered"
	switch {
	case errors.Is(err, errStopped):
		how = "closed"
	case errors.Is(err, errCancelled):
		how = "cancelled"
	case errors.Is(err, errLeft):
		how = "left"
	case answered:
		how = "answered"
	}
	if c.id != nil {
		c.record("ended", how)
	}
	c.s.calls.Done()
	c.p.running.Done()
	c.f.calls.Done()
}
