package provider_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/provider"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// withRules plays f in virtual time with a provider that treats connections so. Requests go to the Fallback, whose
// timeline is the world's.
func withRules(t *testing.T, rules Connections, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := new(memnet.Network)
		l, err := n.Listen(address)
		require.NoError(t, err)
		tl := timeline.New()
		answer := Answer("text")
		answer.Times = Any
		p := &provider.Provider{Connections: rules, Fallback: &provider.Session{Script: Script{answer}, Timeline: tl}}
		serve(t, p, l, n.DialContext, func(w *world) {
			w.settle, w.tl = synctest.Wait, tl
			f(w)
		})
		synctest.Wait()
		require.Zero(t, n.Open(), "connections left: %v", n.Conns())
	})
}

const unmarked = `{"model":"gpt-x","stream":true}`

func TestConnectionsAreRefusedThenMuted(t *testing.T) {
	withRules(t, Connections{Refuse: 2, Mute: 1}, func(w *world) {
		for range 2 {
			c, err := w.dial(context.Background(), "tcp", w.addr)
			require.NoError(t, err)
			_, err = c.Read(make([]byte, 1))
			require.ErrorIs(t, err, syscall.ECONNRESET)
			c.Close()
			w.settle()
		}
		c, err := w.dial(context.Background(), "tcp", w.addr)
		require.NoError(t, err)
		for range 100 { // far more than a buffer holds
			_, err = c.Write(make([]byte, 10_000))
			require.NoError(t, err)
		}
		c.SetReadDeadline(time.Now().Add(time.Hour))
		_, err = c.Read(make([]byte, 1))
		require.ErrorContains(t, err, "timeout")
		c.Close()
		_, body, err := w.ask(unmarked)
		require.NoError(t, err)
		require.Contains(t, body, "text")
		require.Equal(t, []string{" connection refused", " connection refused", " connection accepted, and never answered"}, w.events()[:3])
	})
}

func TestMutedConnectionEndsWithTheProvider(t *testing.T) {
	withRules(t, Connections{Mute: 1, AcceptAfter: time.Hour}, func(w *world) {
		for range 2 { // the second is held
			c, err := w.dial(context.Background(), "tcp", w.addr)
			require.NoError(t, err)
			defer c.Close()
		}
		synctest.Wait()
		require.NoError(t, w.p.Close())
		require.Zero(t, w.tl.Now())
	})
}

func TestConnectionIsHeldBeforeItIsRead(t *testing.T) {
	withRules(t, Connections{AcceptAfter: 30 * time.Second}, func(w *world) {
		for range 2 {
			_, _, err := w.ask(unmarked)
			require.NoError(t, err)
		}
		require.Equal(t, seconds(30, 30), w.at("request"), "it is held once, and for longer than a head may take")
	})
}

func TestKeptConnectionIsClosedWhenIdle(t *testing.T) {
	withRules(t, Connections{IdleClose: 15 * time.Second}, func(w *world) {
		c, err := w.dial(context.Background(), "tcp", w.addr)
		require.NoError(t, err)
		defer c.Close()
		in := bufio.NewReader(c)
		for range 2 {
			<-time.After(9 * time.Second)
			fmt.Fprintf(c, "POST /chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(unmarked), unmarked)
			resp, err := http.ReadResponse(in, nil)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
		}
		_, err = in.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, 33*time.Second, w.tl.Now())
		require.Equal(t, seconds(33), w.at("connection"))
	})
}

func TestConnectionServesSoManyRequests(t *testing.T) {
	withRules(t, Connections{Requests: 2}, func(w *world) {
		c, err := w.dial(context.Background(), "tcp", w.addr)
		require.NoError(t, err)
		defer c.Close()
		in := bufio.NewReader(c)
		for range 2 {
			fmt.Fprintf(c, "POST /chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(unmarked), unmarked)
			resp, err := http.ReadResponse(in, nil)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			require.False(t, resp.Close, "it does not say so")
		}
		_, err = in.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		require.Len(t, w.at("connection"), 1)
	})
}

func TestHTTP1IsToldFromHTTP2(t *testing.T) {
	tests := []struct {
		name  string
		send  []string // one write each
		wants string   // what the answer begins with
		after time.Duration
	}{
		{"by the first byte", []string{"G", "ET /v1/models HTTP/1.1\r\nHost: m\r\nConnection: close\r\n\r\n"}, "HTTP/1.1 200", 0},
		{"by the third", []string{"PROPFIND /v1/models HTTP/1.1\r\nHost: m\r\nConnection: close\r\n\r\n"}, "HTTP/1.1 500", 0},
		{"byte by byte", append(strings.Split("PUT", ""), " /v1/models HTTP/1.1\r\nHost: m\r\nConnection: close\r\n\r\n"), "HTTP/1.1 500", 0},
		{"by the preface", []string{"PRI * HTTP/2.0\r\n", "\r\nSM\r\n\r\n", "\x00\x00\x00\x04\x00\x00\x00\x00\x00"}, "\x00\x00\x0c\x04", 0},
		{"a preface that stops", []string{"PRI"}, "", 10 * time.Second},
		{"a wrong preface", []string{"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"}, "", 0},
		{"nothing at all", nil, "", 10 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			withRules(t, Connections{}, func(w *world) {
				c, err := w.dial(context.Background(), "tcp", w.addr)
				require.NoError(t, err)
				defer c.Close()
				for _, s := range test.send {
					_, err := io.WriteString(c, s)
					require.NoError(t, err)
					synctest.Wait()
				}
				b := make([]byte, len(test.wants))
				_, err = io.ReadFull(c, b)
				require.NoError(t, err)
				require.Equal(t, test.wants, string(b))
				if test.wants == "" {
					_, err = c.Read(make([]byte, 1))
					require.Error(t, err)
				}
				require.Equal(t, test.after, w.tl.Now())
			})
		})
	}
}

// flaky fails for a while.
type flaky struct {
	net.Listener
	fails int
}

type passing struct{ error }

func (passing) Temporary() bool { return true }

func (f *flaky) Accept() (net.Conn, error) {
	if f.fails > 0 {
		f.fails--
		return nil, passing{io.ErrNoProgress}
	}
	return f.Listener.Accept()
}

func TestServeOutlivesPassingFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(memnet.Network)
		l, err := n.Listen(address)
		require.NoError(t, err)
		serve(t, &provider.Provider{}, &flaky{l, 12}, n.DialContext, func(w *world) {
			w.open(Answer("one"))
			_, body, err := w.ask(streaming)
			require.NoError(t, err)
			require.Contains(t, body, "one")
		})
	})
}
