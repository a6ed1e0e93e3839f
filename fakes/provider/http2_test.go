package provider_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/provider"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// overHTTP2 plays f with a client of HTTP/2: over TLS and over plain TCP in real time, and without TLS in virtual
// time.
func overHTTP2(t *testing.T, f func(w *world)) {
	t.Helper()
	t.Run("tls", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		serveTLS(t, l, new(net.Dialer).DialContext, true, f)
	})
	t.Run("tcp", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		serve(t, &provider.Provider{}, l, new(net.Dialer).DialContext, func(w *world) { w.unencrypted(); f(w) })
	})
	t.Run("memnet", func(t *testing.T) { inBubble2(t, f) })
}

func inBubble2(t *testing.T, f func(w *world)) {
	t.Helper()
	inBubble(t, func(w *world) { w.unencrypted(); f(w) })
}

// unencrypted makes the client begin with HTTP/2 right away.
func (w *world) unencrypted() {
	transport := w.client.Transport.(*http.Transport)
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetUnencryptedHTTP2(true)
}

func serveTLS(t *testing.T, l net.Listener, dial func(ctx context.Context, network, addr string) (net.Conn, error), two bool, f func(w *world)) {
	t.Helper()
	certificate, err := provider.NewCertificate("127.0.0.1", "model.test")
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(certificate.Leaf)
	p := &provider.Provider{TLS: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	serve(t, p, l, dial, func(w *world) {
		transport := w.client.Transport.(*http.Transport)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
		transport.ForceAttemptHTTP2 = two
		w.url = strings.Replace(w.url, "http:", "https:", 1)
		f(w)
	})
}

func TestHTTP2AnswerIsStreamedAndRecorded(t *testing.T) {
	overHTTP2(t, func(w *world) {
		big := strings.Repeat("0123456789", 10_000) // more than a frame holds, and than the first window
		w.open(
			Program{Steps: []Step{Role{}, Text{Chunks: []string{"one", big}, Every: 10 * time.Millisecond}, Finish{Reason: "stop"}, Done{}, End{}}},
			Answer("whole"),
		)
		resp, body, err := w.ask(streaming)
		require.NoError(w.t, err)
		require.Equal(w.t, "HTTP/2.0", resp.Proto)
		require.Equal(w.t, "text/event-stream; charset=utf-8", resp.Header.Get("Content-Type"))
		require.Contains(w.t, body, big)
		require.True(w.t, strings.HasSuffix(body, "data: [DONE]\n\n"))
		w.await("end")
		require.Equal(w.t, []string{"#1 " + asked, "#1 headers 200", "#1 role", "#1 text one", "#1 text " + big[:4096], "#1 finish stop", "#1 done", "#1 end"}, w.events())
		resp, body, err = w.ask(whole)
		require.NoError(w.t, err)
		require.Equal(w.t, int64(len(body)), resp.ContentLength)
		require.Contains(w.t, body, `"content":"whole"`)
		require.Empty(w.t, w.p.Release("case"))
	})
}

func TestHTTP2ThingsThatNoProgramAnswers(t *testing.T) {
	overHTTP2(t, func(w *world) {
		w.p.Other = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("X-Other", "yes")
			rw.WriteHeader(404)
			rw.WriteHeader(500) // too late
			b, _ := io.ReadAll(r.Body)
			fmt.Fprintf(rw, "%s %s %s", r.Method, r.Host, b)
			rw.(http.Flusher).Flush()
		})
		get := strings.Replace(w.url, "chat/completions", "models", 1)
		resp, err := w.client.Get(get)
		require.NoError(w.t, err)
		b, err := io.ReadAll(resp.Body)
		require.NoError(w.t, err)
		resp.Body.Close()
		require.Contains(w.t, string(b), "gpt-x")

		resp, err = w.client.Post(w.url+"/other", "text/plain", strings.NewReader("body"))
		require.NoError(w.t, err)
		b, err = io.ReadAll(resp.Body)
		require.NoError(w.t, err)
		resp.Body.Close()
		require.Equal(w.t, "POST "+w.addr+" body", string(b))
		require.Equal(w.t, 404, resp.StatusCode)
		require.Equal(w.t, "yes", resp.Header.Get("X-Other"))

		_, body, err := w.ask(streaming)
		require.NoError(w.t, err)
		require.Contains(w.t, body, "no session")
	})
}

func TestHTTP2HandlerSeesThePeerLeave(t *testing.T) {
	inBubble2(t, func(w *world) {
		left := make(chan time.Duration)
		w.p.Other = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.(http.Flusher).Flush()
			<-r.Context().Done()
			left <- w.tl.Now()
		})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, "GET", "http://"+w.addr+"/events", nil)
		require.NoError(t, err)
		resp, err := w.client.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		require.Equal(t, time.Second, <-left)
	})
}

func TestHTTP2StreamsRunSideBySide(t *testing.T) {
	overHTTP2(t, func(w *world) {
		const streams = 20
		w.open(Program{Times: streams, Steps: []Step{Headers{}, Meet{Barrier: "all", Streams: streams}, Flood{Frames: 10, Bytes: 10_000}, Done{}}})
		var wg sync.WaitGroup
		errs := make(chan error, streams)
		for range streams {
			wg.Go(func() {
				_, body, err := w.ask(streaming)
				if err == nil && !strings.HasSuffix(body, "[DONE]\n\n") {
					err = errors.New("cut: " + body)
				}
				errs <- err
			})
		}
		wg.Wait()
		for range streams {
			require.NoError(w.t, <-errs)
		}
	})
}

func TestHTTP2Faults(t *testing.T) {
	text := Text{Chunks: []string{"a"}}
	pause := Pause{For: 20 * time.Millisecond}
	tests := []struct {
		name  string
		steps []Step
		err   string // "" for none
		event string
		times int // requests that the provider saw
	}{
		{"a reset stream", []Step{text, pause, fault.StreamReset{}}, "stream ID 1; INTERNAL_ERROR; received from peer", "stream-reset INTERNAL_ERROR", 1},
		{"a cancelled stream", []Step{text, pause, fault.StreamReset{Code: "CANCEL"}}, "stream ID 1; CANCEL; received from peer", "stream-reset CANCEL", 1},
		{"a refused stream is asked for again", []Step{fault.StreamReset{Code: "REFUSED_STREAM"}}, "", "stream-reset REFUSED_STREAM", 2},
		{"a stream that is too much", []Step{fault.StreamReset{Code: "ENHANCE_YOUR_CALM"}}, "ENHANCE_YOUR_CALM", "stream-reset ENHANCE_YOUR_CALM", 1},
		{"going away from the present stream has it asked for again", []Step{fault.GoAway{Last: -1}, fault.Stall{}}, "", "go-away NO_ERROR last=0", 2},
		{"going away after the present stream answers it", []Step{fault.GoAway{}, pause, text, Done{}, End{}}, "", "go-away NO_ERROR last=1", 1},
		{"going away for a reason", []Step{fault.GoAway{Code: "ENHANCE_YOUR_CALM", Last: -1}, fault.Stall{}}, "ENHANCE_YOUR_CALM", "go-away ENHANCE_YOUR_CALM last=0", 1},
		{"a cut", []Step{text, pause, fault.Cut{}}, "unexpected EOF", "cut", 1},
		{"a half-close", []Step{text, pause, fault.HalfClose{}}, "unexpected EOF", "half-close", 1},
		{"a reset connection", []Step{text, pause, fault.Reset{}}, "connection reset by peer", "reset", 1},
		{"a body that is too short", []Step{Headers{Header: map[string]string{"Content-Length": "1000"}}, text, End{}}, "unexpected EOF", "end", 1},
		{"a status", []Step{fault.Status{Code: 429}}, "", "status 429", 1},
		{"a proper end", []Step{text, Done{}, End{Close: true}}, "", "end", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			overHTTP2(t, func(w *world) {
				w.open(Program{Steps: test.steps}, Answer("again"))
				_, body, err := w.ask(streaming)
				if test.err == "" {
					require.NoError(w.t, err, body)
				} else {
					require.ErrorContains(w.t, err, test.err)
				}
				kind, _, _ := strings.Cut(test.event, " ")
				w.await(kind)
				require.Contains(w.t, w.events(), "#1 "+test.event)
				require.Len(w.t, w.at("request"), test.times)
				require.Empty(w.t, w.at("violation"))
				if test.times == 2 {
					require.Contains(w.t, body, "again")
				} else {
					_, body, err = w.ask(streaming) // a connection is there, old or new
					require.NoError(w.t, err)
					require.Contains(w.t, body, "again")
				}
			})
		})
	}
}

func TestHTTP2PeerLeaves(t *testing.T) {
	tests := []struct {
		name string
		at   Step
	}{
		{"in a stall for ever", fault.Stall{}},
		{"in a stall", fault.Stall{For: time.Hour}},
		{"at a gate", Await{Gate: "never"}},
		{"between chunks", Text{Chunks: []string{"b", "c"}, Every: time.Hour}},
		{"behind keepalives", Keepalive{Form: CommentForm, Every: 3 * time.Second}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble2(t, func(w *world) {
				steps := []Step{Headers{}, test.at}
				if test.at != any(fault.Stall{}) {
					steps = append(steps, Pause{For: time.Hour}, Done{})
				}
				w.open(Program{Steps: steps})
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				resp, err := w.post(ctx, streaming)
				require.NoError(t, err)
				io.ReadAll(resp.Body)
				resp.Body.Close()
				e := w.await("left")
				require.Equal(t, 10*time.Second, e.At)
				require.True(t, strings.HasPrefix(e.Detail, "rst-stream CANCEL bytes="), e.Detail)
			})
		})
	}
}

func TestHTTP2PeerClosesTheConnection(t *testing.T) {
	play := func(w *world) {
		w.open(Program{Times: 2, Steps: []Step{Headers{}, fault.Stall{}}})
		var bodies []io.ReadCloser
		for range 2 {
			resp, err := w.post(context.Background(), streaming)
			require.NoError(w.t, err)
			bodies = append(bodies, resp.Body)
		}
		w.conns.closeAll()
		for _, b := range bodies {
			_, err := io.ReadAll(b)
			require.Error(w.t, err)
			b.Close()
		}
		for _, ref := range []string{"#1", "#2"} {
			e, ok := w.tl.Await(10*time.Second, func(e timeline.Event) bool { return e.Ref == ref && e.Kind == "left" })
			require.True(w.t, ok)
			require.Regexp(w.t, "^(fin|rst) bytes=", e.Detail)
		}
	}
	t.Run("tls", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		serveTLS(t, l, new(net.Dialer).DialContext, true, play)
	})
	t.Run("tcp", func(t *testing.T) { overTCP(t, func(w *world) { w.unencrypted(); play(w) }) })
}

// conns remembers what a client has dialled.
type conns struct {
	mu   sync.Mutex
	list []net.Conn
}

func (c *conns) add(one net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, one)
}

func (c *conns) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.list {
		one.Close()
	}
}

func TestHTTP2FaultOfTheConnectionEndsItsStreams(t *testing.T) {
	for _, f := range []Step{fault.Cut{}, fault.Reset{}} {
		inBubble2(t, func(w *world) {
			w.open(Program{Steps: []Step{Headers{}, fault.Stall{}}}, Program{Steps: []Step{Headers{}, Pause{For: time.Second}, f}})
			var wg sync.WaitGroup
			first, err := w.post(context.Background(), streaming)
			require.NoError(t, err)
			wg.Go(func() { io.ReadAll(first.Body); first.Body.Close() })
			_, _, err = w.ask(streaming)
			require.Error(t, err)
			wg.Wait()
			require.Contains(t, w.events(), "#2 "+f.Kind())
			require.Equal(t, seconds(1), w.at("closed"))
		})
	}
}

func TestHTTP2WindowsAreRespected(t *testing.T) {
	inBubble2(t, func(w *world) {
		// The client takes 4 MiB of a stream that nobody reads.
		w.open(Program{Steps: []Step{Flood{Frames: 6, Bytes: 1 << 20}, Done{}}}, Answer("beside it"))
		resp, err := w.post(context.Background(), streaming)
		require.NoError(t, err)
		defer resp.Body.Close()
		w.await("blocked")
		require.Equal(t, seconds(0.1), w.at("blocked"))
		_, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Contains(t, body, "beside it", "the other stream has its own window")
		<-time.After(time.Minute)
		w.settle()
		blocked := w.at("flood")
		require.Less(t, len(blocked), 6)
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Greater(t, len(b), 6<<20)
		require.Len(t, w.at("flood"), 6)
	})
}

func TestHTTP2BlockedStreamEnds(t *testing.T) {
	for _, how := range []string{"left", "closed"} {
		inBubble2(t, func(w *world) {
			w.open(Program{Steps: []Step{Flood{Frames: 6, Bytes: 1 << 20}, Done{}}})
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			resp, err := w.post(ctx, streaming)
			require.NoError(t, err)
			defer resp.Body.Close()
			w.await("blocked")
			if how == "closed" {
				w.p.Release("case")
			} else {
				cancel()
			}
			w.await(how)
		})
	}
}

func TestHTTP2ReleaseAndClose(t *testing.T) {
	overHTTP2(t, func(w *world) {
		w.open(Program{Times: 2, Steps: []Step{Headers{}, fault.Stall{}}}, Answer("next"))
		for i := range 2 {
			resp, err := w.post(context.Background(), streaming)
			require.NoError(w.t, err)
			if i == 0 {
				w.await("stall")
				w.p.Release("case")
				_, err = io.ReadAll(resp.Body)
				require.ErrorContains(w.t, err, "CANCEL; received from peer")
				resp.Body.Close()
				require.Len(w.t, w.at("closed"), 1)
				w.open(Program{Steps: []Step{Headers{}, fault.Stall{}}})
				continue
			}
			require.NoError(w.t, w.p.Close())
			_, err = io.ReadAll(resp.Body)
			require.Error(w.t, err)
			resp.Body.Close()
			require.Len(w.t, w.at("closed"), 2)
		}
	})
}

func TestHTTP2ConnectionPolicy(t *testing.T) {
	t.Run("so many streams at once", func(t *testing.T) {
		withRules(t, Connections{Streams: 1}, func(w *world) {
			w.unencrypted()
			w.open(Program{Times: 2, Steps: []Step{Pause{For: time.Second}, Done{}}})
			var wg sync.WaitGroup
			for range 2 { // the client heeds the limit, or opens a second connection
				wg.Go(func() { w.ask(streaming) })
			}
			wg.Wait()
			require.Len(t, w.at("done"), 2)
		})
	})
	t.Run("idle for so long", func(t *testing.T) {
		withRules(t, Connections{IdleClose: 15 * time.Second}, func(w *world) {
			w.unencrypted()
			for range 3 {
				_, _, err := w.ask(unmarked)
				require.NoError(t, err)
				<-time.After(10 * time.Second)
			}
			require.Equal(t, 1, w.conns.open(w), "each request had it stay")
			<-time.After(10 * time.Second)
			require.Zero(t, w.conns.open(w))
		})
	})
	t.Run("so many answers", func(t *testing.T) {
		withRules(t, Connections{Requests: 2}, func(w *world) {
			w.unencrypted()
			for i, want := range []int{1, 1, 2} {
				_, _, err := w.ask(unmarked)
				require.NoError(t, err, i)
				w.settle()
				require.Len(t, w.conns.list, want)
			}
		})
	})
}

// open counts the dialled connections that the peer has not closed.
func (c *conns) open(w *world) int {
	w.settle()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, one := range c.list {
		if _, err := one.Write(nil); err == nil {
			n++
		}
	}
	return n
}

func TestHTTP1OverTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serveTLS(t, l, new(net.Dialer).DialContext, false, func(w *world) {
		w.open(Answer("one"), Answer("two"), Program{Steps: []Step{Text{Chunks: []string{"a"}}, Pause{For: 20 * time.Millisecond}, fault.Reset{}}},
			Program{Steps: []Step{Text{Chunks: []string{"a"}}, fault.Cut{}}})
		for _, want := range []string{"one", "two"} {
			resp, body, err := w.ask(streaming)
			require.NoError(t, err)
			require.Equal(t, "HTTP/1.1", resp.Proto)
			require.Contains(t, body, want)
		}
		require.Len(t, w.conns.list, 1, "the connection was kept")
		_, _, err := w.ask(streaming)
		require.ErrorContains(t, err, "connection reset by peer")
		_, _, err = w.ask(streaming)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
}

func TestTLSInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(memnet.Network)
		l, err := n.Listen("model.test:443")
		require.NoError(t, err)
		serveTLS(t, l, n.DialContext, true, func(w *world) {
			w.settle = synctest.Wait
			w.open(Program{Steps: []Step{Text{Chunks: []string{"a"}}, fault.Stall{For: time.Hour}, Done{}}})
			resp, _, err := w.ask(streaming)
			require.NoError(t, err)
			require.Equal(t, "HTTP/2.0", resp.Proto)
			require.Equal(t, seconds(3600), w.at("done"))

			mute, err := w.dial(context.Background(), "tcp", w.addr)
			require.NoError(t, err)
			defer mute.Close()
			began := w.tl.Now()
			_, err = io.ReadAll(mute)
			require.NoError(t, err)
			require.Equal(t, 10*time.Second, w.tl.Now()-began, "a handshake takes no longer than a head")
		})
	})
}
