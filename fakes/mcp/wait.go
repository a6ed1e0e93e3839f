package mcp

import (
	"errors"
	"time"

	"github.com/stallwright/stallwright/fakes/wire"
)

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
	if c.timer != nil {
		c.timer.Stop()
	}
	c.f.mu.Lock()
	x, answered := c.x, c.answered
	delete(c.s.current, c)
	c.leaveLine()
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
