package harness

import "time"

// Fits says why a server whose clocks are w cannot play a case of set s, or "" when it can. It is for servers whose
// settings cannot be changed.
func (w Windows) Fits(s Set) string {
	for _, clock := range []struct {
		name   string
		window time.Duration
		on     bool
	}{
		{"inactivity clock", w.Inactivity, s.Inactivity},
		{"first-chunk clock", w.FirstChunk, !s.NoFirstChunk},
		{"stream clock", w.Stream, !s.NoStream},
		{"heartbeat", w.Heartbeat, !s.NoHeartbeat},
		{"shutdown grace", w.Shutdown, !s.NoGrace},
	} {
		switch on := clock.window > 0; {
		case clock.on && !on:
			return "the case needs the " + clock.name + ", which the server has off"
		case !clock.on && on:
			return "the case needs the " + clock.name + " to be off, and the server has it on"
		}
	}
	return ""
}
