package mcp

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/wire"
)

// framing is how messages stand on a stream.
type framing int

const (
	bodies framing = iota // one JSON, the body of an HTTP answer
	events                // server-sent events
	lines                 // of a pipe
)

// stream is where messages leave: the answer to one POST, which one call writes; or an event stream or a pipe, which a
// goroutine writes for all who have something to say.
type stream struct {
	framing framing
	x       *wire.Exchange // nil over a pipe
	pipe    *pipe          // nil over HTTP
	jobs    chan job       // nil when one call has the stream to itself
	gone    <-chan struct{}

	// Its writer's.
	status int
	header http.Header
	headed bool   // the head was prepared
	last   bool   // the body has ended, or the FIN has gone
	broken string // how the next message is garbled
	struck bool   // this one was

	note func(kind, detail string) // of what happens while writing
}

// job is something to be written by a stream's goroutine.
type job struct {
	do   func() error
	done chan<- error
}

var (
	errStopped = errors.New("mcp: the call was closed")
	errOver    = errors.New("mcp: the answer has ended already")
)

// serve writes until the stream is gone.
func (s *stream) serve() {
	for {
		select {
		case j := <-s.jobs:
			j.done <- j.do()
		case <-s.gone:
			return
		}
	}
}

// do writes, or has it written. When stop is closed it does not wait for that.
func (s *stream) do(stop <-chan struct{}, write func() error) error {
	if s.jobs == nil {
		return write()
	}
	done := make(chan error, 1)
	select {
	case s.jobs <- job{write, done}:
	case <-s.gone:
		return wire.ErrLeft
	case <-stop:
		return errStopped
	}
	select {
	case err := <-done:
		return err
	case <-stop:
		return errStopped
	}
}

// payload is a message: head, so many bytes of text, tail. The text is made as it is sent.
type payload struct {
	head, tail []byte
	text       int
}

const pieceSize = 32 << 10

// filler is the text of large results.
const filler = "the quick brown fox jumps over the lazy dog, and so does the next one as well. "

// put sends one message. id is its event's, "" for none.
func (s *stream) put(p payload, id string) error {
	head, tail := s.frame(p, id)
	if s.last {
		return errOver
	}
	s.prepare()
	if p.text == 0 {
		err := s.bytes(append(head, tail...))
		if s.struck && err == nil {
			s.note(fault.Garble{}.Kind(), s.broken)
		}
		if s.struck {
			s.broken, s.struck = "", false
		}
		return err
	}
	if err := s.bytes(head); err != nil {
		return err
	}
	piece := make([]byte, 0, pieceSize+len(filler))
	for len(piece) < min(pieceSize, p.text) {
		piece = append(piece, filler...)
	}
	for rest := p.text; rest > 0; rest -= pieceSize {
		if err := s.bytes(piece[:min(rest, pieceSize)]); err != nil {
			return err
		}
	}
	return s.bytes(tail)
}

// frame is what stands before and behind a message's text.
func (s *stream) frame(p payload, id string) (head, tail []byte) {
	switch s.framing {
	case events:
		head = append(head, "event: message\n"...)
		if id != "" {
			head = append(append(append(head, "id: "...), id...), '\n')
		}
		head = append(append(head, "data: "...), p.head...)
		tail = append(append(tail, p.tail...), "\n\n"...)
	case lines:
		head = append(head, p.head...)
		tail = append(append(tail, p.tail...), '\n')
	default:
		head, tail = append(head, p.head...), append(tail, p.tail...)
	}
	if p.text == 0 {
		head, tail = append(head, tail...), nil
		if s.broken != "" {
			head = garble(head, s.broken, s.framing)
			s.struck = true
		}
	}
	return head, tail
}

func (s *stream) bytes(b []byte) error {
	if s.x == nil {
		return s.pipe.write(b)
	}
	_, err := s.x.Frame(time.Now(), b)
	return err
}

// prepare prepares the head, once.
func (s *stream) prepare() {
	if s.headed || s.x == nil {
		return
	}
	s.headed = true
	h := http.Header{}
	if s.framing == events {
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache, no-transform")
		h.Set("X-Accel-Buffering", "no")
	} else {
		h.Set("Content-Type", "application/json")
	}
	for name, values := range s.header {
		h[name] = values
	}
	s.x.Head(cmp.Or(s.status, http.StatusOK), h, false)
}

// end ends the body as HTTP says, after these bytes.
func (s *stream) end(before string) error {
	if s.x == nil {
		return nil
	}
	if s.last {
		return errOver
	}
	s.prepare()
	if before != "" && s.framing == events {
		if err := s.bytes([]byte(before)); err != nil {
			return err
		}
	}
	s.last = true
	return s.x.Last()
}

// shape has the frames that follow split or dripped, or the next one garbled.
func (s *stream) shape(f any) {
	switch f := f.(type) {
	case fault.Garble:
		s.broken = cmp.Or(f.How, "brace")
	case fault.Split:
		if s.x != nil {
			s.x.SetSplit(f)
		} else {
			s.pipe.split, s.pipe.told = f, false
		}
	case fault.Drip:
		if s.x != nil {
			s.x.SetDrip(f)
		} else {
			s.pipe.drip, s.pipe.told = f, false
		}
	}
}
