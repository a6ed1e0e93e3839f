package mcp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

func TestConnections(t *testing.T) {
	t.Run("the first are refused, the next are mute", func(t *testing.T) {
		inBubble(t, mcp.Script{}, func(w *world) {
			w.f.Connections = script.Connections{Refuse: 1, Mute: 1}
			_, err := w.client.Do(w.request(context.Background(), initialize))
			require.Error(t, err)
			ctx, leave := context.WithTimeout(context.Background(), time.Minute)
			defer leave()
			_, err = w.client.Do(w.request(ctx, initialize))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			w.begin()
			require.Equal(t, []string{"refused", "accepted, and never answered"}, w.details("connection"))
		})
	})
	t.Run("they are held before they are read", func(t *testing.T) {
		inBubble(t, mcp.Script{}, func(w *world) {
			w.f.Connections = script.Connections{AcceptAfter: 3 * time.Second}
			_, _ = w.ask(initialize)
			require.Equal(t, seconds(3), w.at("result"))
		})
	})
	t.Run("they are closed while they are idle", func(t *testing.T) {
		inBubble(t, mcp.Script{}, func(w *world) {
			w.f.Connections = script.Connections{IdleClose: 5 * time.Second}
			w.ask(initialize)
			sleep(10 * time.Second)
			w.ask(initialize)
			require.Len(t, w.at("connect"), 2)
			require.Equal(t, []string{"closed while it was idle"}, w.details("connection"))
		})
	})
	t.Run("they serve so many answers", func(t *testing.T) {
		inBubble(t, mcp.Script{}, func(w *world) {
			w.f.Connections = script.Connections{Requests: 2}
			for range 4 {
				w.ask(initialize)
				w.settle()
			}
			require.Len(t, w.at("connect"), 2)
		})
	})
	t.Run("more than the bound are closed", func(t *testing.T) {
		inBubble(t, mcp.Script{Programs: []mcp.Program{{When: mcp.When{Method: "ping"}, Steps: []script.Step{fault.Stall{}}}}}, func(w *world) {
			w.f.MaxConns = 1
			w.begin()
			c, err := w.dial(context.Background(), "tcp", w.addr)
			require.NoError(t, err)
			_, err = c.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
			c.Close()
		})
	})
	t.Run("a message above the bound is refused", func(t *testing.T) {
		inBubble(t, mcp.Script{}, func(w *world) {
			w.f.MaxBody = 100
			status, _ := w.ask(initialize)
			require.Equal(t, 413, status)
		})
	})
	t.Run("a message that does not arrive is given up", func(t *testing.T) {
		inBubble(t, mcp.Script{}, func(w *world) {
			c, err := w.dial(context.Background(), "tcp", w.addr)
			require.NoError(t, err)
			defer c.Close()
			began := time.Now()
			_, err = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: m\r\nContent-Length: 9\r\n\r\n{")
			require.NoError(t, err)
			b, err := io.ReadAll(c)
			require.NoError(t, err)
			require.Contains(t, string(b), " 408 ")
			require.Equal(t, 30*time.Second, time.Since(began).Truncate(time.Second))
		})
	})
}

// As a handler of a server that is not its own, the fake closes connections after an answer.
func TestAsAHandler(t *testing.T) {
	f := &mcp.Fake{Name: "search", Fallback: &mcp.Session{Script: withTools(mcp.ReadyTools()...)}}
	server := httptest.NewServer(f)
	defer server.Close()
	defer f.Close()
	w := &world{t: t, f: f, url: server.URL + "/mcp", client: &http.Client{Transport: &http.Transport{}}, settle: func() {}}
	w.begin()
	_, body := w.ask(call("2", "add", `"firstNumber":1,"secondNumber":2`))
	require.Contains(t, body, `"3"`)
}

func TestAFakeWithoutASessionRefuses(t *testing.T) {
	f := new(mcp.Fake)
	server := httptest.NewServer(f)
	defer server.Close()
	w := &world{t: t, f: f, url: server.URL + "/mcp", client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, settle: func() {}}
	status, _ := w.ask(initialize)
	require.Equal(t, 500, status)
	require.Equal(t, 1, f.Strays())
	require.NoError(t, f.Close())
	require.ErrorIs(t, f.Open("", &mcp.Session{}), net.ErrClosed)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.ErrorIs(t, f.Serve(l), net.ErrClosed)
}

func TestFaultsOverTCP(t *testing.T) {
	s := mcp.Script{Tools: mcp.ReadyTools(), Programs: []mcp.Program{
		{When: mcp.When{Contains: "reset"}, Steps: []script.Step{fault.Reset{}}},
		{When: mcp.When{Contains: "half"}, Steps: []script.Step{mcp.Progress{}, fault.HalfClose{}}},
		{When: mcp.When{Contains: "split"}, Steps: []script.Step{fault.Split{Every: 7}, mcp.Result{Text: "in pieces"}}},
		{When: mcp.When{Contains: "held"}, Steps: []script.Step{fault.Stall{}}},
	}}
	overTCP(t, s, func(w *world) {
		w.begin()
		_, err := w.client.Do(w.request(context.Background(), call("2", "add", `"x":"reset"`)))
		require.Error(t, err)
		resp := w.do(w.request(context.Background(), call("3", "add", `"x":"half"`)))
		_, err = io.ReadAll(resp.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		resp.Body.Close()
		_, body := w.ask(call("4", "add", `"x":"split"`))
		require.Contains(t, body, "in pieces")
		ctx, leave := context.WithCancel(context.Background())
		go func() {
			w.await("stall")
			leave()
		}()
		_, err = w.client.Do(w.request(ctx, call("5", "add", `"x":"held"`)))
		require.ErrorIs(t, err, context.Canceled)
		w.await("left")
		require.Len(t, w.at("split"), 1)
		require.Empty(t, w.at("violation"))
	})
}
