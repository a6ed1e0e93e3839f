package provider

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/stallwright/stallwright/fakes/wire"
)

// tell records what was done to a connection, where somebody looks at all of them.
func (p *Provider) tell(what string) {
	if p.Fallback != nil && p.Fallback.Timeline != nil {
		p.Fallback.Timeline.Add(Lane, "", "connection", what)
	}
}

// admit does with an accepted connection as Connections says, and finds out which HTTP it speaks.
func (p *Provider) admit(c *conn) {
	rules := p.Connections
	switch {
	case c.number <= rules.Refuse:
		wire.ResetConn(c)
		p.tell("refused")
		return
	case c.number <= rules.Refuse+rules.Mute:
		p.tell("accepted, and never answered")
		io.Copy(io.Discard, c)
		c.Close()
		return
	}
	if rules.AcceptAfter > 0 && !p.pause(rules.AcceptAfter) {
		c.Close()
		return
	}
	c.Conn.SetDeadline(time.Now().Add(p.headerTime()))
	two, early, err := version(c.Conn)
	if err != nil || c.Conn.SetDeadline(time.Time{}) != nil {
		c.Close()
		return
	}
	if two {
		c.early = early
		p.serveHTTP2(c)
		return
	}
	p.hand(c, early)
}

// http2Begins is how a connection of HTTP/2 begins, and no request of HTTP/1.1.
const http2Begins = "PRI "

// version says whether the peer speaks HTTP/2, and returns what it has read of the connection to find out. No byte
// but those of the handshake is read over TLS.
func version(c net.Conn) (two bool, early []byte, err error) {
	if secure, ok := c.(*tls.Conn); ok {
		if err := secure.Handshake(); err != nil {
			return false, nil, err
		}
		return secure.ConnectionState().NegotiatedProtocol == "h2", nil, nil
	}
	early = make([]byte, 0, len(http2Begins))
	for len(early) < len(http2Begins) {
		n, err := c.Read(early[len(early):cap(early)])
		early = early[:len(early)+n]
		if string(early) != http2Begins[:len(early)] {
			return false, early, nil
		}
		if err != nil {
			return false, nil, err
		}
	}
	return true, early, nil
}

// secure is the TLS that Serve speaks, nil for none.
func (p *Provider) secure() *tls.Config {
	if p.TLS == nil {
		return nil
	}
	t := p.TLS.Clone()
	if t.NextProtos == nil {
		t.NextProtos = []string{"h2", "http/1.1"}
	}
	return t
}

// giveBack hands a connection over for its next request, of which stray has arrived, unless it has served enough.
func (p *Provider) giveBack(c *conn, stray []byte) {
	if c.answers++; p.Connections.Requests > 0 && c.answers >= p.Connections.Requests {
		p.tell("closed after its last answer")
		c.Close()
		return
	}
	if len(stray) == 0 {
		if d := p.Connections.IdleClose; d > 0 {
			c.Conn.SetReadDeadline(time.Now().Add(d))
		}
		c.idle.Store(true)
	}
	p.hand(c, stray)
}

func (p *Provider) serveHTTP2(c *conn) {
	(&wire.HTTP2{
		Handle: p.handle, MaxStreams: p.Connections.Streams, MaxBody: p.maxBody(), HeaderTime: p.headerTime(),
		IdleClose: p.Connections.IdleClose, Requests: p.Connections.Requests,
	}).Serve(c)
}

// handle plays to a stream.
func (p *Provider) handle(s *wire.Stream) {
	arrived := time.Now()
	var pl *play
	x := s.Exchange(func(kind string) {
		if pl != nil {
			pl.note(kind)
		}
	})
	w := &responder{x: x, header: http.Header{}}
	if pl = p.choose(w, s.Request, s.Body, s.TooLong, arrived); pl == nil {
		w.end()
		x.Close()
		return
	}
	pl.http2, pl.keep = true, true
	pl.begin(x)
	pl.run()
}

// responder is a ResponseWriter for answers that no program gives. What is written leaves at once.
type responder struct {
	x      *wire.Exchange
	header http.Header
	headed bool
}

func (r *responder) Header() http.Header { return r.header }

func (r *responder) WriteHeader(status int) {
	if !r.headed {
		r.headed = true
		r.x.Head(status, r.header, false)
	}
}

func (r *responder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if err := r.x.Put(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush sends the head, if it is there already.
func (r *responder) Flush() {
	r.WriteHeader(http.StatusOK)
	r.x.Flush()
}

func (r *responder) end() {
	r.WriteHeader(http.StatusOK)
	r.x.Last()
}
