package approval

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
)

const (
	// MaxPending is how many approvals of a server may be pending at once: far more than people can decide, and each holds a run.
	MaxPending = 10_000
	// MaxPendingOfRun is the same of one run, whose model may ask for many calls in one turn.
	MaxPendingOfRun = 64
)

// Decision is what a person decided about a call.
type Decision struct {
	Approved bool
	Reason   string // may be empty; a stranger's text
}

// errTooMany is the error of an approval that finds no place.
var errTooMany = errors.New("too many approvals are pending")

// Desk holds the pending approvals of a server. Each is decided at most once, and not after the call or run that waits for it has ended.
// The zero value is empty. It is safe for concurrent use.
type Desk struct {
	mu      sync.Mutex
	pending map[string]*pending
	of      map[string]int // how many of each run
}

// pending is one approval that waits.
type pending struct {
	desk     *Desk
	id       string
	run      string
	ctx      context.Context // of the call that waits
	posted   bool            // it is decided through Decide
	decision chan Decision   // has room for the one
}

// Pending is how many approvals wait now.
func (d *Desk) Pending() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.pending)
}

// Decide gives the decision on an approval. It reports false, and changes nothing, when none of that id waits for it: unknown, decided,
// expired, or of a call that has ended.
func (d *Desk) Decide(id string, decision Decision) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.pending[id]
	if p == nil || !p.posted || p.ctx.Err() != nil {
		return false
	}
	d.remove(p)
	p.decision <- decision
	return true
}

// enter makes an approval pending until it is decided or leaves.
func (d *Desk) enter(ctx context.Context, run string, posted bool) (*pending, error) {
	p := &pending{desk: d, id: newID(), run: run, ctx: ctx, posted: posted, decision: make(chan Decision, 1)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) >= MaxPending || d.of[run] >= MaxPendingOfRun {
		return p, errTooMany
	}
	if d.pending == nil {
		d.pending, d.of = map[string]*pending{}, map[string]int{}
	}
	d.pending[p.id] = p
	d.of[run]++
	return p, nil
}

// leave takes an approval away. It reports false when that was done before: then it is decided.
func (p *pending) leave() bool {
	p.desk.mu.Lock()
	defer p.desk.mu.Unlock()
	return p.desk.remove(p)
}

// remove is called with mu held.
func (d *Desk) remove(p *pending) bool {
	if d.pending[p.id] != p {
		return false
	}
	delete(d.pending, p.id)
	if d.of[p.run]--; d.of[p.run] == 0 {
		delete(d.of, p.run)
	}
	return true
}

// newID is a UUID of version 4: an id that can be guessed is a decision that anybody can give.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ValidID says whether a text has the form of an id.
func ValidID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}
