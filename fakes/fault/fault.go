// Package fault says what can go wrong in an exchange, as values: they can be compared, printed and put in a script.
// Each is named for what the victim sees.
package fault

import "time"

// Stall is silence with the connection open.
type Stall struct {
	For time.Duration // 0 is for ever: until the peer leaves or the fake closes
}

// Cut closes the connection in the middle of the answer: a FIN with no last chunk, or before any byte of it.
type Cut struct{}

// Reset closes the connection with a RST.
type Reset struct{}

// HalfClose sends a FIN and goes on reading: the peer sees the end of the answer, and can still write.
type HalfClose struct{}

// Drip sends what follows a few bytes at a time.
type Drip struct {
	Bytes int           // per write, at least 1
	Every time.Duration // between writes
}

// Split cuts each frame that follows into several writes at these byte offsets of the frame. Offsets past its end
// are ignored.
type Split struct {
	At    []int // offsets, ascending
	Every int   // or: after every so many bytes, when above 0
}

// Status answers with this HTTP status and body in place of a stream.
type Status struct {
	Code        int
	ContentType string // application/json when empty
	Body        string // the dialect's own error body for the code when empty
}

// Garble breaks the JSON of the next frame.
type Garble struct{}

// Kind is the fault's word in timelines and scripts.
func (Stall) Kind() string { return "stall" }

// Kind is the fault's word in timelines and scripts.
func (Cut) Kind() string { return "cut" }

// Kind is the fault's word in timelines and scripts.
func (Reset) Kind() string { return "reset" }

// Kind is the fault's word in timelines and scripts.
func (HalfClose) Kind() string { return "half-close" }

// Kind is the fault's word in timelines and scripts.
func (Drip) Kind() string { return "drip" }

// Kind is the fault's word in timelines and scripts.
func (Split) Kind() string { return "split" }

// Kind is the fault's word in timelines and scripts.
func (Status) Kind() string { return "status" }

// Kind is the fault's word in timelines and scripts.
func (Garble) Kind() string { return "garble" }
