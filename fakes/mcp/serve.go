package mcp

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stallwright/stallwright/fakes/wire"
)

// Serve answers on l, in HTTP/1.1, until Close, when it returns nil, or until l fails. It closes l.
func (f *Fake) Serve(l net.Listener) error {
	defer l.Close()
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return errClosed
	}
	f.over()
	if f.server == nil {
		var front http.Handler = f
		if f.Front != nil {
			front = f.Front(f)
		}
		f.server = &http.Server{Handler: front, ReadHeaderTimeout: f.headerTime(), ConnState: f.track}
		f.queue = &queue{addr: l.Addr(), conns: make(chan net.Conn), done: make(chan struct{})}
		f.listens, f.conns = map[net.Listener]struct{}{}, map[*conn]struct{}{}
		server, queue := f.server, f.queue
		f.serving.Go(func() { server.Serve(queue) })
	}
	f.listens[l] = struct{}{}
	f.serving.Add(1)
	f.mu.Unlock()
	defer f.serving.Done()
	err := f.accept(l)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.listens, l)
	if f.closed {
		return nil
	}
	return err
}

// accept accepts connections until the listener fails.
func (f *Fake) accept(l net.Listener) error {
	for delay := time.Duration(0); ; {
		c, err := l.Accept()
		var passing interface{ Temporary() bool } // such as too many open files
		if errors.As(err, &passing) && passing.Temporary() {
			if delay = min(max(2*delay, 5*time.Millisecond), time.Second); !sleep(delay, f.done) {
				return errClosed
			}
			continue
		}
		if err != nil {
			return err
		}
		delay = 0
		counted := &conn{Conn: c, f: f}
		f.mu.Lock()
		closed, full := f.closed, len(f.conns) >= f.maxConns()
		if !closed && !full {
			f.conns[counted] = struct{}{}
			f.accepted++
			counted.number = f.accepted
			f.record(f.owner(), f.Name, "connect", strconv.Itoa(counted.number))
			f.serving.Go(func() { f.admit(counted) })
		}
		f.mu.Unlock()
		if closed || full {
			c.Close()
		}
		if closed {
			return errClosed
		}
	}
}

// admit does with an accepted connection as Connections says.
func (f *Fake) admit(c *conn) {
	rules := f.Connections
	switch {
	case c.number <= rules.Refuse:
		wire.ResetConn(c)
		f.tell("refused")
	case c.number <= rules.Refuse+rules.Mute:
		f.tell("accepted, and never answered")
		io.Copy(io.Discard, c)
		c.Close()
	case rules.AcceptAfter > 0 && !sleep(rules.AcceptAfter, f.done):
		c.Close()
	default:
		f.hand(c)
	}
}

// tell records what was done to a connection.
func (f *Fake) tell(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record(f.owner(), f.Name, "connection", what)
}

// track counts the connections that net/http has, so that Close can wait for it to let go of them.
func (f *Fake) track(_ net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		f.tracked.Add(1)
	case http.StateHijacked, http.StateClosed:
		f.tracked.Done()
	}
}

// hand gives a connection to net/http for its next request.
func (f *Fake) hand(c *conn) {
	select {
	case f.queue.conns <- c:
	case <-f.queue.done:
		c.Close()
	}
}

// release gives the connection of an answer that has ended back for the next request, or leaves it to be closed.
func (f *Fake) release(c *call, st *stream) {
	if !c.keep {
		st.x.Close()
		return
	}
	detached, stray, ok := st.x.Detach()
	if !ok {
		st.x.Close()
		return
	}
	cn := detached.(*conn)
	if cn.answers++; f.Connections.Requests > 0 && cn.answers >= f.Connections.Requests {
		f.tell("closed after its last answer")
		cn.Close()
		return
	}
	cn.early = stray
	if len(stray) == 0 {
		if d := f.Connections.IdleClose; d > 0 {
			cn.Conn.SetReadDeadline(time.Now().Add(d))
		}
		cn.idle.Store(true)
	}
	f.hand(cn)
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

// conn is a connection that the fake counts. net/http takes one that was given back for new, and would close it when no
// request comes within the header time: so deadlines wait for the first byte.
type conn struct {
	net.Conn
	f       *Fake
	number  int         // of those accepted, from 1
	answers int         // of calls, until now
	early   []byte      // arrived before it was handed over
	idle    atomic.Bool // given back, and no byte has come yet
}

// NetConn lets the layers that reset and half-close reach the connection below.
func (c *conn) NetConn() net.Conn { return c.Conn }

func (c *conn) Read(b []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(b, c.early)
		if c.early = c.early[n:]; len(c.early) == 0 {
			c.early = nil
		}
		return n, nil
	}
	n, err := c.Conn.Read(b)
	if c.idle.CompareAndSwap(true, false) {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.f.tell("closed while it was idle")
		}
		c.Conn.SetReadDeadline(time.Now().Add(c.f.headerTime()))
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
	c.f.mu.Lock()
	if _, open := c.f.conns[c]; open {
		delete(c.f.conns, c)
		c.f.record(c.f.owner(), c.f.Name, "disconnect", strconv.Itoa(c.number))
	}
	c.f.mu.Unlock()
	return c.Conn.Close()
}
