package wire

import "time"

// Keepalive calls beat at from plus every, from plus twice every and so on, behind every wait that follows, until
// it is called again; every 0 ends it. Beats that fell due while a write was blocked are left out. beat sends by
// Put; its error ends the wait.
func (x *Exchange) Keepalive(from time.Time, every time.Duration, beat func() error) {
	x.beat, x.every, x.next = beat, every, from.Add(every)
}

// NextBeat is when the next keepalive is due, while beat runs the one after it.
func (x *Exchange) NextBeat() time.Time { return x.next }

// Wait returns at the instant until, at once when it is past, with keepalives meanwhile.
func (x *Exchange) Wait(until time.Time) error { return x.wait(until, nil, true) }

// WaitFor returns when open is closed, with keepalives meanwhile. A nil open never is.
func (x *Exchange) WaitFor(open <-chan struct{}) error {
	x.body.spare() // thousands may wait for ever
	return x.wait(time.Time{}, open, true)
}

// wait ends at until, when open is closed, or with the connection. A zero until never comes.
func (x *Exchange) wait(until time.Time, open <-chan struct{}, beats bool) error {
	for {
		select {
		case <-x.gone:
			return ErrLeft
		default:
		}
		// Many frames are due at one instant, and the clock need not be asked for each.
		if open == nil && x.every == 0 && !until.IsZero() && !until.After(x.passed) {
			return nil
		}
		select {
		case <-open:
			return nil
		default:
		}
		target, beat := until, false
		if beats && x.every > 0 && (until.IsZero() || x.next.Before(until)) {
			target, beat = x.next, true
		}
		var tick <-chan time.Time
		if !target.IsZero() {
			switch d := time.Until(target); {
			case d > 0:
				if x.timer == nil {
					x.timer = time.NewTimer(d)
				} else {
					x.timer.Reset(d)
				}
				tick = x.timer.C
			case beat:
				x.next = x.next.Add(x.every * (1 + -d/x.every))
				if err := x.beat(); err != nil {
					return err
				}
				continue
			default:
				x.passed = until
				return nil
			}
		}
		select {
		case <-tick:
			continue
		case <-x.gone:
		case <-open:
		}
		if tick != nil {
			x.timer.Stop()
		}
	}
}

// Rest is for a caller that would wait for the end and do nothing more but then: it calls then when the connection
// has ended, on another goroutine, so that the caller's may end now. It does nothing and returns false when
// keepalives need the caller.
func (x *Exchange) Rest(then func()) bool {
	if x.every > 0 {
		return false
	}
	x.body.spare()
	x.timer, x.slow, x.noted = nil, nil, nil
	x.mu.Lock()
	over := x.over
	if !over {
		x.then = then
	}
	x.mu.Unlock()
	if over {
		then()
	}
	return true
}

// finish calls what Rest was given, once the connection has ended.
func (x *Exchange) finish() {
	x.mu.Lock()
	then := x.then
	x.over, x.then = true, nil
	x.mu.Unlock()
	if then != nil {
		then()
	}
}
