// Package fault says what can go wrong in an exchange, as values: they can be compared, printed and put in a script.
// Each is named for what the victim sees.
package fault

import "time"

// Stall is silence with the connection open.
type Stall struct {
	For time.Duration `yaml:"for,omitempty"` // 0 is for ever: until the peer leaves or the fake closes
}

// Cut closes the connection in the middle of the answer: a FIN with no last chunk, or before any byte of it.
type Cut struct{}

// Reset closes the connection with a RST.
type Reset struct{}

// HalfClose sends a FIN and goes on reading: the peer sees the end of the answer, and can still write.
type HalfClose struct{}

// Drip sends what follows a few bytes at a time.
type Drip struct {
	Bytes int           `yaml:"bytes"` // per write, at least 1
	Every time.Duration `yaml:"every"` // between writes
}

// Split cuts each frame that follows into several writes at these byte offsets of the frame. Offsets past its end
// are ignored.
type Split struct {
	At    []int `yaml:"at,omitempty"`    // offsets, ascending
	Every int   `yaml:"every,omitempty"` // or: after every so many bytes, when above 0
}

// Status answers with this HTTP status and body in place of a stream.
type Status struct {
	Code        int               `yaml:"code"`
	ContentType string            `yaml:"content-type,omitempty"` // the dialect's own for an error when empty
	Body        string            `yaml:"body,omitempty"`         // the dialect's own error body for the code when empty
	Header      map[string]string `yaml:"header,omitempty"`       // such as Retry-After
	Blank       bool              `yaml:"blank,omitempty"`        // the body is empty
}

// Batch puts so many of the frames that follow into one write, and goes on so.
type Batch struct {
	Frames int `yaml:"frames"` // at least 2
}

// Lines shapes the lines of all server-sent events that follow, in ways that the specification allows.
type Lines struct {
	End     string `yaml:"end,omitempty"`      // lf, crlf or cr; lf when empty
	BOM     bool   `yaml:"bom,omitempty"`      // a byte order mark goes before the first
	NoSpace bool   `yaml:"no-space,omitempty"` // none after the colon
	Several bool   `yaml:"several,omitempty"`  // data is broken over several data lines, at its commas
}

// Garble breaks the next frame.
type Garble struct {
	How string `yaml:"how,omitempty"` // one of Garbles; brace when empty
}

// Garbles are the ways to break a frame. Those between plain and utf-8 are about server-sent events, the last two about
// frames that have checksums.
func Garbles() []string {
	return []string{
		"brace",    // the last brace of its JSON is missing
		"plain",    // plain text stands in place of its JSON
		"doubled",  // the data: prefix stands twice
		"no-blank", // the blank line behind it is missing
		"no-event", // its event name is missing
		"no-data",  // its data is empty
		"utf-8",    // a byte that is no UTF-8 stands in its text

		"crc",         // the checksum at its end is wrong
		"prelude-crc", // the checksum of the lengths at its beginning is wrong, and that at its end is right
	}
}

// StreamReset ends an HTTP/2 stream with RST_STREAM.
type StreamReset struct {
	Code string `yaml:"code,omitempty"` // an HTTP/2 error code, such as CANCEL; INTERNAL_ERROR when empty
}

// GoAway says on an HTTP/2 connection that no further stream is taken, and goes on with those it names.
type GoAway struct {
	Code string `yaml:"code,omitempty"` // NO_ERROR when empty
	Last int    `yaml:"last,omitempty"` // the last stream that is still answered; 0 is the present one, -1 none
}

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

// Kind is the fault's word in timelines and scripts.
func (Batch) Kind() string { return "batch" }

// Kind is the fault's word in timelines and scripts.
func (Lines) Kind() string { return "lines" }

// Kind is the fault's word in timelines and scripts.
func (StreamReset) Kind() string { return "stream-reset" }

// Kind is the fault's word in timelines and scripts.
func (GoAway) Kind() string { return "go-away" }
