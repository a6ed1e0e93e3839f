package harness

import (
	"fmt"
	"time"
)

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

// Bears says why scenarios cannot be played on clocks that are set so, or "" when they can: their steps are made of
// the windows, and keep their distance from each other only where the windows do. What holds for the production
// windows and for the short ones is asked of all others.
func (w Windows) Bears() string {
	clocks := func(w Windows) []time.Duration {
		return []time.Duration{w.Heartbeat, w.Inactivity, w.FirstChunk, w.Stream}
	}
	names := []string{"heartbeat", "inactivity", "first-chunk", "stream"}
	short, production, given := clocks(Short()), clocks(Production()), clocks(w)
	for i, long := range given {
		if long == 0 {
			continue
		}
		if long < short[i] {
			return fmt.Sprintf("%s %s is too short to be told from the noise of a busy machine: at least %s", names[i], long, short[i])
		}
		for j, less := range given[:i] {
			ratio := min(float64(short[i])/float64(short[j]), float64(production[i])/float64(production[j]))
			if least := time.Duration(ratio * float64(less)); long < least {
				return fmt.Sprintf("%s %s is too short beside %s %s: at least %s", names[i], long, names[j], less, least.Round(10*time.Millisecond))
			}
		}
	}
	return ""
}
