// Package wire puts bytes on a connection as told: frames at absolute instants, whole, split or dripped, keepalives
// behind a silence, and every way of ending an answer, from the last chunk to a reset.
//
//	net/http server -> Hijack -> Exchange -> Detach -> net/http server
//	HTTP2 -> Stream -> Exchange
package wire

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
)

// ErrLeft is returned when nothing can be sent any more, because the peer has left or the exchange was closed:
// [Exchange.How] says which.
var ErrLeft = errors.New("wire: the connection has ended")

// ErrVersion is returned for what HTTP/1.1 has no form for.
var ErrVersion = errors.New("wire: the exchange is not HTTP/2")

// Patience is how long a write may last before it is noted as blocked. A write into a socket's buffer takes
// microseconds; one that lasts this long waits for the peer to read, or to widen its window.
const Patience = 100 * time.Millisecond

// past is a deadline that interrupts an operation in progress.
var past = time.Unix(1, 0)

// Exchange writes one answer. Its methods are for one goroutine, except Close, How and Gone, which any may use. Over
// HTTP/1.1 it owns a goroutine, the only reader of the connection, that ends with Close, Cut, Reset or Detach; one of
// them must be called, Close over HTTP/2.
type Exchange struct {
	conn   net.Conn
	body   carrier
	stream *Stream // nil over HTTP/1.1
	note   func(kind string)

	half bool // the FIN has gone
	sent Sent

	split       fault.Split
	drip        fault.Drip
	splitNoted  bool
	dripNoted   bool
	dripEarlier time.Time // before it no further piece

	timer  *time.Timer
	passed time.Time // an instant that is past
	slow   *time.Timer
	noted  chan struct{} // the slow timer's function has returned

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
	over     bool   // nobody will call then any more
	then     func() // of Rest
	unread   int    // bytes that came behind the request
	ending   bool   // the end of the answer is on its way
}

// carrier is an answer in one version of HTTP. Nothing of it waits for anything but the peer.
type carrier interface {
	// head prepares the status and the headers, which leave with what is sent next.
	head(status int, h http.Header, plain bool)
	// send sends what was prepared, p as a piece of the body, and with last the end of the body. It returns how many
	// bytes have left.
	send(p []byte, last bool) (int, error)
	// spare lets go of memory until the next send.
	spare()
}

// Sent is what an exchange has sent so far.
type Sent struct {
	Bytes int64     // of the answer as it is on the wire, those below TLS aside
	Last  time.Time // when the last of them left; zero when none has
}

// Sent says what has left.
func (x *Exchange) Sent() Sent { return x.sent }

// SetSplit shapes the frames that follow; the zero value ends it.
func (x *Exchange) SetSplit(f fault.Split) { x.split, x.splitNoted = f, false }

// SetDrip shapes the frames that follow; the zero value ends it. A frame that waits for the rest of its bytes holds
// keepalives back, which would otherwise land inside it.
func (x *Exchange) SetDrip(f fault.Drip) { x.drip, x.dripNoted = f, false }

// Head prepares the status and headers, which leave with the next bytes or with Flush. Over HTTP/1.1 the body is
// chunked, unless h has a Content-Length or plain is set: then it is what frames say, and without a Content-Length
// its end is the connection's.
func (x *Exchange) Head(status int, h http.Header, plain bool) { x.body.head(status, h, plain) }

// Flush sends the head by itself.
func (x *Exchange) Flush() error { return x.write(nil, false) }

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

// Put sends p at once, in one write, as one chunk where the body is chunked. An empty p sends nothing of the body.
func (x *Exchange) Put(p []byte) error { return x.write(p, false) }

// Last ends the body as HTTP says.
func (x *Exchange) Last() error { return x.write(nil, true) }

// write lasts as long as the peer takes to read, or to leave, or until Close.
func (x *Exchange) write(p []byte, last bool) error {
	if x.half {
		return ErrLeft
	}
	if x.slow == nil {
		x.noted = make(chan struct{}, 1)
		x.slow = time.AfterFunc(Patience, func() { x.note("blocked"); x.noted <- struct{}{} })
	} else {
		x.slow.Reset(Patience)
	}
	if body, one := x.body.(*http1); last || one && body.ends(len(p)) {
		x.mu.Lock()
		x.ending = true
		x.mu.Unlock()
	}
	n, err := x.body.send(p, last)
	if !x.slow.Stop() {
		<-x.noted
	}
	if n > 0 {
		x.sent.Bytes, x.sent.Last = x.sent.Bytes+int64(n), time.Now()
	}
	if err != nil {
		x.leave(leaving(err))
		if x.stream == nil {
			x.conn.Close()
		}
		return ErrLeft
	}
	return nil
}
