package provider_test

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/provider"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// peerSocket is a client with nothing between it and the connection.
type peerSocket struct {
	net.Conn
	w *world
}

func (w *world) socket() peerSocket {
	w.t.Helper()
	c, err := w.dial(context.Background(), "tcp", w.addr)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { c.Close() })
	return peerSocket{c, w}
}

func (s peerSocket) asks(behind string) {
	_, err := fmt.Fprintf(s, "POST /chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s%s", len(streaming), streaming, behind)
	require.NoError(s.w.t, err)
}

func (s peerSocket) reset() {
	switch c := s.Conn.(type) {
	case *net.TCPConn:
		c.SetLinger(0)
		c.Close()
	case interface{ Reset() error }:
		c.Reset()
	}
}

func (s peerSocket) halfClose() { s.Conn.(interface{ CloseWrite() error }).CloseWrite() }

// readAll reads what has come: a close with bytes unread would be a reset.
func (s peerSocket) readAll(until string) {
	var got []byte
	buf := make([]byte, 4096)
	for !strings.Contains(string(got), until) {
		n, err := s.Read(buf)
		require.NoError(s.w.t, err)
		got = append(got, buf[:n]...)
	}
}

func TestRecorderSaysHowAndWhenThePeerLeft(t *testing.T) {
	const soon = 500 * time.Millisecond // a busy machine
	text := Text{Chunks: []string{"a"}}
	phases := []struct {
		name  string
		steps []Step
		after string // the event after which the peer leaves
		reads string // what it has read by then
	}{
		{"before the head", []Step{Pause{For: time.Hour}, text}, "request", ""},
		{"after the head", []Step{Headers{}, Pause{For: time.Hour}, text}, "headers", "\r\n\r\n"},
		{"between chunks", []Step{Text{Chunks: []string{"a", "b"}, Every: time.Hour}}, "text", "}\n\n\r\n"},
		{"in a stall", []Step{text, fault.Stall{}}, "stall", "}\n\n\r\n"},
		{"at a gate", []Step{text, Await{Gate: "never"}}, "await", "}\n\n\r\n"},
		{"after a half-close", []Step{text, fault.HalfClose{}}, "half-close", "}\n\n\r\n"},
	}
	leaves := []struct {
		name  string
		leave func(s peerSocket)
		want  string
	}{
		{"by FIN", func(s peerSocket) { s.Close() }, "fin"},
		{"by a half-close", peerSocket.halfClose, "fin"},
		{"by RST", peerSocket.reset, "rst"},
	}
	behind := []struct{ name, bytes, unread string }{
		{"", "", ""},
		{", with a byte behind its request", "x", " unread=1"},
		{", with a request behind its request", "GET /v1/models HTTP/1.1\r\nHost: m\r\n\r\n", " unread=36"},
		{", with more behind its request than is kept", strings.Repeat("x", 100_000), " unread=100000"},
	}
	counts := regexp.MustCompile(`^(fin|rst) bytes=(\d+) frames=(\d+) byte=(\S+) event=(\S+) progress=(\S+)( unread=\d+)?$`)
	for _, phase := range phases {
		for _, leave := range leaves {
			for _, more := range behind {
				play := func(w *world) {
					w.open(Program{Steps: phase.steps})
					s := w.socket()
					defer s.Close()
					s.asks(more.bytes)
					w.await(phase.after)
					s.readAll(phase.reads)
					if more.bytes != "" && leave.want == "rst" {
						w.settle()
						if _, real := s.Conn.(*net.TCPConn); real {
							return // what a reset overtakes is not there to be counted
						}
					}
					before := w.tl.Now()
					leave.leave(s)
					e := w.await("left")
					require.GreaterOrEqual(w.t, e.At, before)
					require.Less(w.t, e.At, before+soon)
					m := counts.FindStringSubmatch(e.Detail)
					require.NotNil(w.t, m, e.Detail)
					require.Equal(w.t, []string{leave.want, more.unread}, []string{m[1], m[7]}, e.Detail)
					require.Equal(w.t, phase.reads == "", m[2] == "0", e.Detail)
					require.Equal(w.t, strings.Contains(phase.reads, "}"), m[6] != "never", e.Detail)
				}
				name := phase.name + " " + leave.name + more.name
				t.Run(name+" over tcp", func(t *testing.T) { overTCP(t, play) })
				t.Run(name+" over memnet", func(t *testing.T) { inBubble(t, play) })
			}
		}
	}
}

// A reset that comes while net/http still has the connection is told once: the fake must not take it for a FIN.
func TestResetRightBehindTheRequest(t *testing.T) {
	overTCP(t, func(w *world) {
		const count = 300
		require.NoError(t, w.p.Open("", &provider.Session{Script: Script{{Times: Any, Steps: []Step{Headers{}, fault.Stall{}}}}, Timeline: w.tl}))
		for range count {
			s := w.socket()
			_, err := fmt.Fprintf(s, "POST /chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(unmarked), unmarked)
			require.NoError(t, err)
			s.reset()
		}
		// The reset may have overtaken the request: the connection's end is then all that is seen.
		resets, others, fins := 0, 0, 0
		_, ok := w.tl.Await(10*time.Second, func(e timeline.Event) bool {
			switch {
			case e.Kind == "left" && strings.HasPrefix(e.Detail, "rst"):
				resets++
			case e.Kind == "left":
				fins++
			case e.Kind == "connection":
				others++
			}
			return resets+fins+others == count
		})
		require.True(t, ok, "%d resets, %d fins, %d others", resets, fins, others)
		// A write may be told of it at the very instant at which the read is shown an end.
		require.LessOrEqual(t, fins, count/100)
		require.NotZero(t, resets)
	})
}

// The clocks disagree where bytes are no events, and events are no progress. Whatever ends the exchange says them.
func TestRecorderSaysThreeClocks(t *testing.T) {
	steps := []Step{Text{Chunks: []string{"a"}}, Pause{For: 3 * time.Second}, Role{}, Pause{For: 2 * time.Second}, Comment{Text: "c"}, Pause{For: time.Second}}
	const want = `frames=3 byte=1.000s event=3.000s progress=6.000s`
	tests := []struct {
		name, kind string
		last       Step
		want       string
	}{
		{"a cut", "cut", fault.Cut{}, want},
		{"a reset", "reset", fault.Reset{}, want},
		{"an end", "end", End{}, strings.Replace(want, "byte=1", "byte=0", 1)}, // the last chunk is of bytes
		{"the peer", "left", fault.Stall{}, want},
		{"a fault of HTTP/2", "closed", fault.StreamReset{}, want},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.open(Program{Steps: append(steps[:len(steps):len(steps)], test.last)})
				s := w.socket()
				defer s.Close()
				s.asks("")
				<-time.After(5900 * time.Millisecond)
				s.readAll(": c\n\n\r\n")
				<-time.After(100 * time.Millisecond)
				if test.kind == "left" {
					w.await("stall")
					s.Close()
				}
				require.Contains(t, w.await(test.kind).Detail, test.want)
			})
		})
	}
	t.Run("a stream's reset", func(t *testing.T) {
		inBubble2(t, func(w *world) {
			w.open(Program{Steps: append(steps[:len(steps):len(steps)], fault.StreamReset{})})
			_, _, err := w.ask(streaming)
			require.Error(t, err)
			e := w.await("stream-reset")
			require.True(t, strings.HasPrefix(e.Detail, "INTERNAL_ERROR bytes="), e.Detail)
			require.Contains(t, e.Detail, want)
		})
	})
	t.Run("a status", func(t *testing.T) {
		inBubble(t, func(w *world) {
			w.open(Program{Steps: []Step{fault.Status{Code: 429}}})
			_, _, err := w.ask(streaming)
			require.NoError(t, err)
			require.Regexp(t, `^429 bytes=\d+ frames=1 byte=0.000s event=never progress=never$`, w.await("status").Detail)
		})
	})
}

func TestRecorderSaysTheCodeOfAStreamsReset(t *testing.T) {
	codes := []http2.ErrCode{http2.ErrCodeCancel, http2.ErrCodeNo, http2.ErrCodeInternal, http2.ErrCode(0x77)}
	overTCP(t, func(w *world) {
		w.open(Program{Times: Any, Steps: []Step{Headers{}, fault.Stall{}}})
		_, f, headers := rawHTTP2(w)
		for i, code := range codes {
			id := uint32(2*i + 1)
			require.NoError(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: headers(id), EndHeaders: true}))
			require.NoError(t, f.WriteData(id, true, []byte(streaming)))
			ref := "#" + strconv.Itoa(i+1)
			of := func(kind string) timeline.Event {
				e, ok := w.tl.Await(10*time.Second, func(e timeline.Event) bool { return e.Ref == ref && e.Kind == kind })
				require.True(t, ok, w.events())
				return e
			}
			of("stall")
			before := w.tl.Now()
			require.NoError(t, f.WriteRSTStream(id, code))
			e := of("left")
			require.True(t, strings.HasPrefix(e.Detail, "rst-stream "+code.String()+" bytes="), e.Detail)
			require.GreaterOrEqual(t, e.At, before)
		}
	})
}

// What is under way at once, and which attempt it is, stands in the request; a peer that does not read, in an event of
// its own, while it does not.
func TestRecorderSaysAttemptsConcurrencyAndBackPressure(t *testing.T) {
	overTCP(t, func(w *world) {
		w.open(Program{Times: 3, Steps: []Step{Headers{}, fault.Stall{}}}, Program{Steps: []Step{Flood{Frames: 1000, Bytes: 100_000}}})
		var stalled []peerSocket
		for n := range 3 {
			s := w.socket()
			_, err := fmt.Fprintf(s, "POST /chat/completions HTTP/1.1\r\nHost: m\r\nX-Stainless-Retry-Count: %d\r\nContent-Length: %d\r\n\r\n%s", n, len(streaming), streaming)
			require.NoError(t, err)
			s.readAll("\r\n\r\n")
			stalled = append(stalled, s)
		}
		stalled[1].Close()
		w.await("left")
		s := w.socket()
		s.asks("")
		blocked := w.await("blocked")
		require.Equal(t, "#4", blocked.Ref)
		_, ended := w.tl.Find(func(e timeline.Event) bool { return e.Ref == "#4" && e.Kind == "left" })
		require.False(t, ended)
		s.reset()
		_, ended = w.tl.Await(10*time.Second, func(e timeline.Event) bool {
			return e.Ref == "#4" && e.Kind == "left" && strings.HasPrefix(e.Detail, "rst ")
		})
		require.True(t, ended)
		var requests []string
		for _, e := range w.tl.Events() {
			if e.Kind == "request" {
				_, rest, _ := strings.Cut(e.Detail, " attempt=")
				requests = append(requests, rest)
			}
		}
		require.Equal(t, []string{"1 open=1", "2 open=2", "3 open=3", "0 open=3"}, requests)
	})
}
