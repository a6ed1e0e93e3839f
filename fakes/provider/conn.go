package provider

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Serve answers on l until Close, when it returns nil, or until l fails. It closes l.
func (p *Provider) Serve(l net.Listener) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		l.Close()
		return errClosed
	}
	if p.server == nil {
		p.server = &http.Server{Handler: p, ReadHeaderTimeout: p.headerTime(), ConnState: p.track}
		p.queue = &queue{addr: l.Addr(), conns: make(chan net.Conn), done: make(chan struct{})}
		server, queue := p.server, p.queue
		p.serving.Go(func() { server.Serve(queue) })
	}
	server := p.server
	p.serving.Add(1)
	p.mu.Unlock()
	defer p.serving.Done()
	err := server.Serve(&listener{Listener: l, p: p})
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, errClosed) {
		return nil
	}
	return err
}

// track counts the connections that net/http has, so that Close can wait for it to let go of them.
func (p *Provider) track(_ net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		p.tracked.Add(1)
	case http.StateHijacked, http.StateClosed:
		p.tracked.Done()
	}
}

// giveBack hands a connection to net/http for its next request, of which stray has arrived.
func (p *Provider) giveBack(c *conn, stray []byte) {
	c.early = stray
	c.idle.Store(len(stray) == 0)
	select {
	case p.queue.conns <- c:
	case <-p.queue.done:
		c.Close()
	}
}

// listener counts the connections of a listener, and closes those above the bound.
type listener struct {
	net.Listener
	p *Provider
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		counted := &conn{Conn: c, p: l.p}
		l.p.mu.Lock()
		closed, full := l.p.closed, len(l.p.conns) >= l.p.maxConns()
		if !closed && !full {
			if l.p.conns == nil {
				l.p.conns = map[*conn]struct{}{}
			}
			l.p.conns[counted] = struct{}{}
		}
		l.p.mu.Unlock()
		switch {
		case closed:
			c.Close()
			return nil, errClosed
		case full:
			c.Close()
		default:
			return counted, nil
		}
	}
}

// queue is a listener of connections that were given back.
type queue struct {
	addr  net.Addr
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (q *queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.done:
		return nil, errClosed
	}
}

func (q *queue) Addr() net.Addr { return q.addr }

func (q *queue) Close() error {
	q.once.Do(func() { close(q.done) })
	return nil
}

// conn is a connection that the provider counts. net/http takes one that was given back for new, and would close
// it when no request comes within the header time; a client may keep it in its pool for much longer. So deadlines
// wait for the first byte.
type conn struct {
	net.Conn
	p     *Provider
	early []byte      // arrived before it was given back
	idle  atomic.Bool // given back, and no byte has come yet
}

// NetConn lets the layers that reset and half-close reach the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

func (c *conn) Read(b []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(b, c.early)
		c.early = c.early[n:]
		return n, nil
	}
	n, err := c.Conn.Read(b)
	if c.idle.CompareAndSwap(true, false) {
		c.Conn.SetReadDeadline(time.Now().Add(c.p.headerTime()))
	}
	return n, err
}

func (c *conn) SetReadDeadline(t time.Time) error {
	if c.idle.Load() {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}

func (c *conn) Close() error {
	c.p.mu.Lock()
	delete(c.p.conns, c)
	c.p.mu.Unlock()
	return c.Conn.Close()
}
