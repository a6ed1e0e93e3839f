package run

import (
	"sync"
	"time"
)

// Watch is an inactivity clock of a part of a run: it expires when nothing has re-armed it for a window. Its methods are safe for
// concurrent use, and harmless once it has expired.
type Watch struct {
	mu    sync.Mutex
	clock clock
}

// NewWatch makes a watch that is not armed. A window of 0 never expires. The function is called once, on a goroutine of its own; it
// must not block and must not use the watch.
func NewWatch(window time.Duration, expired func()) *Watch {
	w := &Watch{}
	w.clock.window = window
	w.clock.fire = func(generation int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.clock.current(generation) {
			w.clock.stop()
			w.clock.window = 0
			expired()
		}
	}
	return w
}

// Arm starts the whole window anew; while the watch is paused it starts at the resume.
func (w *Watch) Arm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.arm()
}

// Stop takes the arming back.
func (w *Watch) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.stop()
}

// Pause holds what is left of the window. Pauses nest.
func (w *Watch) Pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.pause()
}

// Resume goes on with what was left when the last of the nested pauses ends.
func (w *Watch) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.resume()
}

// Restart ends a pause as Resume does, but with the whole window anew if the watch is armed.
func (w *Watch) Restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	watched := w.clock.armed
	w.clock.resume()
	if watched {
		w.clock.arm()
	}
}
