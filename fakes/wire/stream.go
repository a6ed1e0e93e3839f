package wire

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/stallwright/stallwright/fakes/script"
)

// Stream is one request of an HTTP/2 connection, and the way to its answer.
type Stream struct {
	Request *http.Request // its Body is empty
	Body    []byte
	TooLong bool // the body is longer than MaxBody: Body holds its beginning

	conn   *http2Conn
	id     uint32
	x      *Exchange
	fields []hpack.HeaderField // the head, until it is sent

	// Guarded by the connection's mutex.
	window   int64       // for our data
	owed     uint32      // of the peer's window
	timer    *time.Timer // for the body to arrive
	handled  bool        // Handle has it
	received bool        // the request has ended
	ended    bool        // our side has: by END_STREAM or RST_STREAM
	left     bool        // the peer has reset it
	counted  bool        // it counts against MaxStreams
	closed   bool
}

// Exchange is what answers the request. note is as for [New].
func (s *Stream) Exchange(note func(kind string)) *Exchange {
	if note != nil {
		s.x.note = note
	}
	return s.x
}

func (c *http2Conn) stream(id uint32) *Stream {
	s := &Stream{conn: c, id: id, window: c.initial, counted: true}
	s.x = &Exchange{conn: c.conn, body: s, stream: s, note: func(string) {}, gone: make(chan struct{})}
	return s
}

func (s *Stream) head(status int, h http.Header, _ bool) {
	s.fields = append(s.fields[:0], hpack.HeaderField{Name: ":status", Value: strconv.Itoa(status)})
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names) // the same bytes in every replay
	for _, name := range names {
		switch name {
		case "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade":
			continue // of HTTP/1.1
		}
		for _, value := range h[name] {
			s.fields = append(s.fields, hpack.HeaderField{Name: strings.ToLower(name), Value: value})
		}
	}
}

// send sends p in one frame, or in more when the peer takes no such frame or its window is too small.
func (s *Stream) send(p []byte, last bool) (int, error) {
	total := 0
	for {
		fields := s.fields
		n, err := s.conn.take(s, len(p), len(p) > 0 && fields == nil)
		if err != nil {
			return total, err
		}
		end := last && n == len(p)
		if fields == nil && n == 0 && !end {
			return total, nil
		}
		if end {
			s.leavePlace()
		}
		s.fields = nil
		sent, err := s.conn.do(job{stream: s, fields: fields, data: p[:n], end: end})
		total += sent
		if err != nil {
			return total, err
		}
		if p = p[n:]; end {
			s.conn.mu.Lock()
			s.ended = true
			s.conn.mu.Unlock()
		}
		if len(p) == 0 {
			return total, nil
		}
	}
}

func (s *Stream) spare() {}

// ResetStream ends the stream with RST_STREAM. The code is a name, INTERNAL_ERROR when empty. Over HTTP/1.1 it
// returns ErrVersion and does nothing.
func (x *Exchange) ResetStream(code string) error {
	if x.stream == nil {
		return ErrVersion
	}
	if code == "" {
		code = http2.ErrCodeInternal.String()
	}
	s, number := x.stream, errCode(code)
	s.leavePlace()
	_, err := s.conn.do(job{stream: s, frames: func(f *http2.Framer) { f.WriteRSTStream(s.id, number) }})
	s.conn.mu.Lock()
	s.ended = true
	s.conn.mu.Unlock()
	return err
}

// GoAway says that the connection takes no stream above last, which is the exchange's own when 0, and none when
// below 0. The code is a name, NO_ERROR when empty. The connection is closed when its streams have ended. It returns
// the last stream's number. Over HTTP/1.1 it returns ErrVersion and does nothing.
func (x *Exchange) GoAway(code string, last int) (int, error) {
	s := x.stream
	switch {
	case s == nil:
		return 0, ErrVersion
	case last == 0:
		last = int(s.id)
	case last < 0:
		last = 0
	}
	s.conn.mu.Lock()
	s.conn.away, s.conn.allowed = true, uint32(last)
	s.conn.mu.Unlock()
	_, err := s.conn.do(job{stream: s, frames: func(f *http2.Framer) { f.WriteGoAway(uint32(last), errCode(code), nil) }})
	return last, err
}

// errCode is the code of that name, NO_ERROR when there is none.
func errCode(name string) http2.ErrCode {
	return http2.ErrCode(max(0, slices.Index(script.Codes(), name)))
}

// leave ends the stream from the peer's side, or because the connection has ended.
func (s *Stream) leave(how Leaving) {
	s.conn.mu.Lock()
	s.left = true
	s.uncount()
	handled := s.handled
	s.conn.mu.Unlock()
	s.x.leave(how)
	if !handled {
		s.close()
	}
}

// leavePlace frees the stream's place before its end is sent: a peer may open another as soon as it has seen that.
func (s *Stream) leavePlace() {
	s.conn.mu.Lock()
	s.uncount()
	s.conn.mu.Unlock()
}

// uncount frees the stream's place. The connection's mutex is held.
func (s *Stream) uncount() {
	if s.counted {
		s.counted = false
		s.conn.live--
	}
}

// close forgets the stream, and resets it when it has not ended.
func (s *Stream) close() {
	c := s.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	s.uncount()
	delete(c.streams, s.id)
	c.bodies -= int64(len(s.Body))
	if s.timer != nil {
		s.timer.Stop()
	}
	switch {
	case s.left:
	case !s.ended:
		c.controls.WriteRSTStream(s.id, http2.ErrCodeCancel)
	case !s.received:
		c.controls.WriteRSTStream(s.id, http2.ErrCodeNo)
	}
	if s.ended && s.handled {
		c.answers++
	}
	c.rest()
	c.knock()
}

// rest is called when a stream has gone. The mutex is held.
func (c *http2Conn) rest() {
	if len(c.streams) > 0 || c.over {
		return
	}
	if c.away || (c.Requests > 0 && c.answers >= c.Requests) {
		c.closeSoon()
		return
	}
	if c.IdleClose > 0 {
		last := c.last
		c.idle = time.AfterFunc(c.IdleClose, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.streams) == 0 && c.last == last {
				c.closeSoon()
				c.knock()
			}
		})
	}
}

// cut sends a FIN, and ends all exchanges but that of s, which has done so itself.
func (c *http2Conn) cut(s *Stream) error {
	err := c.halfClose(s)
	c.mu.Lock()
	c.closeSoon()
	c.mu.Unlock()
	return err
}

// halfClose sends a FIN, and ends the exchanges of all other streams.
func (c *http2Conn) halfClose(s *Stream) error {
	c.endOthers(s)
	_, err := c.do(job{stream: s, fin: true})
	return err
}

// endOthers takes no further stream, and ends the exchanges of all but s before the peer sees why.
func (c *http2Conn) endOthers(s *Stream) {
	c.mu.Lock()
	c.away, c.allowed = true, 0
	var others []*Stream
	for _, other := range c.streams {
		if other != s {
			others = append(others, other)
		}
	}
	c.mu.Unlock()
	for _, other := range others {
		other.leave(Local)
	}
}
