package provider

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Serve answers on l until Close, when it returns nil, or until l fails. It closes l. Over TLS the peer may choose
// HTTP/2; without, it may begin with HTTP/2 right away.
func (p *Provider) Serve(l net.Listener) error {
	defer l.Close()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errClosed
	}
	if p.server == nil {
		p.server = &http.Server{Handler: p, ReadHeaderTimeout: p.headerTime(), ConnState: p.track, ConnContext: withConn}
		p.queue = &queue{addr: l.Addr(), conns: make(chan net.Conn), done: make(chan struct{})}
		p.done, p.listens = make(chan struct{}), map[net.Listener]struct{}{}
		server, queue := p.server, p.queue
		p.serving.Go(func() { server.Serve(queue) })
	}
	p.listens[l] = struct{}{}
	p.serving.Add(1)
	p.mu.Unlock()
	defer p.serving.Done()
	err := p.accept(l)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.listens, l)
	if p.closed {
		return nil
	}
	return err
}

// accept accepts connections until the listener fails or the provider is closed.
func (p *Provider) accept(l net.Listener) error {
	secure := p.secure()
	wasFull := false
	for delay := time.Duration(0); ; {
		c, err := l.Accept()
		var passing interface{ Temporary() bool } // such as too many open files
		if errors.As(err, &passing) && passing.Temporary() {
			delay = min(max(2*delay, 5*time.Millisecond), time.Second)
			if !p.pause(delay) {
				return errClosed
			}
			continue
		}
		if err != nil {
			return err
		}
		delay = 0
		if secure != nil {
			c = tls.Server(c, secure)
		}
		counted := &conn{Conn: c, p: p}
		counted.written.L = &counted.mu
		p.mu.Lock()
		closed, full := p.closed, len(p.conns) >= p.maxConns()
		if !closed && !full {
			if p.conns == nil {
				p.conns = map[*conn]struct{}{}
			}
			p.conns[counted] = struct{}{}
			p.accepted++
			counted.number = p.accepted
		}
		p.mu.Unlock()
		switch {
		case closed:
			c.Close()
			return errClosed
		case full:
			c.Close()
			if !wasFull {
				p.tell(fmt.Sprintf("closed: %d are open, and no more are taken until one has ended", p.maxConns()))
			}
		default:
			p.serving.Go(func() { p.admit(counted) })
		}
		wasFull = full
	}
}

// pause lets d go by, and says whether the provider is still open then.
func (p *Provider) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.done:
		return false
	}
}

// track counts the connections that net/http has, so that Close can wait for it to let go of them.
func (p *Provider) track(c net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		p.tracked.Add(1)
	case http.StateClosed:
		if c, ok := c.(*conn); ok {
			c.tellEnd()
		}
		p.tracked.Done()
	case http.StateHijacked:
		p.tracked.Done()
	}
}

// connKey finds the connection in a request's context.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// hand gives a connection to net/http for its next request, of which early has arrived.
func (p *Provider) hand(c *conn, early []byte) {
	c.early = early
	c.asked.Store(false)
	select {
	case p.queue.conns <- c:
	case <-p.queue.done:
		c.Close()
	}
}

// queue is a listener of connections that were accepted or given back.
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
	p       *Provider
	number  int         // of those accepted, from 1
	answers int         // by programs, until now
	early   []byte      // arrived before it was handed over
	idle    atomic.Bool // given back, and no byte has come yet
	failed  error       // of the reader: a reset is told once, and whoever reads next is to hear of it too
	reset   atomic.Bool // a write was told of it, and a read will see an end
	mu      sync.Mutex
	writes  int         // under way
	written sync.Cond   // of mu, when one has ended
	asked   atomic.Bool // a request has come since it was handed over
	late    atomic.Bool // a deadline has passed while none had
	gone    atomic.Bool // it has ended while none had
	tls     bool        // the peer began with TLS, which is not spoken
}

// tellEnd records why a connection has ended with no request, which no other event says. That it is closed after its
// answers, or by this side, is not worth one.
func (c *conn) tellEnd() {
	switch {
	case c.asked.Load():
	case c.late.Load():
		c.p.tell("closed: no whole request came in time")
	case c.gone.Load():
		if c.answers == 0 && !c.p.isClosed() {
			c.p.tell("left without a request")
		}
	case c.tls:
		c.p.tell("closed: the peer began with TLS, and the fake speaks plain HTTP")
	case !c.p.isClosed():
		c.p.tell("closed: what came is no request of HTTP")
	}
}

// ended takes note of an error of reading while there is no request.
func (c *conn) ended(err error) {
	if err == nil || c.asked.Load() {
		return
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.late.Store(true)
	} else {
		c.gone.Store(true)
	}
}

// NetConn lets the layers that reset and half-close reach the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

func (c *conn) Read(b []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(b, c.early)
		c.early = c.early[n:]
		if len(c.early) == 0 {
			c.early = nil
		}
		return n, nil
	}
	if c.failed != nil {
		return 0, c.failed
	}
	n, err := c.Conn.Read(b)
	if err == io.EOF && c.wasReset() {
		err = syscall.ECONNRESET
	}
	if errors.Is(err, syscall.ECONNRESET) {
		c.failed = err
	}
	if c.idle.CompareAndSwap(true, false) {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.p.tell("closed while it was idle")
			c.asked.Store(true) // and that is why
		}
		c.Conn.SetReadDeadline(time.Now().Add(c.p.headerTime()))
	}
	c.ended(err)
	return n, err
}

// wasReset says whether an end that a read has seen is that of a reset, of which the system tells one side only. A write that is
// under way is ended first, since it may be the one that was told; nothing more can be said to a peer that reads nothing and
// has ended.
func (c *conn) wasReset() bool {
	if c.asked.Load() && !c.idle.Load() {
		c.Conn.SetWriteDeadline(time.Unix(1, 0))
		c.mu.Lock()
		for c.writes > 0 {
			c.written.Wait()
		}
		c.mu.Unlock()
	}
	return c.reset.Load()
}

func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.writes++
	c.mu.Unlock()
	n, err := c.Conn.Write(b)
	if errors.Is(err, syscall.ECONNRESET) {
		c.reset.Store(true)
	}
	c.mu.Lock()
	c.writes--
	c.written.Broadcast()
	c.mu.Unlock()
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
