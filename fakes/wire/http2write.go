package wire

import (
	"bytes"
	"net"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// job is what a stream has the writer do.
type job struct {
	stream *Stream
	fields []hpack.HeaderField
	data   []byte
	end    bool
	frames func(*http2.Framer) // of another kind
	fin    bool                // a FIN of the connection behind it
	done   chan written        // holds one
}

type written struct {
	bytes int
	err   error
}

// write is the only writer of the connection.
func (c *http2Conn) write() {
	for {
		var j job
		select {
		case j = <-c.jobs:
		case <-c.wake:
		case <-c.ended:
			return
		}
		c.out.Reset()
		c.mu.Lock()
		c.control.WriteTo(&c.out)
		fin := c.closing || j.fin
		skip := j.stream == nil || j.stream.closed
		most, table := c.most, c.table
		c.mu.Unlock()
		if c.finned {
			if j.stream != nil {
				j.done <- written{err: net.ErrClosed}
			}
			continue
		}
		before := c.out.Len()
		if !skip {
			c.encode(j, most, table)
		}
		n, err := 0, error(nil)
		if c.out.Len() > 0 {
			n, err = c.conn.Write(c.out.Bytes())
		}
		if c.finned = fin; err == nil && fin {
			err = closeWrite(c.conn)
		}
		if err != nil {
			c.mu.Lock()
			c.broke = leaving(err)
			c.mu.Unlock()
			c.conn.Close() // ends the reader
		}
		if c.out.Cap() > 4*frameLimit {
			c.out = bytes.Buffer{} // a big frame need not stay
		}
		if j.stream != nil {
			j.done <- written{max(0, n-before), err}
		}
	}
}

// encode writes a job's frames to out.
func (c *http2Conn) encode(j job, most int, table uint32) {
	id := j.stream.id
	if j.fields != nil {
		c.block.Reset()
		if c.encoder.MaxDynamicTableSize() != table { // else each block would say it again
			c.encoder.SetMaxDynamicTableSize(table)
		}
		for _, f := range j.fields {
			c.encoder.WriteField(f)
		}
		part, rest := cut(c.block.Bytes(), most)
		c.framer.WriteHeaders(http2.HeadersFrameParam{
			StreamID: id, BlockFragment: part, EndHeaders: len(rest) == 0, EndStream: j.end && len(j.data) == 0,
		})
		for len(rest) > 0 {
			part, rest = cut(rest, most)
			c.framer.WriteContinuation(id, len(rest) == 0, part)
		}
	}
	if len(j.data) > 0 || (j.end && j.fields == nil) {
		c.framer.WriteData(id, j.end, j.data)
	}
	if j.frames != nil {
		j.frames(c.framer)
	}
}

func cut(b []byte, most int) (part, rest []byte) {
	n := min(len(b), most)
	return b[:n], b[n:]
}

// do has the writer do a job and waits for it, unless the stream's exchange ends meanwhile. What is in the job stays
// the writer's then.
func (c *http2Conn) do(j job) (int, error) {
	j.done = make(chan written, 1)
	select {
	case c.jobs <- j:
	case <-j.stream.x.gone:
		c.giveBack(len(j.data))
		return 0, ErrLeft
	}
	select {
	case w := <-j.done:
		return w.bytes, w.err
	case <-j.stream.x.gone:
	}
	// The peer may have left because of what the writer has just sent, and which counts then.
	if j.stream.x.How() == Local {
		return 0, ErrLeft
	}
	patience := time.NewTimer(Patience)
	defer patience.Stop()
	select {
	case w := <-j.done:
		return w.bytes, w.err
	case <-patience.C:
		return 0, ErrLeft
	}
}

// giveBack returns what was taken of the connection's window.
func (c *http2Conn) giveBack(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 {
		c.window += int64(n)
		c.grown()
	}
}

// take takes up to n bytes of the stream's and the connection's window. When both are empty it waits, unless it need
// not take any; the error is that the exchange has ended.
func (c *http2Conn) take(s *Stream, n int, wait bool) (int, error) {
	for {
		c.mu.Lock()
		got := int(max(0, min(int64(n), s.window, c.window, int64(c.most))))
		s.window -= int64(got)
		c.window -= int64(got)
		widened := c.widened
		c.mu.Unlock()
		if got > 0 || !wait {
			return got, nil
		}
		select {
		case <-widened:
		case <-s.x.gone:
			return 0, ErrLeft
		}
	}
}
