package wire

import "io"

// steady stands between a body and the event reader, which looks through all of an unfinished event again at every
// read. It fills the reader's buffer until an event ends, so that a long event costs as little dripped as at once, and
// leaves out blank lines between events, which the reader would gather.
type steady struct {
	in   io.Reader
	line int  // bytes of the current line
	cr   bool // the last byte was CR, so an LF belongs to it
	some bool // the current event has a line
}

// Read implements [io.Reader]. It returns early at a blank line, which ends an event whatever follows.
func (s *steady) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m, err := s.in.Read(p[n:])
		kept, ended := s.scan(p[n : n+m])
		n += kept
		if ended || err != nil || m == 0 {
			return n, err
		}
	}
	return n, nil
}

// scan drops the blank lines between events from b, in place; it says how many bytes are left and whether an event ended.
func (s *steady) scan(b []byte) (kept int, ended bool) {
	for _, c := range b {
		switch {
		case c != '\n' && c != '\r':
			s.line++
			s.some, s.cr = true, false
		case c == '\n' && s.cr:
			s.cr = false
			if !s.some { // the rest of the line end that closed the event
				continue
			}
		case s.line == 0:
			s.cr = c == '\r'
			if !s.some {
				continue
			}
			s.some, ended = false, true
		default:
			s.line, s.cr = 0, c == '\r'
		}
		b[kept] = c
		kept++
	}
	return kept, ended
}
