// Package wire puts bytes on a connection as told: frames at absolute instants, whole, split or dripped, keepalives
// behind a silence, and every way of ending an answer, from the last chunk to a reset.
//
//	net/http server -> Hijack -> Exchange -> Detach -> net/http server
package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
)

// Leaving says who ended the connection, and how it looked from here. One cancel of a client arrives as either FIN
// or RST, so nothing should depend on which.
type Leaving string

// The ways an exchange's connection ends.
const (
	FIN   Leaving = "fin"
	RST   Leaving = "rst"
	Local Leaving = "local" // closed on this side
)

// ErrLeft is returned when nothing can be sent any more, because the peer has left or the exchange was closed:
// [Exchange.How] says which.
var ErrLeft = errors.New("wire: the connection has ended")

// Patience is how long a write may last before it is noted as blocked. A write into a socket's buffer takes
// microseconds; one that lasts this long waits for the peer to read.
const Patience = 100 * time.Millisecond

// strayLimit bounds what a peer may send behind its request and still have served on the same connection. It holds
// the head of a pipelined request; a peer that sends more is answered and then closed.
const strayLimit = 64 << 10

// past is a deadline that interrupts an operation in progress.
var past = time.Unix(1, 0)

// Exchange writes one HTTP/1.1 answer on a connection taken from net/http. Its methods are for one goroutine, except
// Close, How and Gone, which any may use. It owns a goroutine, the only reader of the connection, that ends with
// Close, Cut, Reset or Detach; one of them must be called.
type Exchange struct {
	conn net.Conn
	note func(kind string)

	buf     []byte // the head until it is sent, then the write in progress
	chunked bool
	rest    int64 // bytes that Content-Length still promises, below 0 when it promises nothing
	half    bool  // the FIN has gone

	split       fault.Split
	drip        fault.Drip
	splitNoted  bool
	dripNoted   bool
	dripEarlier time.Time // before it no further piece

	timer *time.Timer
	slow  *time.Timer
	noted chan struct{} // the slow timer's function has returned

	beat  func() error
	every time.Duration
	next  time.Time

	gone   chan struct{} // closed when how is set
	read   chan struct{} // closed when the reader has ended
	stray  []byte        // the reader's until read is closed
	excess bool

	mu       sync.Mutex
	how      Leaving
	detached bool
}

// New takes c over. stray is what was read of c already, behind the request. note is told, by a word, what cannot
// be seen from outside: "blocked" once for each write that waits for the peer for longer than Patience (while it
// waits, from another goroutine), "split" and "drip" when the first frame that the fault affects is under way. It
// may be nil.
func New(c net.Conn, stray []byte, note func(kind string)) *Exchange {
	if note == nil {
		note = func(string) {}
	}
	x := &Exchange{
		conn: c, note: note, stray: append([]byte(nil), stray...), rest: -1,
		gone: make(chan struct{}), read: make(chan struct{}),
	}
	go x.watch()
	return x
}

// watch is the only reader of the connection.
func (x *Exchange) watch() {
	defer close(x.read)
	var b [64]byte
	for {
		n, err := x.conn.Read(b[:])
		if n > 0 {
			if x.excess = x.excess || len(x.stray)+n > strayLimit; !x.excess {
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

func leaving(err error) Leaving {
	switch {
	case errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe):
		return Local
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the latter: TLS without close_notify
		return FIN
	}
	return RST
}

// leave sets how, once.
func (x *Exchange) leave(how Leaving) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.how == "" {
		x.how = how
		close(x.gone)
	}
}

// Gone is closed when the connection has ended, by either side.
func (x *Exchange) Gone() <-chan struct{} { return x.gone }

// How says how the connection ended, "" when it has not.
func (x *Exchange) How() Leaving {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.how
}

// SetSplit shapes the frames that follow; the zero value ends it.
func (x *Exchange) SetSplit(f fault.Split) { x.split, x.splitNoted = f, false }

// SetDrip shapes the frames that follow; the zero value ends it. A frame that waits for the rest of its bytes holds
// keepalives back, which would otherwise land inside it.
func (x *Exchange) SetDrip(f fault.Drip) { x.drip, x.dripNoted = f, false }

// Keepalive calls beat at from plus every, from plus twice every and so on, behind every wait that follows, until
// it is called again; every 0 ends it. Beats that fell due while a write was blocked are left out. beat sends by
// Put; its error ends the wait.
func (x *Exchange) Keepalive(from time.Time, every time.Duration, beat func() error) {
	x.beat, x.every, x.next = beat, every, from.Add(every)
}

// Head prepares the status line and headers, which leave with the next bytes or with Flush. The body is chunked,
// unless h has a Content-Length or plain is set: then it is what frames say, and without a Content-Length its end is
// the connection's.
func (x *Exchange) Head(status int, h http.Header, plain bool) {
	x.rest = -1
	if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil {
		plain, x.rest = true, n
	}
	x.chunked = !plain
	b := bytes.NewBuffer(x.buf[:0])
	fmt.Fprintf(b, "HTTP/1.1 %03d %s\r\n", status, http.StatusText(status))
	h.Write(b) // replaces line breaks in values
	if x.chunked {
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	b.WriteString("\r\n")
	x.buf = b.Bytes()
}

// Flush sends the head by itself.
func (x *Exchange) Flush() error { return x.write() }

// Frame sends p at the instant due, in one chunk and one write unless SetSplit or SetDrip say otherwise (then each
// piece is a chunk and a write), and returns the instant at which its last piece was due.
func (x *Exchange) Frame(due time.Time, p []byte) (time.Time, error) {
	for from := 0; ; {
		if x.drip.Bytes > 0 && x.dripEarlier.After(due) {
			due = x.dripEarlier
		}
		if err := x.wait(due, nil, from == 0); err != nil {
			return due, err
		}
		to, split, drip := x.piece(from, len(p))
		if err := x.Put(p[from:to]); err != nil {
			return due, err
		}
		x.dripEarlier = due.Add(x.drip.Every)
		if split && !x.splitNoted {
			x.splitNoted = true
			x.note("split")
		}
		if drip && !x.dripNoted {
			x.dripNoted = true
			x.note("drip")
		}
		if from = to; from >= len(p) {
			return due, nil
		}
	}
}

// piece says where the piece ends that begins at from, and which fault makes it end before the frame does.
func (x *Exchange) piece(from, size int) (to int, split, drip bool) {
	to = size
	for _, at := range x.split.At {
		if at > from && at < to {
			to, split = at, true
			break
		}
	}
	if n := x.split.Every; n > 0 {
		if at := (from/n + 1) * n; at < to {
			to, split = at, true
		}
	}
	if n := x.drip.Bytes; n > 0 && from+n < to {
		to, split, drip = from+n, false, true
	}
	return to, split, drip
}

// Put sends p at once, in one write, as one chunk where the body is chunked. An empty p sends nothing of the body:
// an empty chunk would be the last.
func (x *Exchange) Put(p []byte) error {
	if len(p) > 0 {
		if x.chunked {
			x.buf = strconv.AppendInt(x.buf, int64(len(p)), 16)
			x.buf = append(x.buf, "\r\n"...)
		}
		x.buf = append(x.buf, p...)
		if x.chunked {
			x.buf = append(x.buf, "\r\n"...)
		}
		x.rest -= int64(len(p))
	}
	return x.write()
}

// Last ends the body as HTTP says.
func (x *Exchange) Last() error {
	if x.chunked {
		x.buf = append(x.buf, "0\r\n\r\n"...)
	}
	return x.write()
}

// write sends what is in buf. A write lasts as long as the peer takes to read, or to leave, or until Close.
func (x *Exchange) write() error {
	if len(x.buf) == 0 {
		return nil
	}
	if x.half {
		return ErrLeft
	}
	if x.slow == nil {
		x.noted = make(chan struct{}, 1)
		x.slow = time.AfterFunc(Patience, func() { x.note("blocked"); x.noted <- struct{}{} })
	} else {
		x.slow.Reset(Patience)
	}
	_, err := x.conn.Write(x.buf)
	if !x.slow.Stop() {
		<-x.noted
	}
	x.buf = x.buf[:0]
	if err != nil {
		x.leave(leaving(err))
		x.conn.Close()
		return ErrLeft
	}
	return nil
}

// Wait returns at the instant until, at once when it is past, with keepalives meanwhile.
func (x *Exchange) Wait(until time.Time) error { return x.wait(until, nil, true) }

// WaitFor returns when open is closed, with keepalives meanwhile. A nil open never is.
func (x *Exchange) WaitFor(open <-chan struct{}) error {
	if len(x.buf) == 0 {
		x.buf = nil // thousands may wait for ever
	}
	return x.wait(time.Time{}, open, true)
}

// wait ends at until, when open is closed, or with the connection. A zero until never comes.
func (x *Exchange) wait(until time.Time, open <-chan struct{}, beats bool) error {
	for {
		select {
		case <-x.gone:
			return ErrLeft
		default:
		}
		select {
		case <-open:
			return nil
		default:
		}
		target, beat := until, false
		if beats && x.every > 0 && (until.IsZero() || x.next.Before(until)) {
			target, beat = x.next, true
		}
		var tick <-chan time.Time
		if !target.IsZero() {
			switch d := time.Until(target); {
			case d > 0:
				if x.timer == nil {
					x.timer = time.NewTimer(d)
				} else {
					x.timer.Reset(d)
				}
				tick = x.timer.C
			case beat:
				x.next = x.next.Add(x.every * (1 + -d/x.every))
				if err := x.beat(); err != nil {
					return err
				}
				continue
			default:
				return nil
			}
		}
		select {
		case <-tick:
			continue
		case <-x.gone:
		case <-open:
		}
		if tick != nil {
			x.timer.Stop()
		}
	}
}

// HalfClose sends a FIN and ends keepalives; the exchange goes on reading, and can write no more.
func (x *Exchange) HalfClose() error {
	x.half, x.every = true, 0
	for c := x.conn; c != nil; c = inner(c) {
		if h, ok := c.(interface{ CloseWrite() error }); ok {
			if err := h.CloseWrite(); err != nil {
				return ErrLeft
			}
		}
	}
	return nil
}

// Cut closes the connection without a last chunk: the peer sees a FIN.
func (x *Exchange) Cut() { x.Close() }

// Reset closes the connection with a RST. What the peer has not read yet may be lost to it.
func (x *Exchange) Reset() {
	for c := x.conn; c != nil; c = inner(c) {
		switch c := c.(type) {
		case interface{ Reset() error }:
			x.leave(Local)
			c.Reset()
		case *net.TCPConn:
			x.leave(Local)
			c.SetLinger(0)
			c.Close()
		}
	}
	x.Close() // the outer layers too
}

// inner is the connection below c, such as the one below TLS, or nil.
func inner(c net.Conn) net.Conn {
	if w, ok := c.(interface{ NetConn() net.Conn }); ok {
		return w.NetConn()
	}
	return nil
}

// Detach gives the connection back for the next request, with what the peer has sent of it already. ok is false
// when the connection cannot be used again: then the caller closes the exchange. Call it after Last.
func (x *Exchange) Detach() (c net.Conn, stray []byte, ok bool) {
	if x.half || len(x.buf) > 0 || (!x.chunked && x.rest != 0) {
		return nil, nil, false
	}
	x.conn.SetReadDeadline(past)
	<-x.read
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.how != "" || x.excess || x.conn.SetReadDeadline(time.Time{}) != nil {
		return nil, nil, false
	}
	x.detached = true
	return x.conn, x.stray, true
}

// Close closes the connection, ends whatever the exchange waits for, and returns when nobody reads any more. After
// Detach it does nothing.
func (x *Exchange) Close() {
	x.mu.Lock()
	detached := x.detached
	if !detached && x.how == "" {
		x.how = Local
		close(x.gone)
	}
	x.mu.Unlock()
	if !detached {
		x.conn.Close()
	}
	<-x.read
}
