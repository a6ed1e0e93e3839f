package wire_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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
