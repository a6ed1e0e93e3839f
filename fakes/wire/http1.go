package wire

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// New takes c over, a connection of HTTP/1.1. stray is what was read of c already, behind the request. note is told,
// by a word, what cannot be seen from outside: "blocked" once for each write that waits for the peer for longer than
// Patience (while it waits, from another goroutine), "split" and "drip" when the first frame that the fault affects
// is under way. It may be nil.
func New(c net.Conn, stray []byte, note func(kind string)) *Exchange {
	if note == nil {
		note = func(string) {}
	}
	x := &Exchange{
		conn: c, body: &http1{conn: c, rest: -1}, note: note, stray: append([]byte(nil), stray...), unread: len(stray),
		gone: make(chan struct{}), read: make(chan struct{}),
	}
	go x.watch()
	return x
}

// http1 is an answer of HTTP/1.1.
type http1 struct {
	conn    net.Conn
	buf     []byte // the head until it is sent, then the write in progress
	chunked bool
	rest    int64 // bytes that Content-Length still promises, below 0 when it promises nothing
}

// headSize has room for most heads and a frame behind them, so that the buffer need not grow.
const headSize = 1 << 10

func (b *http1) head(status int, h http.Header, plain bool) {
	b.rest = -1
	if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil {
		plain, b.rest = true, n
	}
	b.chunked = !plain
	if b.buf == nil {
		b.buf = make([]byte, 0, headSize)
	}
	out := bytes.NewBuffer(b.buf[:0])
	fmt.Fprintf(out, "HTTP/1.1 %03d %s\r\n", status, http.StatusText(status))
	h.Write(out) // replaces line breaks in values
	if b.chunked {
		out.WriteString("Transfer-Encoding: chunked\r\n")
	}
	out.WriteString("\r\n")
	b.buf = out.Bytes()
}

// An empty p is no chunk: that would be the last.
func (b *http1) send(p []byte, last bool) (int, error) {
	if len(p) > 0 {
		if b.chunked {
			b.buf = strconv.AppendInt(b.buf, int64(len(p)), 16)
			b.buf = append(b.buf, "\r\n"...)
		}
		b.buf = append(b.buf, p...)
		if b.chunked {
			b.buf = append(b.buf, "\r\n"...)
		}
		b.rest -= int64(len(p))
	}
	if last && b.chunked {
		b.buf = append(b.buf, "0\r\n\r\n"...)
	}
	if len(b.buf) == 0 {
		return 0, nil
	}
	n, err := b.conn.Write(b.buf)
	b.buf = b.buf[:0]
	return n, err
}

func (b *http1) spare() {
	if len(b.buf) == 0 {
		b.buf = nil
	}
}

// ends says whether n more bytes of the body are its last, as the head says.
func (b *http1) ends(n int) bool { return !b.chunked && b.rest >= 0 && b.rest <= int64(n) }

// complete says whether the peer can tell where the answer ends.
func (b *http1) complete() bool { return len(b.buf) == 0 && (b.chunked || b.rest == 0) }

// Detach gives a connection of HTTP/1.1 back for the next request, with what the peer has sent of it already. ok is
// false when the connection cannot be used again: then the caller closes the exchange. Call it after Last.
func (x *Exchange) Detach() (c net.Conn, stray []byte, ok bool) {
	if body, one := x.body.(*http1); !one || x.half || !body.complete() {
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
