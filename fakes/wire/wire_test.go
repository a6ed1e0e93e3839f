package wire_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/wire"
)

// pair returns the two ends of a connection.
type pair func(t *testing.T) (server, peer net.Conn)

func overTCP(t *testing.T) (server, peer net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	peer, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	server, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { peer.Close(); server.Close() })
	return server, peer
}

func overMemnet(t *testing.T) (server, peer net.Conn) {
	t.Helper()
	n := new(memnet.Network)
	l, err := n.Listen("peer.test:80")
	require.NoError(t, err)
	defer l.Close()
	peer, err = n.DialContext(context.Background(), "tcp", "peer.test:80")
	require.NoError(t, err)
	server, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { n.Close() })
	return server, peer
}

func overTLS(t *testing.T) (server, peer net.Conn) {
	t.Helper()
	s := httptest.NewTLSServer(nil) // for its certificate
	defer s.Close()
	below, above := overTCP(t)
	secure := tls.Server(below, &tls.Config{Certificates: s.TLS.Certificates})
	client := tls.Client(above, &tls.Config{InsecureSkipVerify: true})
	done := make(chan error, 1)
	go func() { done <- secure.Handshake() }()
	require.NoError(t, client.Handshake())
	require.NoError(t, <-done)
	return secure, client
}

func head(x *wire.Exchange) {
	x.Head(200, http.Header{"Content-Type": {"text/event-stream"}}, false)
}

// A peer that reads the raw socket can tell every ending from every other.
func TestEndings(t *testing.T) {
	const (
		complete = "last chunk, connection open"
		closed   = "last chunk, fin"
		cut      = "fin"
		reset    = "rst"
	)
	tests := []struct {
		name string
		end  func(x *wire.Exchange)
		want string
	}{
		{"a clean end leaves the connection open", func(x *wire.Exchange) {
			x.Last()
			if c, _, ok := x.Detach(); ok {
				c.Write([]byte("HTTP/1.1 "))
			}
		}, complete},
		{"a clean end with close is a last chunk and a FIN", func(x *wire.Exchange) { x.Last(); x.Close() }, closed},
		{"a cut is a FIN without a last chunk", func(x *wire.Exchange) { x.Cut() }, cut},
		{"a half-close is a FIN without a last chunk", func(x *wire.Exchange) { x.HalfClose() }, cut},
		{"a half-close behind the last chunk is a proper end", func(x *wire.Exchange) { x.Last(); x.HalfClose() }, closed},
		{"a reset is a RST", func(x *wire.Exchange) { x.Reset() }, reset},
	}
	for network, connect := range map[string]pair{"tcp": overTCP, "memnet": overMemnet, "tls": overTLS} {
		for _, test := range tests {
			t.Run(network+": "+test.name, func(t *testing.T) {
				server, peer := connect(t)
				x := wire.New(server, nil, nil)
				defer x.Close()
				head(x)
				_, err := x.Frame(time.Now(), []byte("data: one\n\n"))
				require.NoError(t, err)
				// The peer reads the frame first, which a reset might take from it.
				in := bufio.NewReader(peer)
				require.Equal(t, "data: one", readUntil(t, in, "data: one"))
				require.Equal(t, "\n\n\r\n", readUntil(t, in, "\r\n"))

				test.end(x)

				require.Equal(t, test.want, judge(t, in, complete))
			})
		}
	}
}

func readUntil(t *testing.T, in *bufio.Reader, want string) string {
	t.Helper()
	var got strings.Builder
	for !strings.HasSuffix(got.String(), want) {
		b, err := in.ReadByte()
		require.NoError(t, err, "after %q", got.String())
		got.WriteByte(b)
	}
	if want == "\r\n" {
		return got.String()
	}
	return want
}

// judge reads what is left.
func judge(t *testing.T, in *bufio.Reader, complete string) string {
	t.Helper()
	var words []string
	b, err := in.Peek(5)
	if string(b) == "0\r\n\r\n" {
		words = append(words, "last chunk")
		in.Discard(5)
		if b, err = in.Peek(1); err == nil {
			require.Equal(t, "H", string(b), "the next answer")
			return complete
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		words = append(words, "fin")
	case errors.Is(err, syscall.ECONNRESET):
		words = append(words, "rst")
	default:
		t.Fatalf("peer read %q, then %v", b, err)
	}
	return strings.Join(words, ", ")
}

// After a half-close the exchange goes on reading: the peer's bytes are no reason for a RST, its FIN is heard.
func TestHalfCloseGoesOnReading(t *testing.T) {
	for network, connect := range map[string]pair{"tcp": overTCP, "memnet": overMemnet} {
		t.Run(network, func(t *testing.T) {
			server, peer := connect(t)
			x := wire.New(server, nil, nil)
			defer x.Close()
			require.NoError(t, x.HalfClose())
			_, err := peer.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
			for range 10 {
				_, err = peer.Write([]byte("still here"))
				require.NoError(t, err)
			}
			require.Empty(t, x.How())
			require.ErrorIs(t, x.Put([]byte("more")), wire.ErrLeft)
			require.Empty(t, x.How())
			peer.Close()
			require.ErrorIs(t, x.WaitFor(nil), wire.ErrLeft)
			require.Equal(t, wire.FIN, x.How())
		})
	}
}

func TestHowThePeerLeft(t *testing.T) {
	tests := []struct {
		name  string
		leave func(x *wire.Exchange, peer net.Conn)
		want  wire.Leaving
	}{
		{"a close is a FIN", func(_ *wire.Exchange, peer net.Conn) { peer.Close() }, wire.FIN},
		{"a half-close looks like a close", func(_ *wire.Exchange, peer net.Conn) { peer.(interface{ CloseWrite() error }).CloseWrite() }, wire.FIN},
		{"a reset is a RST", func(_ *wire.Exchange, peer net.Conn) {
			switch c := peer.(type) {
			case *net.TCPConn:
				c.SetLinger(0)
				c.Close()
			case interface{ Reset() error }:
				c.Reset()
			}
		}, wire.RST},
		{"a close on this side is local", func(x *wire.Exchange, _ net.Conn) { x.Close() }, wire.Local},
	}
	for network, connect := range map[string]pair{"tcp": overTCP, "memnet": overMemnet} {
		for _, test := range tests {
			t.Run(network+": "+test.name, func(t *testing.T) {
				server, peer := connect(t)
				x := wire.New(server, nil, nil)
				defer x.Close()
				test.leave(x, peer)
				require.ErrorIs(t, x.Wait(time.Now().Add(time.Hour)), wire.ErrLeft)
				require.Equal(t, test.want, x.How())
			})
		}
	}
}

// recorder keeps the writes of a connection, and when they came.
type recorder struct {
	net.Conn
	start  time.Time
	mu     sync.Mutex
	writes []string
	at     []time.Duration
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes = append(r.writes, string(b))
	r.at = append(r.at, time.Since(r.start))
	return r.Conn.Write(b)
}

func record(t *testing.T) (*wire.Exchange, *recorder) {
	t.Helper()
	server, _ := overMemnet(t)
	r := &recorder{Conn: server, start: time.Now()}
	x := wire.New(r, nil, func(kind string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.writes = append(r.writes, kind)
		r.at = append(r.at, time.Since(r.start))
	})
	t.Cleanup(x.Close)
	return x, r
}

func TestFramesAreWritten(t *testing.T) {
	const frame = "data: héllo\r\n\r\n" // é is the bytes 7 and 8
	tests := []struct {
		name  string
		split fault.Split
		drip  fault.Drip
		want  []string
	}{
		{"whole, in one chunk and one write", fault.Split{}, fault.Drip{}, []string{"10\r\n" + frame + "\r\n"}},
		{"split at an offset, a chunk and a write each", fault.Split{At: []int{6}}, fault.Drip{},
			[]string{"6\r\ndata: \r\n", "split", "a\r\nhéllo\r\n\r\n\r\n"}},
		{"split inside UTF-8 and inside CRLF", fault.Split{At: []int{8, 13}}, fault.Drip{},
			[]string{"8\r\ndata: h\xc3\r\n", "split", "5\r\n\xa9llo\r\r\n", "3\r\n\n\r\n\r\n"}},
		{"split at every so many bytes", fault.Split{Every: 6}, fault.Drip{},
			[]string{"6\r\ndata: \r\n", "split", "6\r\nhéllo\r\n", "4\r\n\r\n\r\n\r\n"}},
		{"whole where the offset is past the end", fault.Split{At: []int{16, 40}}, fault.Drip{}, []string{"10\r\n" + frame + "\r\n"}},
		{"dripped", fault.Split{}, fault.Drip{Bytes: 9},
			[]string{"9\r\ndata: h\xc3\xa9\r\n", "drip", "7\r\nllo\r\n\r\n\r\n"}},
		{"dripped and split", fault.Split{At: []int{10}}, fault.Drip{Bytes: 9},
			[]string{"9\r\ndata: h\xc3\xa9\r\n", "drip", "1\r\nl\r\n", "split", "6\r\nlo\r\n\r\n\r\n"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x, r := record(t)
			head(x)
			require.NoError(t, x.Flush())
			x.SetSplit(test.split)
			x.SetDrip(test.drip)
			_, err := x.Frame(time.Now(), []byte(frame))
			require.NoError(t, err)
			require.Equal(t, test.want, r.writes[1:])
			require.Equal(t, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n", r.writes[0])
		})
	}
}

func TestHeadLeavesWithTheFirstFrame(t *testing.T) {
	x, r := record(t)
	x.Head(404, http.Header{"Content-Length": {"2"}, "X-A": {"a\r\nInjected: b"}}, false)
	require.Empty(t, r.writes)
	_, err := x.Frame(time.Now(), []byte("{}"))
	require.NoError(t, err)
	require.Equal(t, []string{"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nX-A: a  Injected: b\r\n\r\n{}"}, r.writes)
	require.NoError(t, x.Last(), "a body with a length has no last chunk")
	require.Len(t, r.writes, 1)
}

func TestDripKeepsItsPaceOverFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, r := record(t)
		x.SetDrip(fault.Drip{Bytes: 2, Every: time.Second})
		x.Head(200, http.Header{}, true)
		due, err := x.Frame(time.Now(), []byte("abcde"))
		require.NoError(t, err)
		require.Equal(t, 2*time.Second, due.Sub(r.start))
		due, err = x.Frame(due, []byte("fgh"))
		require.NoError(t, err)
		require.Equal(t, 4*time.Second, due.Sub(r.start))
		require.Equal(t, []time.Duration{0, 0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}, r.at)
		require.Equal(t, []string{"HTTP/1.1 200 OK\r\n\r\nab", "drip", "cd", "e", "fg", "h"}, r.writes)
	})
}

func TestKeepalivesComeAtAbsoluteMultiples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, r := record(t)
		x.Head(200, http.Header{}, true)
		t0 := time.Now()
		x.Keepalive(t0, 7*time.Second, func() error { return x.Put([]byte(":")) })
		for _, at := range []time.Duration{10 * time.Second, 14 * time.Second, 20 * time.Second} {
			_, err := x.Frame(t0.Add(at), []byte("f"))
			require.NoError(t, err)
		}
		open := make(chan struct{})
		time.AfterFunc(10*time.Second, func() { close(open) }) // at 30 s
		require.NoError(t, x.WaitFor(open))
		require.Equal(t, 30*time.Second, time.Since(t0))
		x.Keepalive(t0, 0, nil)
		require.NoError(t, x.Wait(t0.Add(time.Hour)))
		var got strings.Builder
		for _, w := range r.writes {
			got.WriteString(w[len(w)-1:])
		}
		// What is due at the instant of a keepalive goes first.
		require.Equal(t, ":ff:f:"+":", got.String()[:7])
		require.Equal(t, []time.Duration{7, 10, 14, 14, 20, 21, 28}, inSeconds(r.at))
	})
}

func inSeconds(list []time.Duration) []time.Duration {
	var out []time.Duration
	for _, d := range list {
		out = append(out, d/time.Second)
	}
	return out
}

func TestKeepalivesDueWhileAWriteIsBlockedAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, peer := overMemnet(t)
		x := wire.New(server, nil, nil)
		defer x.Close()
		t0 := time.Now()
		var at []time.Duration
		x.Head(200, http.Header{}, true)
		x.Keepalive(t0, time.Second, func() error {
			at = append(at, time.Since(t0))
			return x.Put([]byte(":"))
		})
		time.AfterFunc(10500*time.Millisecond, func() { go io.Copy(io.Discard, peer) })
		_, err := x.Frame(t0, make([]byte, 1<<20))
		require.NoError(t, err)
		require.NoError(t, x.Wait(t0.Add(13500*time.Millisecond)))
		require.Equal(t, []time.Duration{10500 * time.Millisecond, 11 * time.Second, 12 * time.Second, 13 * time.Second}, at)
	})
}

// A peer that does not read holds the write, which is noted once, and ends with the connection whoever ends it.
func TestBlockedWriteEnds(t *testing.T) {
	tests := []struct {
		name string
		end  func(x *wire.Exchange, peer net.Conn)
		want wire.Leaving
	}{
		{"with the peer's close", func(_ *wire.Exchange, peer net.Conn) { peer.Close() }, ""},
		{"with the peer's FIN", func(_ *wire.Exchange, peer net.Conn) { peer.(*memnet.Conn).CloseWrite() }, wire.FIN},
		{"with the peer's RST", func(_ *wire.Exchange, peer net.Conn) { peer.(*memnet.Conn).Reset() }, wire.RST},
		{"with a close on this side", func(x *wire.Exchange, _ net.Conn) { x.Close() }, wire.Local},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, peer := overMemnet(t)
				var notes []string
				start := time.Now()
				x := wire.New(server, nil, func(kind string) {
					require.Equal(t, wire.Patience, time.Since(start))
					notes = append(notes, kind)
				})
				defer x.Close()
				time.AfterFunc(time.Minute, func() { test.end(x, peer) })
				head(x)
				_, err := x.Frame(start, make([]byte, 10<<20))
				require.ErrorIs(t, err, wire.ErrLeft)
				require.Equal(t, time.Minute, time.Since(start))
				require.Equal(t, []string{"blocked"}, notes)
				if test.want != "" {
					require.Equal(t, test.want, x.How())
				} else {
					require.NotEqual(t, wire.Local, x.How())
				}
			})
		})
	}
}

func TestBlockedWriteOverTCP(t *testing.T) {
	server, peer := overTCP(t)
	blocked := make(chan struct{})
	x := wire.New(server, nil, func(string) { close(blocked) })
	defer x.Close()
	done := make(chan error)
	go func() {
		head(x)
		_, err := x.Frame(time.Now(), make([]byte, 64<<20))
		done <- err
	}()
	<-blocked
	peer.Close()
	require.ErrorIs(t, <-done, wire.ErrLeft)
	require.NotEqual(t, wire.Local, x.How())
}

func TestDetach(t *testing.T) {
	for network, connect := range map[string]pair{"tcp": overTCP, "memnet": overMemnet, "tls": overTLS} {
		t.Run(network, func(t *testing.T) {
			server, peer := connect(t)
			x := wire.New(server, []byte("GET "), nil)
			head(x)
			require.NoError(t, x.Last())
			c, stray, ok := x.Detach()
			require.True(t, ok)
			require.Same(t, server, c)
			require.Equal(t, "GET ", string(stray))
			x.Close() // does nothing now
			go peer.Write([]byte("next"))
			b := make([]byte, 4)
			_, err := io.ReadFull(c, b)
			require.NoError(t, err)
			require.Equal(t, "next", string(b))
		})
	}
}

func TestDetachIsRefused(t *testing.T) {
	tests := []struct {
		name string
		do   func(x *wire.Exchange, peer net.Conn)
	}{
		{"when the peer has left", func(x *wire.Exchange, peer net.Conn) { head(x); x.Last(); peer.Close(); <-x.Gone() }},
		{"when the exchange was closed", func(x *wire.Exchange, _ net.Conn) { head(x); x.Last(); x.Close() }},
		{"after a half-close", func(x *wire.Exchange, _ net.Conn) { head(x); x.Last(); x.HalfClose() }},
		{"when the end of the body is the connection's", func(x *wire.Exchange, _ net.Conn) { x.Head(200, http.Header{}, true); x.Flush() }},
		{"when bytes of Content-Length are missing", func(x *wire.Exchange, _ net.Conn) {
			x.Head(200, http.Header{"Content-Length": {"5"}}, false)
			x.Put([]byte("four"))
		}},
		{"when the head was not sent", func(x *wire.Exchange, _ net.Conn) { head(x) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server, peer := overMemnet(t)
			x := wire.New(server, nil, nil)
			test.do(x, peer)
			_, _, ok := x.Detach()
			require.False(t, ok)
			x.Close()
			require.NotEmpty(t, x.How())
		})
	}
}

func TestDetachKeepsWhatThePeerSentEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, peer := overMemnet(t)
		x := wire.New(server, nil, nil)
		head(x)
		early := strings.Repeat("x", 1000)
		peer.Write([]byte(early))
		synctest.Wait()
		require.NoError(t, x.Last())
		_, stray, ok := x.Detach()
		require.True(t, ok)
		require.Equal(t, early, string(stray))

		server, peer = overMemnet(t)
		x = wire.New(server, nil, nil)
		defer x.Close()
		head(x)
		peer.Write(make([]byte, 65<<10))
		synctest.Wait()
		require.NoError(t, x.Last())
		_, _, ok = x.Detach()
		require.False(t, ok, "the bound on early bytes")
	})
}

func BenchmarkFrame(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer l.Close()
	peer, err := net.Dial("tcp", l.Addr().String())
	require.NoError(b, err)
	defer peer.Close()
	server, err := l.Accept()
	require.NoError(b, err)
	drained := make(chan struct{})
	go func() { defer close(drained); io.Copy(io.Discard, peer) }()
	x := wire.New(server, nil, nil)
	head(x)
	frame := []byte("data: " + strings.Repeat("x", 200) + "\n\n")
	t0 := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.Frame(t0, frame); err != nil {
			b.Fatal(err)
		}
	}
	x.Close()
	<-drained
}
