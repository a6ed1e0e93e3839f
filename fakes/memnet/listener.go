package memnet

import (
	"context"
	"net"
	"os"
	"syscall"
)

// backlog bounds the connections that wait for Accept. It is far above what a server
// that accepts at all leaves waiting, so only one that does not accept fills it.
const backlog = 1024

// Listener accepts the connections dialled to one address of a [Network]. Its methods
// may be called from several goroutines at once.
type Listener struct {
	network *Network
	at      address
	backlog chan *Conn
	closed  chan struct{}
}

// Accept waits for the next connection, a [*Conn]. After Close it returns a *net.OpError
// with net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	// Asked first: with both ready, the select below would choose at random.
	select {
	case <-l.closed:
		return nil, l.fail("accept")
	default:
	}
	select {
	case c := <-l.backlog:
		return c, nil
	case <-l.closed:
		return nil, l.fail("accept")
	}
}

// Close frees the address, and resets the connections nobody accepted. Those accepted
// live on. Closing again returns a *net.OpError with net.ErrClosed.
func (l *Listener) Close() error {
	if !l.network.remove(l) {
		return l.fail("close")
	}
	close(l.closed)
	l.drain()
	return nil
}

// Addr returns the address listened on, "host:port" with the port picked if it was 0.
func (l *Listener) Addr() net.Addr { return l.at }

// offer queues c for Accept.
func (l *Listener) offer(ctx context.Context, c *Conn) error {
	select {
	case l.backlog <- c:
	case <-l.closed:
		return os.NewSyscallError("connect", syscall.ECONNREFUSED)
	case <-ctx.Done():
		return ctx.Err()
	}
	// Close may have drained the backlog just before c entered it.
	select {
	case <-l.closed:
		l.drain()
	default:
	}
	return nil
}

func (l *Listener) drain() {
	for {
		select {
		case c := <-l.backlog:
			c.Reset()
		default:
			return
		}
	}
}

func (l *Listener) fail(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Addr: l.at, Err: net.ErrClosed}
}
