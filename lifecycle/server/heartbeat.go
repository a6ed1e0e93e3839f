package server

import "time"

// heartbeat ticks at whole intervals from the response's start. It is no [time.Ticker], since that delivers a tick missed during a
// blocked write afterwards.
type heartbeat struct {
	start    time.Time
	interval time.Duration
	next     time.Time
	timer    *time.Timer // nil when off
}

// newHeartbeat makes one whose first tick is an interval after start; an interval of 0 never ticks.
func newHeartbeat(start time.Time, interval time.Duration) *heartbeat {
	h := &heartbeat{start: start, interval: interval}
	if interval > 0 {
		h.timer = time.NewTimer(interval)
		h.advance(start)
	}
	return h
}

// due delivers the next tick.
func (h *heartbeat) due() <-chan time.Time {
	if h.timer == nil {
		return nil
	}
	return h.timer.C
}

// advance sets the next tick to the first instant after now.
func (h *heartbeat) advance(now time.Time) {
	ticks := now.Sub(h.start)/h.interval + 1
	h.next = h.start.Add(ticks * h.interval)
	h.timer.Reset(h.next.Sub(now))
}

// skipMissed gives up a tick that became due while something else was being written: what was written shows the client the same.
func (h *heartbeat) skipMissed(now time.Time) {
	if h.timer != nil && now.After(h.next) {
		h.advance(now)
	}
}

func (h *heartbeat) stop() {
	if h.timer != nil {
		h.timer.Stop()
	}
}
