package run

import "time"

// clock is one deadline that can be moved, paused and taken back. It has no lock of its own: its run's mutex guards it, so that an expiry
// and the ending it causes are one step. A window of 0 never arms.
type clock struct {
	window time.Duration
	fire   func(generation int) // on a goroutine of its own; must ask current before it acts

	timer      *time.Timer
	generation int // of the arming that may fire
	armed      bool
	pauses     int // producers that asked for a pause and have not resumed
	deadline   time.Time
	left       time.Duration // of the window, while paused
}

// arm starts the whole window anew, whatever the clock did before. While paused it starts at the resume.
func (c *clock) arm() {
	c.halt()
	if c.window <= 0 {
		return
	}
	c.armed = true
	c.left = c.window
	if c.pauses == 0 {
		c.start()
	}
}

// stop takes the arming back.
func (c *clock) stop() {
	c.armed = false
	c.halt()
}

// pause holds what is left of the window. Pauses nest.
func (c *clock) pause() {
	c.pauses++
	if c.pauses > 1 || !c.armed {
		return
	}
	c.left = time.Until(c.deadline)
	c.halt()
}

// resume goes on with what was left when the last of the nested pauses ends.
func (c *clock) resume() {
	c.pauses--
	if c.pauses > 0 || !c.armed {
		return
	}
	c.start()
}

// current says whether an expiry belongs to the arming in force. A timer that fired while it was being stopped or re-armed does not.
func (c *clock) current(generation int) bool {
	return c.armed && c.generation == generation
}

func (c *clock) start() {
	c.generation++
	generation := c.generation
	c.deadline = time.Now().Add(c.left)
	c.timer = time.AfterFunc(c.left, func() { c.fire(generation) })
}

func (c *clock) halt() {
	c.generation++
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}
