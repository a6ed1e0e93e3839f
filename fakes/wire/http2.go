package wire

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// HTTP2 serves connections of HTTP/2, frame by frame, so that it can do what a proper server does not. Set the fields
// before the first Serve; the zero values of the bounds work. It is safe for concurrent use.
type HTTP2 struct {
	// Handle is called for each request whose body has arrived, on a goroutine of its own. It must see to it that the
	// stream's exchange is closed in the end; it may return before.
	Handle func(*Stream)

	MaxStreams int           // at once on a connection, 100 when 0; more are refused
	MaxBody    int64         // bytes of a request's body, 8 MiB when 0
	HeaderTime time.Duration // for the preface and the settings to arrive, and three times that for any body; 10 s when 0

	IdleClose time.Duration // closes a connection on which no stream was open for so long; 0 is never
	Requests  int           // closes a connection after so many answers, without saying so; 0 is never
}

// Bounds of a connection.
const (
	headerLimit  = 64 << 10 // of a request's headers, decoded
	frameLimit   = 16 << 10 // of a frame that the peer sends, HTTP/2's own default
	controlLimit = 64 << 10 // of answers to control frames that the peer does not read
	owedLimit    = 16 << 10 // of what is not given back yet of a window for the peer's data, a quarter of it: small pieces need not have an answer each
	lingerTime   = time.Second
)

// http2Conn is one connection. Three kinds of goroutines work on it: Serve's reads, one writes, and one for each
// stream plays. The writer alone waits for the peer to read, so that the reader sees the peer leave.
type http2Conn struct {
	*HTTP2
	conn   net.Conn
	framer *http2.Framer // the reader reads with it, the writer writes to out
	jobs   chan job
	wake   chan struct{} // control frames wait; holds one
	ended  chan struct{}

	// The writer's.
	out     bytes.Buffer
	encoder *hpack.Encoder
	block   bytes.Buffer
	finned  bool // a FIN has gone, and nothing can follow

	mu       sync.Mutex
	control  bytes.Buffer // control frames to be written
	controls *http2.Framer
	streams  map[uint32]*Stream
	live     int     // streams that count against MaxStreams
	bodies   int64   // bytes of request bodies in memory
	owed     uint32  // of the peer's window
	last     uint32  // the highest stream seen
	away     bool    // GOAWAY or a FIN has gone
	allowed  uint32  // the highest stream still taken then
	answers  int     // streams answered to their end
	closing  bool    // the writer sends what is there, then a FIN
	over     bool    // the reader has ended
	broke    Leaving // how a write failed

	window  int64         // of the connection, for our data
	initial int64         // of a new stream
	most    int           // of one frame of ours
	table   uint32        // the peer's limit for the encoder
	widened chan struct{} // closed and renewed when a window has grown

	idle   *time.Timer
	linger *time.Timer
	work   sync.WaitGroup
}

// Serve serves c until it has ended, and says how it did: Local when the peer broke the rules, too. It returns when no
// goroutine of it is left but those that Handle has started itself.
func (h *HTTP2) Serve(nc net.Conn) Leaving {
	c := &http2Conn{
		HTTP2: h, conn: nc, jobs: make(chan job), wake: make(chan struct{}, 1), ended: make(chan struct{}),
		streams: map[uint32]*Stream{}, window: 65535, initial: 65535, most: frameLimit, table: 4096, widened: make(chan struct{}),
	}
	c.framer = http2.NewFramer(&c.out, nc)
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.framer.MaxHeaderListSize = headerLimit
	c.framer.SetMaxReadFrameSize(frameLimit)
	c.controls = http2.NewFramer(&c.control, nil)
	c.encoder = hpack.NewEncoder(&c.block)
	c.work.Go(c.write)
	how := c.read()
	c.end(how)
	c.work.Wait()
	return how
}

func (h *HTTP2) maxStreams() int {
	if h.MaxStreams == 0 {
		return 100
	}
	return h.MaxStreams
}

func (h *HTTP2) maxBody() int64 {
	if h.MaxBody == 0 {
		return 8 << 20
	}
	return h.MaxBody
}

func (h *HTTP2) headerTime() time.Duration {
	if h.HeaderTime == 0 {
		return 10 * time.Second
	}
	return h.HeaderTime
}

// read reads frames until the connection ends.
func (c *http2Conn) read() Leaving {
	c.conn.SetReadDeadline(time.Now().Add(c.headerTime()))
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c.conn, preface); err != nil {
		return leaving(err)
	}
	if string(preface) != http2.ClientPreface {
		return Local
	}
	c.say(func(f *http2.Framer) {
		f.WriteSettings(
			http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: uint32(c.maxStreams())},
			http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: headerLimit},
		)
	})
	for first := true; ; first = false {
		f, err := c.framer.ReadFrame()
		if first {
			c.conn.SetReadDeadline(time.Time{})
		}
		if err == nil {
			err = c.frame(f, first)
		}
		if c.unheard() {
			return Local
		}
		var ofStream http2.StreamError
		var ofConn http2.ConnectionError
		switch {
		case err == nil:
		case errors.As(err, &ofStream):
			c.refuse(ofStream.StreamID, ofStream.Code)
		case errors.As(err, &ofConn):
			return c.giveUp(http2.ErrCode(ofConn))
		case errors.Is(err, http2.ErrFrameTooLarge):
			return c.giveUp(http2.ErrCodeFrameSize)
		default:
			return leaving(err)
		}
	}
}

// giveUp says what the peer did wrong, and lets it read that.
func (c *http2Conn) giveUp(code http2.ErrCode) Leaving {
	c.mu.Lock()
	c.controls.WriteGoAway(c.last, code, nil)
	c.closeSoon()
	c.mu.Unlock()
	c.knock()
	io.Copy(io.Discard, c.conn)
	return Local
}

// frame takes a frame in.
func (c *http2Conn) frame(f http2.Frame, first bool) error {
	if _, ok := f.(*http2.SettingsFrame); first && !ok {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	switch f := f.(type) {
	case *http2.SettingsFrame:
		return c.settings(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			data := f.Data
			c.say(func(w *http2.Framer) { w.WritePing(true, data) })
		}
	case *http2.WindowUpdateFrame:
		return c.widen(f)
	case *http2.MetaHeadersFrame:
		return c.headers(f)
	case *http2.DataFrame:
		return c.data(f)
	case *http2.RSTStreamFrame:
		return c.left(f)
	case *http2.PushPromiseFrame:
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	return nil // GOAWAY too: whoever goes closes the connection
}

func (c *http2Conn) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	c.mu.Lock()
	err := f.ForeachSetting(func(s http2.Setting) error {
		if err := s.Valid(); err != nil {
			return err
		}
		switch s.ID {
		case http2.SettingInitialWindowSize:
			for _, stream := range c.streams {
				if stream.window += int64(s.Val) - c.initial; stream.window > windowLimit {
					return http2.ConnectionError(http2.ErrCodeFlowControl)
				}
			}
			c.initial = int64(s.Val)
			c.grown()
		case http2.SettingMaxFrameSize:
			c.most = int(min(s.Val, 1<<20))
		case http2.SettingHeaderTableSize:
			c.table = min(s.Val, 4096)
		}
		return nil
	})
	c.mu.Unlock()
	if err != nil {
		return err
	}
	c.say(func(w *http2.Framer) { w.WriteSettingsAck() })
	return nil
}

const windowLimit = 1<<31 - 1

func (c *http2Conn) widen(f *http2.WindowUpdateFrame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.StreamID == 0 {
		if c.window += int64(f.Increment); c.window > windowLimit {
			return http2.ConnectionError(http2.ErrCodeFlowControl)
		}
	} else if s := c.streams[f.StreamID]; s != nil {
		if s.window += int64(f.Increment); s.window > windowLimit {
			return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeFlowControl}
		}
	} else if f.StreamID > c.last {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	c.grown()
	return nil
}

// grown wakes who waits for a window. The mutex is held.
func (c *http2Conn) grown() {
	close(c.widened)
	c.widened = make(chan struct{})
}

// say queues control frames, which never wait for the peer.
func (c *http2Conn) say(frames func(*http2.Framer)) {
	c.mu.Lock()
	frames(c.controls)
	c.mu.Unlock()
	c.knock()
}

// unheard says whether the peer has made us say much and does not listen: it is cut off.
func (c *http2Conn) unheard() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.control.Len() > controlLimit
}

// knock wakes the writer.
func (c *http2Conn) knock() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// closeSoon ends the connection behind what is to be written: a FIN, and no longer than lingerTime later the close,
// so that bytes of the peer that are still on their way do not make a RST of it. The mutex is held.
func (c *http2Conn) closeSoon() {
	c.away, c.allowed = true, 0
	c.closing = true
	if c.linger == nil && !c.over {
		c.linger = time.AfterFunc(lingerTime, func() { c.conn.Close() })
	}
}

// end takes leave of what is left.
func (c *http2Conn) end(how Leaving) {
	c.mu.Lock()
	c.over = true
	if c.broke != "" {
		how = c.broke
	}
	streams := slices.Collect(maps.Values(c.streams))
	for _, t := range []*time.Timer{c.idle, c.linger} {
		if t != nil {
			t.Stop()
		}
	}
	c.mu.Unlock()
	close(c.ended)
	for _, s := range streams {
		s.leave(how)
	}
	c.conn.Close() // last: a write that it ends would look as if the end were ours
}
