package wire

import (
	"errors"
	"io"
	"net"
	"os"
)

// Leaving says who ended the connection or the stream, and how it looked from here. One cancel of a client arrives as
// either FIN or RST, so nothing should depend on which.
type Leaving string

// The ways an exchange ends early. A peer that resets its HTTP/2 stream leaves by "rst-stream" and the code's name.
const (
	FIN   Leaving = "fin"
	RST   Leaving = "rst"
	Local Leaving = "local" // closed on this side
)

func leaving(err error) Leaving {
	switch {
	case errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe):
		return Local
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the latter: TLS without close_notify
		return FIN
	}
	return RST
}

// What a peer may send behind its request and still have served on the same connection, in bytes. A peer that sends more is answered
// and then closed.
const (
	strayLimit = 64 << 10 // while the answer is under way: the head of a pipelined request
	// nextLimit is for when the answer's end is on its way: a peer may have it, and so send its next request, long before this side gets
	// to Detach on a busy machine. It holds the largest body that a fake takes.
	nextLimit = 16 << 20
)

// watch is the only reader of the connection.
func (x *Exchange) watch() {
	x.drain()
	close(x.read)
	x.finish()
}

func (x *Exchange) drain() {
	var b [64]byte
	for {
		n, err := x.conn.Read(b[:])
		if n > 0 {
			limit := strayLimit
			x.mu.Lock()
			x.unread += n
			if x.ending {
				limit = nextLimit
			}
			x.mu.Unlock()
			if x.excess = x.excess || len(x.stray)+n > limit; !x.excess {
				x.stray = append(x.stray, b[:n]...)
			}
		}
		if err == nil {
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) { // Detach
			return
		}
		x.leave(leaving(err))
		// A peer that closed its side while it reads nothing would hold a write for ever.
		x.conn.SetWriteDeadline(past)
		return
	}
}

// leave sets how, once.
func (x *Exchange) leave(how Leaving) {
	x.mu.Lock()
	first := x.how == ""
	if first {
		x.how = how
		close(x.gone)
	}
	x.mu.Unlock()
	if first && x.stream != nil {
		x.finish()
	}
}

// Gone is closed when the connection or the stream has ended, by either side.
func (x *Exchange) Gone() <-chan struct{} { return x.gone }

// How says how the connection or the stream ended, "" when it has not.
func (x *Exchange) How() Leaving {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.how
}

// Unread counts the bytes that the peer has sent behind its request and that nobody has read.
func (x *Exchange) Unread() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.unread
}
