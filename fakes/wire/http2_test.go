package wire_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/wire"
)

// peer speaks HTTP/2 frame by frame.
type peer struct {
	t    *testing.T
	conn net.Conn
	*http2.Framer
	block bytes.Buffer
	enc   *hpack.Encoder
}

// withPeer plays f in virtual time against a server; f's peer has exchanged settings with it. Channels that Handle
// uses are made in f: they belong to the bubble.
func withPeer(t *testing.T, h *wire.HTTP2, f func(p *peer)) {
	t.Helper()
	withConn(t, h, func(c net.Conn) {
		p := newPeer(t, c)
		p.WriteSettings()
		_, ok := p.next().(*http2.SettingsFrame)
		require.True(t, ok)
		s, ok := p.next().(*http2.SettingsFrame)
		require.True(t, ok && s.IsAck())
		p.WriteSettingsAck()
		f(p)
	})
}

func newPeer(t *testing.T, c net.Conn) *peer {
	_, err := io.WriteString(c, http2.ClientPreface)
	require.NoError(t, err)
	p := &peer{t: t, conn: c, Framer: http2.NewFramer(c, c)}
	p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	p.enc = hpack.NewEncoder(&p.block)
	return p
}

func withConn(t *testing.T, h *wire.HTTP2, f func(c net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := new(memnet.Network)
		l, err := n.Listen("peer.test:80")
		require.NoError(t, err)
		c, err := n.DialContext(context.Background(), "tcp", "peer.test:80")
		require.NoError(t, err)
		server, err := l.Accept()
		require.NoError(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.Serve(server)
		}()
		defer func() {
			c.Close()
			<-done
			l.Close()
			synctest.Wait()
			require.Zero(t, n.Open())
		}()
		f(c)
	})
}

// next reads a frame, within a minute.
func (p *peer) next() http2.Frame {
	p.t.Helper()
	p.conn.SetReadDeadline(time.Now().Add(time.Minute))
	f, err := p.ReadFrame()
	require.NoError(p.t, err)
	return f
}

// skip reads frames until one of that kind, and returns it.
func skip[T http2.Frame](p *peer) T {
	p.t.Helper()
	for {
		if f, ok := p.next().(T); ok {
			return f
		}
	}
}

// headers are those of a request, and more.
func (p *peer) headers(more ...string) []byte {
	p.block.Reset()
	fields := append([]string{":method", "POST", ":scheme", "http", ":authority", "m", ":path", "/p?q"}, more...)
	for i := 0; i < len(fields); i += 2 {
		p.enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return p.block.Bytes()
}

func (p *peer) ask(id uint32, end bool, more ...string) {
	block := p.headers(more...)
	first, rest := block[:min(len(block), 16_000)], block[min(len(block), 16_000):]
	require.NoError(p.t, p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: first, EndHeaders: len(rest) == 0, EndStream: end}))
	for len(rest) > 0 {
		first, rest = rest[:min(len(rest), 16_000)], rest[min(len(rest), 16_000):]
		require.NoError(p.t, p.WriteContinuation(id, len(rest) == 0, first))
	}
}

// says answers with the body of the request.
func says(s *wire.Stream) {
	x := s.Exchange(nil)
	defer x.Close()
	x.Head(200, http.Header{"Content-Type": {"text/plain"}, "Connection": {"close"}}, false)
	x.Put(s.Body)
	x.Last()
}

func TestHTTP2Request(t *testing.T) {
	var requests chan *http.Request
	h := &wire.HTTP2{Handle: func(s *wire.Stream) { requests <- s.Request; says(s) }}
	withPeer(t, h, func(p *peer) {
		requests = make(chan *http.Request, 1)
		block := p.headers("x-long", strings.Repeat("x", 1000), "cookie", "a", "cookie", "b", "content-length", "8")
		require.NoError(t, p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:10]}))
		require.NoError(t, p.WriteContinuation(1, false, block[10:20]))
		require.NoError(t, p.WriteContinuation(1, true, block[20:]))
		require.NoError(t, p.WriteDataPadded(1, false, []byte("one "), make([]byte, 9)))
		require.NoError(t, p.WriteData(1, false, []byte("two ")))
		require.NoError(t, p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: trailer(p), EndHeaders: true, EndStream: true}))
		head := skip[*http2.MetaHeadersFrame](p)
		require.Equal(t, "200", head.PseudoValue("status"))
		require.Equal(t, []hpack.HeaderField{{Name: "content-type", Value: "text/plain"}}, head.RegularFields())
		require.Equal(t, "one two ", string(p.next().(*http2.DataFrame).Data()))
		require.True(t, p.next().(*http2.DataFrame).StreamEnded())
		r := <-requests
		require.Equal(t, "POST m /p q HTTP/2.0 8", fmt.Sprintf("%s %s %s %s %s %d", r.Method, r.Host, r.URL.Path, r.URL.RawQuery, r.Proto, r.ContentLength))
		require.Equal(t, []string{"a", "b"}, r.Header.Values("Cookie"))
	})
}

// The peer's windows are given back in pieces of some size, however small its own are.
func TestHTTP2WindowsForThePeersData(t *testing.T) {
	withPeer(t, &wire.HTTP2{Handle: says}, func(p *peer) {
		p.ask(1, false)
		for range 16<<10 - 1 {
			require.NoError(t, p.WriteData(1, false, []byte("x")))
		}
		synctest.Wait()
		require.NoError(t, p.WriteDataPadded(1, false, nil, make([]byte, 9)))
		for _, id := range []uint32{0, 1} {
			up := skip[*http2.WindowUpdateFrame](p)
			require.Equal(t, id, up.StreamID)
			require.Equal(t, uint32(16<<10-1+10), up.Increment, "padding counts")
		}
		require.NoError(t, p.WriteData(1, true, nil))
		skip[*http2.DataFrame](p)
	})
}

func trailer(p *peer) []byte {
	p.block.Reset()
	p.enc.WriteField(hpack.HeaderField{Name: "x-trailer", Value: "t"})
	return p.block.Bytes()
}

func TestHTTP2AnswersControlFrames(t *testing.T) {
	h := &wire.HTTP2{Handle: says}
	withPeer(t, h, func(p *peer) {
		require.NoError(t, p.WritePing(false, [8]byte{7}))
		pong := skip[*http2.PingFrame](p)
		require.True(t, pong.IsAck())
		require.Equal(t, [8]byte{7}, pong.Data)
		p.ask(1, false, "expect", "100-continue")
		head := skip[*http2.MetaHeadersFrame](p)
		require.Equal(t, "100", head.PseudoValue("status"))
		require.False(t, head.StreamEnded())
		require.NoError(t, p.WriteData(1, true, []byte("body")))
		require.Equal(t, "200", skip[*http2.MetaHeadersFrame](p).PseudoValue("status"))
		require.Equal(t, "body", string(p.next().(*http2.DataFrame).Data()))
	})
}

func TestHTTP2HeadLargerThanAFrame(t *testing.T) {
	value := strings.Repeat("~", 40<<10) // its code is longer than itself
	h := &wire.HTTP2{Handle: func(s *wire.Stream) {
		x := s.Exchange(nil)
		defer x.Close()
		x.Head(200, http.Header{"X-Big": {value}}, false)
		x.Last()
	}}
	withPeer(t, h, func(p *peer) {
		p.ask(1, true)
		head := skip[*http2.MetaHeadersFrame](p)
		require.Equal(t, value, head.RegularFields()[0].Value)
		require.True(t, head.StreamEnded())
	})
}

func TestHTTP2Windows(t *testing.T) {
	var blocked chan string
	h := &wire.HTTP2{Handle: func(s *wire.Stream) {
		x := s.Exchange(func(kind string) { blocked <- kind })
		defer x.Close()
		x.Head(200, http.Header{}, false)
		x.Put(bytes.Repeat([]byte("x"), 50))
		x.Last()
	}}
	withConn(t, h, func(c net.Conn) {
		blocked = make(chan string, 10)
		p := newPeer(t, c)
		p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10})
		p.ask(1, true)
		data := func() int { return len(skip[*http2.DataFrame](p).Data()) }
		require.Equal(t, 10, data(), "the head and what the window allows")
		require.Equal(t, "blocked", <-blocked)
		require.NoError(t, p.WriteWindowUpdate(1, 15))
		require.Equal(t, 15, data())
		p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 20})
		require.Equal(t, 10, data(), "a larger first window widens those there are")
		p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}) // below what was sent
		require.NoError(t, p.WriteWindowUpdate(1, 30))
		require.Equal(t, 10, data())
		require.NoError(t, p.WriteWindowUpdate(1, 5))
		require.Equal(t, 5, data())
		require.True(t, skip[*http2.DataFrame](p).StreamEnded())
	})
}

func TestHTTP2WindowOfTheConnection(t *testing.T) {
	h := &wire.HTTP2{Handle: func(s *wire.Stream) {
		x := s.Exchange(nil)
		defer x.Close()
		x.Head(200, http.Header{}, false)
		x.Put(make([]byte, 60_000))
		x.Last()
	}}
	withPeer(t, h, func(p *peer) {
		got := 0
		p.ask(1, true)
		p.ask(3, true)
		for got < 65_535 {
			got += len(skip[*http2.DataFrame](p).Data())
		}
		require.Equal(t, 65_535, got)
		synctest.Wait()
		require.NoError(t, p.WriteRSTStream(1, http2.ErrCodeCancel)) // one of them waits, and goes
		require.NoError(t, p.WriteRSTStream(3, http2.ErrCodeCancel))
		synctest.Wait()
		require.NoError(t, p.WriteWindowUpdate(0, 70_000))
		p.ask(5, true)
		got = 0
		for got < 60_000 {
			f := skip[*http2.DataFrame](p)
			if len(f.Data()) == 0 {
				continue // the end of the one that did not wait
			}
			require.Equal(t, uint32(5), f.StreamID)
			got += len(f.Data())
		}
		require.Equal(t, 60_000, got)
	})
}

// What a peer must not do, and what it is told.
func TestHTTP2PeersMistakes(t *testing.T) {
	const limit = 64 << 10
	stalls := func(s *wire.Stream) { s.Exchange(nil).WaitFor(nil); s.Exchange(nil).Close() }
	tests := []struct {
		name   string
		do     func(p *peer)
		stream http2.ErrCode // of RST_STREAM; 0 for none
		conn   http2.ErrCode // of GOAWAY; 0 for none
	}{
		{"a stream of even number", func(p *peer) { p.ask(2, true) }, 0, http2.ErrCodeProtocol},
		{"no path", func(p *peer) {
			p.block.Reset()
			p.enc.WriteField(hpack.HeaderField{Name: ":method", Value: "GET"})
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: p.block.Bytes(), EndHeaders: true, EndStream: true})
		}, http2.ErrCodeProtocol, 0},
		{"headers that are too many", func(p *peer) { p.ask(1, true, "x", strings.Repeat("a", 40_000), "y", strings.Repeat("b", 40_000)) }, http2.ErrCodeProtocol, 0},
		{"a second head", func(p *peer) { p.ask(1, true); p.ask(1, true) }, http2.ErrCodeProtocol, 0},
		{"a body behind the end", func(p *peer) { p.ask(1, true); p.WriteData(1, true, []byte("x")) }, http2.ErrCodeStreamClosed, 0},
		{"data of no stream", func(p *peer) { p.WriteData(1, true, []byte("x")) }, 0, http2.ErrCodeProtocol},
		{"a reset of no stream", func(p *peer) { p.WriteRSTStream(1, http2.ErrCodeCancel) }, 0, http2.ErrCodeProtocol},
		{"a window of no stream", func(p *peer) { p.WriteWindowUpdate(1, 1) }, 0, http2.ErrCodeProtocol},
		{"a window that is too large", func(p *peer) { p.ask(1, true); p.WriteWindowUpdate(1, 1<<31-1) }, http2.ErrCodeFlowControl, 0},
		{"a window of the connection that is too large", func(p *peer) { p.WriteWindowUpdate(0, 1<<31-1) }, 0, http2.ErrCodeFlowControl},
		{"a first window that is too large", func(p *peer) {
			p.ask(1, true)
			p.WriteWindowUpdate(1, 1<<30)
			p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1})
		}, 0, http2.ErrCodeFlowControl},
		{"a setting out of bounds", func(p *peer) { p.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1}) }, 0, http2.ErrCodeProtocol},
		{"a frame that is too large", func(p *peer) { p.ask(1, false); p.WriteData(1, true, make([]byte, limit)) }, 0, http2.ErrCodeFrameSize},
		{"a push", func(p *peer) {
			p.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: p.headers(), EndHeaders: true})
		}, 0, http2.ErrCodeProtocol},
		{"more streams than it may open", func(p *peer) { p.ask(1, true); p.ask(3, true); p.ask(5, true) }, http2.ErrCodeRefusedStream, 0},
		{"a body that does not come", func(p *peer) { p.ask(1, false) }, http2.ErrCodeCancel, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			withPeer(t, &wire.HTTP2{Handle: stalls, MaxStreams: 2}, func(p *peer) {
				test.do(p)
				if test.conn != 0 {
					require.Equal(t, test.conn, skip[*http2.GoAwayFrame](p).ErrCode)
					_, err := p.ReadFrame()
					require.ErrorIs(t, err, io.EOF)
					return
				}
				require.Equal(t, test.stream, skip[*http2.RSTStreamFrame](p).ErrCode)
				require.NoError(t, p.WritePing(false, [8]byte{}))
				skip[*http2.PingFrame](p) // the connection goes on
			})
		})
	}
}

func TestHTTP2Preface(t *testing.T) {
	tests := []struct {
		name, send string
		after      time.Duration
	}{
		{"nothing", "", 10 * time.Second},
		{"half of it", http2.ClientPreface[:10], 10 * time.Second},
		{"no settings", http2.ClientPreface, 10 * time.Second},
		{"another", strings.Repeat("x", len(http2.ClientPreface)), 0},
		{"another frame", http2.ClientPreface + "\x00\x00\x08\x06\x00\x00\x00\x00\x00pingping", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			withConn(t, &wire.HTTP2{Handle: says}, func(c net.Conn) {
				began := time.Now()
				_, err := io.WriteString(c, test.send)
				require.NoError(t, err)
				_, err = io.ReadAll(c)
				require.NoError(t, err)
				require.Equal(t, test.after, time.Since(began))
			})
		})
	}
}

func TestHTTP2BodyThatIsTooLong(t *testing.T) {
	h := &wire.HTTP2{MaxBody: 10, Handle: func(s *wire.Stream) {
		if s.TooLong {
			s.Body = append(s.Body[:len(s.Body):len(s.Body)], " and more"...)
		}
		says(s)
	}}
	withPeer(t, h, func(p *peer) {
		p.ask(1, false)
		require.NoError(t, p.WriteData(1, false, []byte("0123456789abc")))
		require.Equal(t, "0123456789 and more", string(skip[*http2.DataFrame](p).Data()))
		require.Equal(t, http2.ErrCodeNo, skip[*http2.RSTStreamFrame](p).ErrCode, "the rest is not wanted")
		require.NoError(t, p.WriteData(1, true, []byte("def")))
		p.ask(3, false)
		require.NoError(t, p.WriteData(3, true, []byte("short")))
		require.Equal(t, "short", string(skip[*http2.DataFrame](p).Data()))
	})
}

// A peer that has much answered and reads none of it is cut off; one that only does not read is still seen to leave.
func TestHTTP2PeerThatDoesNotRead(t *testing.T) {
	t.Run("pings", func(t *testing.T) {
		withPeer(t, &wire.HTTP2{Handle: says}, func(p *peer) {
			var err error
			for range 20_000 {
				if err = p.WritePing(false, [8]byte{}); err != nil {
					break
				}
			}
			require.Error(t, err)
		})
	})
	t.Run("leaves", func(t *testing.T) {
		var hows chan wire.Leaving
		h := &wire.HTTP2{Handle: func(s *wire.Stream) {
			x := s.Exchange(nil)
			defer x.Close()
			x.Head(200, http.Header{}, false)
			for x.Put(make([]byte, 1<<10)) == nil {
			}
			hows <- x.How()
		}}
		withPeer(t, h, func(p *peer) {
			hows = make(chan wire.Leaving, 1)
			require.NoError(t, p.WriteWindowUpdate(0, 1<<30))
			p.ask(1, true)
			require.NoError(t, p.WriteWindowUpdate(1, 1<<30))
			synctest.Wait() // the buffer between is full
			require.NoError(t, p.conn.(*memnet.Conn).CloseWrite())
			require.Equal(t, wire.FIN, <-hows)
		})
	})
}

func TestHTTP2StreamsThatAreResetAtOnce(t *testing.T) {
	var release chan struct{}
	h := &wire.HTTP2{MaxStreams: 3, Handle: func(s *wire.Stream) {
		<-release
		s.Exchange(nil).Close()
	}}
	withPeer(t, h, func(p *peer) {
		release = make(chan struct{})
		id := uint32(1)
		for ; id < 100; id += 2 {
			p.ask(id, true)
			require.NoError(t, p.WriteRSTStream(id, http2.ErrCodeCancel))
		}
		require.Equal(t, http2.ErrCodeRefusedStream, skip[*http2.RSTStreamFrame](p).ErrCode)
		close(release)
		synctest.Wait()
		p.ask(id, true)
		f := skip[*http2.RSTStreamFrame](p)
		for f.StreamID != id {
			f = skip[*http2.RSTStreamFrame](p)
		}
		require.Equal(t, http2.ErrCodeCancel, f.ErrCode, "it was taken")
	})
}

// A peer opens its next stream as soon as it has seen the end of one, whatever the handler still does.
func TestHTTP2AnEndedStreamHasLeftItsPlace(t *testing.T) {
	tests := []struct {
		name string
		end  func(x *wire.Exchange)
	}{
		{"by END_STREAM", func(x *wire.Exchange) { x.Head(200, http.Header{}, false); x.Last() }},
		{"by RST_STREAM", func(x *wire.Exchange) { x.ResetStream("CANCEL") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := &wire.HTTP2{MaxStreams: 1}
			withPeer(t, h, func(p *peer) {
				ended, leave := make(chan struct{}, 2), make(chan struct{})
				defer close(leave)
				h.Handle = func(s *wire.Stream) {
					x := s.Exchange(nil)
					defer x.Close()
					test.end(x)
					ended <- struct{}{}
					<-leave
				}
				for _, id := range []uint32{1, 3} {
					p.ask(id, true)
					select {
					case <-ended:
					case <-time.After(time.Minute):
						t.Fatalf("stream %d was refused", id)
					}
				}
			})
		})
	}
}

func TestHTTP2GoingAway(t *testing.T) {
	h := &wire.HTTP2{Handle: func(s *wire.Stream) {
		x := s.Exchange(nil)
		defer x.Close()
		if s.Request.Header.Get("x-go") != "" {
			last, err := x.GoAway("ENHANCE_YOUR_CALM", 3)
			require.NoError(t, err)
			require.Equal(t, 3, last)
			x.Wait(time.Now().Add(time.Second))
		}
		says(s)
	}}
	withPeer(t, h, func(p *peer) {
		p.ask(1, true, "x-go", "yes")
		away := skip[*http2.GoAwayFrame](p)
		require.Equal(t, http2.ErrCodeEnhanceYourCalm, away.ErrCode)
		require.Equal(t, uint32(3), away.LastStreamID)
		p.ask(3, true)
		p.ask(5, false)
		require.NoError(t, p.WriteData(5, true, []byte("nobody takes this")))
		for _, id := range []uint32{3, 1} {
			head := skip[*http2.MetaHeadersFrame](p)
			require.Equal(t, id, head.StreamID)
		}
		p.next() // the end of stream 1
		_, err := p.ReadFrame()
		require.ErrorIs(t, err, io.EOF, "the connection ends with its last stream")
	})
}

func TestHTTP2RestIsCalledOnce(t *testing.T) {
	var hows chan wire.Leaving
	h := &wire.HTTP2{Handle: func(s *wire.Stream) {
		x := s.Exchange(nil)
		x.Head(200, http.Header{}, false)
		x.Flush()
		require.True(t, x.Rest(func() {
			hows <- x.How()
			x.Close()
		}))
	}}
	withPeer(t, h, func(p *peer) {
		hows = make(chan wire.Leaving, 2)
		p.ask(1, true)
		skip[*http2.MetaHeadersFrame](p)
		p.ask(3, true)
		skip[*http2.MetaHeadersFrame](p)
		require.NoError(t, p.WriteRSTStream(1, http2.ErrCodeNo))
		require.Equal(t, wire.Leaving("rst-stream NO_ERROR"), <-hows)
		p.conn.Close()
		require.Equal(t, wire.FIN, <-hows)
		synctest.Wait()
		require.Empty(t, hows)
	})
}
