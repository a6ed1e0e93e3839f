package wire

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
)

// headers begins a stream, or ends one's body by trailers.
func (c *http2Conn) headers(f *http2.MetaHeadersFrame) error {
	c.mu.Lock()
	s := c.streams[f.StreamID]
	if s != nil || f.StreamID <= c.last {
		defer c.mu.Unlock()
		switch {
		case s == nil:
			return nil // of a stream that has ended here
		case s.received || !f.StreamEnded():
			return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeProtocol}
		}
		s.received = true
		c.start(s)
		return nil
	}
	if f.StreamID%2 == 0 {
		c.mu.Unlock()
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	c.last = f.StreamID
	switch {
	case c.away && f.StreamID > c.allowed: // the peer knows, or soon will
		c.mu.Unlock()
		return nil
	case c.live >= c.maxStreams(), len(c.streams) >= 4*c.maxStreams(): // the latter: of streams that the peer reset, not all have ended
		c.mu.Unlock()
		return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeRefusedStream}
	}
	r := request(f)
	if r == nil || f.Truncated {
		c.mu.Unlock()
		return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeProtocol}
	}
	s = c.stream(f.StreamID)
	s.Request = r
	r.RemoteAddr = c.conn.RemoteAddr().String()
	c.live++
	c.streams[s.id] = s
	if c.idle != nil {
		c.idle.Stop()
	}
	if f.StreamEnded() {
		s.received = true
		c.start(s)
		c.mu.Unlock()
		return nil
	}
	s.timer = time.AfterFunc(3*c.headerTime(), func() { c.refuse(s.id, http2.ErrCodeCancel) })
	c.mu.Unlock()
	if strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		c.say(func(w *http2.Framer) {
			// :status 100, not in the table that the writer's encoder keeps.
			w.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: []byte{0x08, 3, '1', '0', '0'}, EndHeaders: true})
		})
	}
	return nil
}

// start gives the request to Handle, once. The mutex is held.
func (c *http2Conn) start(s *Stream) {
	if s.handled {
		return
	}
	s.handled = true
	if s.timer != nil {
		s.timer.Stop()
	}
	c.work.Go(func() { c.Handle(s) })
}

// data takes in a piece of a request's body. The windows are given back before they are needed: MaxBody bounds what is
// kept.
func (c *http2Conn) data(f *http2.DataFrame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.StreamID > c.last {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	s := c.streams[f.StreamID]
	if c.owed += f.Length; c.owed >= owedLimit {
		c.controls.WriteWindowUpdate(0, c.owed)
		c.owed = 0
		c.knock()
	}
	if s != nil && !f.StreamEnded() {
		if s.owed += f.Length; s.owed >= owedLimit {
			c.controls.WriteWindowUpdate(s.id, s.owed)
			s.owed = 0
			c.knock()
		}
	}
	if s == nil {
		return nil // of a stream that has ended here
	}
	if s.received {
		return http2.StreamError{StreamID: s.id, Code: http2.ErrCodeStreamClosed}
	}
	keep := min(int64(len(f.Data())), c.maxBody()-int64(len(s.Body)))
	if !s.handled {
		s.Body = append(s.Body, f.Data()[:keep]...)
		s.TooLong = keep < int64(len(f.Data()))
		if c.bodies += keep; c.bodies > 4*c.maxBody() {
			return http2.StreamError{StreamID: s.id, Code: http2.ErrCodeEnhanceYourCalm}
		}
	}
	if f.StreamEnded() {
		s.received = true
	}
	if f.StreamEnded() || s.TooLong {
		c.start(s)
	}
	return nil
}

// left is the peer's reset of a stream.
func (c *http2Conn) left(f *http2.RSTStreamFrame) error {
	c.mu.Lock()
	s, idle := c.streams[f.StreamID], f.StreamID > c.last
	c.mu.Unlock()
	if idle {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	if s != nil {
		s.leave(Leaving("rst-stream " + f.ErrCode.String()))
	}
	return nil
}

// refuse resets a stream that the peer got wrong, or that we do not take.
func (c *http2Conn) refuse(id uint32, code http2.ErrCode) {
	c.say(func(w *http2.Framer) { w.WriteRSTStream(id, code) })
	c.mu.Lock()
	s := c.streams[id]
	c.mu.Unlock()
	if s != nil {
		s.leave(Local)
	}
}

// request is what a header block says, nil when that is no request.
func request(f *http2.MetaHeadersFrame) *http.Request {
	method, path, host := f.PseudoValue("method"), f.PseudoValue("path"), f.PseudoValue("authority")
	u, err := url.ParseRequestURI(path)
	if method == "" || f.PseudoValue("scheme") == "" || err != nil {
		return nil
	}
	r := &http.Request{
		Method: method, URL: u, RequestURI: path, Host: host, Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{}, Body: http.NoBody,
	}
	for _, field := range f.RegularFields() {
		r.Header.Add(field.Name, field.Value)
	}
	if r.Host == "" {
		r.Host = r.Header.Get("Host")
	}
	if n, err := strconv.ParseInt(r.Header.Get("Content-Length"), 10, 64); err == nil {
		r.ContentLength = n
	}
	return r
}
