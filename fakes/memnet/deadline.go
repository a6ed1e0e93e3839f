package memnet

import "time"

// deadline is the instant from which reads or writes of a half fail. The half's mutex
// guards it. Its timer is made at the first need and then reused.
type deadline struct {
	half  *half
	at    time.Time
	timer *time.Timer
}

func (d *deadline) past() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// set moves the deadline; the zero time stops the timer.
func (d *deadline) set(at time.Time) {
	d.at = at
	if at.IsZero() {
		if d.timer != nil {
			d.timer.Stop()
		}
		return
	}
	wait := time.Until(at)
	switch {
	case wait <= 0:
		if d.timer != nil {
			d.timer.Stop()
		}
		d.half.changed.Broadcast()
	case d.timer == nil:
		d.timer = time.AfterFunc(wait, d.fire)
	default:
		d.timer.Reset(wait)
	}
}

// fire wakes what waits for the deadline. It may come for one that was moved meanwhile, or,
// after a step of the wall clock, too early: then the timer goes on.
func (d *deadline) fire() {
	d.half.mu.Lock()
	defer d.half.mu.Unlock()
	if d.at.IsZero() {
		return
	}
	if wait := time.Until(d.at); wait > 0 {
		d.timer.Reset(wait)
		return
	}
	d.half.changed.Broadcast()
}
