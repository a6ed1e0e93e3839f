package mcp

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// What a control connection carries between a child process and the fake that plays it: a kind, a length of 4 bytes, and
// as many bytes.
const (
	// From the process.
	frameHello    = 'h' // what it is: rootChild or grandchild
	frameInput    = 'i' // bytes of its standard input
	frameEOF      = 'e' // its standard input has ended
	frameSignal   = 's' // the name of one that it got
	frameWritten  = 'w' // the last output is written
	frameBroken   = 'b' // nobody reads its standard output any more
	frameFarewell = 'x' // how it is about to end
	// From the fake.
	frameManners = 'm' // a Process, as JSON
	frameRead    = 'r' // some input is wanted
	frameOutput  = 'o' // bytes for its standard output
	frameClose   = 'c' // its standard output is to be closed
	frameEnd     = 'l' // an Exit, as JSON
	frameBye     = 'y' // the farewell is recorded
)

// What says hello.
const (
	rootChild  = "child"
	grandchild = "grandchild"
)

// frameLimit bounds the bytes of a frame: an order holds at most the text of an Exit.
const frameLimit = 64 << 10

// inputSize is how much of its input a process reads at once: as much as a pipe holds.
const inputSize = 32 << 10

type frame struct {
	kind byte
	body []byte
}

// control is one end of a control connection.
type control struct {
	conn net.Conn
	in   *bufio.Reader
	turn chan struct{} // held while a frame is written
}

func newControl(conn net.Conn) *control {
	return &control{conn: conn, in: bufio.NewReader(conn), turn: make(chan struct{}, 1)}
}

// send writes a frame. The other end always reads.
func (c *control) send(kind byte, body []byte) error {
	b := make([]byte, 5, 5+len(body))
	b[0] = kind
	binary.BigEndian.PutUint32(b[1:], uint32(len(body)))
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	_, err := c.conn.Write(append(b, body...))
	return err
}

func (c *control) receive() (frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return frame{}, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > frameLimit {
		return frame{}, fmt.Errorf("mcp: a control frame of %d bytes", size)
	}
	f := frame{kind: head[0], body: make([]byte, size)}
	_, err := io.ReadFull(c.in, f.body)
	return f, err
}

// first receives the first frame, which must be of a kind and come soon.
func (c *control) first(kind byte, within time.Duration) ([]byte, error) {
	c.conn.SetReadDeadline(time.Now().Add(within))
	f, err := c.receive()
	if err == nil && f.kind != kind {
		err = fmt.Errorf("mcp: a control connection begins with %q", f.kind)
	}
	c.conn.SetReadDeadline(time.Time{})
	return f.body, err
}
