package memnet

import (
	"io"
	"net"
	"time"
)

// Conn is one end of a connection in memory. Its methods may be called from several
// goroutines at once; concurrent Writes do not interleave.
//
// It behaves like TCP over loopback on Linux: bytes already sent are read before the
// reset that followed them; Close with bytes received and not read is a reset for the
// peer; a reset is reported once, then Read returns io.EOF and Write EPIPE; a reset after
// the peer's FIN is not seen by Read at all. Errors other than io.EOF are a *net.OpError
// with ECONNRESET or EPIPE in an *os.SyscallError, os.ErrDeadlineExceeded or net.ErrClosed.
//
// Two things differ. On TCP the first Write after the peer's full close succeeds, since
// the answer to it is still on its way; here that Write fails with EPIPE at once. And on
// TCP whichever call comes first takes the report of a reset; here one Read and one Write
// get it, so that what each sees does not depend on which of them the scheduler ran first.
type Conn struct {
	network       *Network
	in, out       *half
	local, remote address
}

// Read reads what has arrived, and waits if nothing has. The peer's FIN is io.EOF.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	if err != nil && err != io.EOF {
		err = c.fail("read", err)
	}
	return n, err
}

// Write returns when all of p is in the buffer, whether or not the peer has read any of
// it, and waits while the buffer is full. With an error it returns how many bytes of p
// went in before; the peer may read those.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	if err != nil {
		err = c.fail("write", err)
	}
	return n, err
}

// Close closes both directions. The peer reads what was written and then io.EOF, or
// ECONNRESET if bytes it sent were not read here. Closing again returns net.ErrClosed.
func (c *Conn) Close() error { return c.close(false) }

// Reset closes the connection as SetLinger(0) and Close do on TCP: the peer reads what
// was written and then ECONNRESET. After Close it returns net.ErrClosed.
func (c *Conn) Reset() error { return c.close(true) }

func (c *Conn) close(reset bool) error {
	reset, err := c.in.closeReader(reset, c.out.finished())
	if err != nil {
		return c.fail("close", err)
	}
	c.out.closeWriter(reset)
	c.network.forget(c)
	return nil
}

// CloseWrite ends the direction from here to the peer, which reads what was written and
// then io.EOF; Read goes on. Doing it again does nothing. After Close it returns
// net.ErrClosed, after the peer's reset ENOTCONN.
func (c *Conn) CloseWrite() error {
	if err := c.out.finish(); err != nil {
		return c.fail("close", err)
	}
	return nil
}

// LocalAddr returns the address of this end: the listener's for an accepted connection,
// else an IP address and port no other dial of the network has.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address of the other end.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline makes Reads that wait, and later ones, fail with os.ErrDeadlineExceeded
// from t on, even if bytes have arrived. The zero time means never. After Close it
// returns net.ErrClosed.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if err := c.in.setReadDeadline(t); err != nil {
		return c.fail("set", err)
	}
	return nil
}

// SetWriteDeadline does the same for Write.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if err := c.out.setWriteDeadline(t); err != nil {
		return c.fail("set", err)
	}
	return nil
}

func (c *Conn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}
