package provider

import (
	"fmt"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// clocks are the instants that idle timers of different makes are about: of any event, and of one with output. That
// of any byte is the wire's.
type clocks struct {
	frames          int
	event, progress time.Time
}

// tick takes note of a frame that has left at an instant, by its kind.
func (c *clocks) tick(kind string, at time.Time) {
	switch kind {
	case script.Comment{}.Kind(), string(script.BlankForm), fault.Lines{}.Kind():
		return
	case script.Text{}.Kind(), script.Think{}.Kind(), script.Refusal{}.Kind(), script.Flood{}.Kind(), script.Tool{}.Kind(), script.ToolChunk{}.Kind():
		c.progress = at
	}
	c.event = at
}

// counts says what was sent until now, and how long ago the last of it.
func (pl *play) counts() string {
	sent := pl.x.Sent()
	s := fmt.Sprintf("bytes=%d frames=%d byte=%s event=%s progress=%s",
		sent.Bytes, pl.sent.frames, ago(sent.Last), ago(pl.sent.event), ago(pl.sent.progress))
	if n := pl.x.Unread(); n > 0 {
		s += fmt.Sprintf(" unread=%d", n)
	}
	return s
}

func ago(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return fmt.Sprintf("%.3fs", time.Since(t).Seconds())
}
