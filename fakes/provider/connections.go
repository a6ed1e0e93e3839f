package provider

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"

	"github.com/stallwright/stallwright/fakes/wire"
)

// tell records what was done to a connection, in the timeline of the session without a marker: it belongs to no other.
func (p *Provider) tell(what string) {
	p.mu.Lock()
	s := p.Fallback
	if open := p.sessions[""]; open != nil {
		s = open.Session
	}
	p.mu.Unlock()
	if s != nil && s.Timeline != nil {
		s.Timeline.Add(Lane, "", "connection", what)
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
	if err == nil {
		err = c.Conn.SetDeadline(time.Time{})
	}
	if err != nil {
		c.Close()
		c.ended(err)
		if strange := new(tls.RecordHeaderError); errors.As(err, strange) {
			p.tell("closed: the peer does not begin with TLS, which the fake speaks")
		} else {
			c.tellEnd()
		}
		return
	}
	c.tls = p.TLS == nil && len(early) > 0 && early[0] == tlsBegins
	if two {
		c.early = early
		p.serveHTTP2(c)
		return
	}
	p.hand(c, early)
}

// http2Begins is how a connection of HTTP/2 begins, and no request of HTTP/1.1.
const http2Begins = "PRI "

// tlsBegins is the first byte of a handshake of TLS, and of no request.
const tlsBegins = 0x16

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
