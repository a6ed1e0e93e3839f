package collector

import (
	"net"
	"sync"
)

// limited is a listener with so many connections open at once; more wait to be accepted. Unlike x/net's it lets who resets a connection reach
// the one below.
type limited struct {
	net.Listener
	slots chan struct{}
	done  chan struct{}
	once  sync.Once
}

func limit(l net.Listener, most int) *limited {
	return &limited{Listener: l, slots: make(chan struct{}, most), done: make(chan struct{})}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &conn{Conn: c, l: l}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

type conn struct {
	net.Conn
	l    *limited
	once sync.Once
}

// NetConn is the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

func (c *conn) Close() error {
	c.once.Do(func() { <-c.l.slots })
	return c.Conn.Close()
}
