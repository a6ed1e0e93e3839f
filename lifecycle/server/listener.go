package server

import (
	"net"
	"sync"
)

// limited is a listener that accepts only while there is room. The connections are the listener's own: wrapped, they would lack what the
// HTTP server asks of a TCP connection.
type limited struct {
	net.Listener
	conns  *connections
	once   sync.Once
	closed chan struct{}
}

func newLimited(l net.Listener, c *connections) *limited {
	return &limited{Listener: l, conns: c, closed: make(chan struct{})}
}

// Accept is called by one goroutine, which tells the connections of each before it asks for the next.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case <-l.conns.roomy():
		return l.Listener.Accept()
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close may be called more than once.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}
