package provider_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

const address = "model.test:80"

// world is a provider on a network, and a client of it.
type world struct {
	t      *testing.T
	p      *provider.Provider
	url    string
	addr   string
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	client *http.Client
	tl     *timeline.Timeline
	gates  *Gates
	conns  conns  // of the client
	settle func() // a peer sees bytes before their event is recorded: in a bubble one can wait for it
}

// inBubble plays f in virtual time.
func inBubble(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := new(memnet.Network)
		l, err := n.Listen(address)
		require.NoError(t, err)
		serve(t, &provider.Provider{}, l, n.DialContext, func(w *world) {
			w.settle = synctest.Wait
			f(w)
		})
		synctest.Wait() // for the client's side
		require.Zero(t, n.Open(), "connections left: %v", n.Conns())
	})
}

// overTCP plays f in real time.
func overTCP(t *testing.T, f func(w *world)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serve(t, &provider.Provider{}, l, new(net.Dialer).DialContext, f)
}

func serve(t *testing.T, p *provider.Provider, l net.Listener, dial func(ctx context.Context, network, addr string) (net.Conn, error), f func(w *world)) {
	t.Helper()
	p.Dialects = []provider.Dialect{openai.Dialect{}}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	w := &world{
		t: t, p: p, addr: l.Addr().String(), dial: dial, client: &http.Client{Transport: transport},
		tl: timeline.New(), gates: new(Gates), settle: func() {},
	}
	w.url = "http://" + w.addr + "/v1/chat/completions"
	transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err == nil {
			w.conns.add(c)
		}
		return c, err
	}
	defer func() {
		transport.CloseIdleConnections()
		require.NoError(t, p.Close())
		require.NoError(t, <-served)
	}()
	f(w)
}

func (w *world) open(s ...Program) {
	w.t.Helper()
	require.NoError(w.t, w.p.Open("case", &provider.Session{Script: s, Timeline: w.tl, Gates: w.gates}))
}

const streaming = `{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":"hello [[sw:case]]"}]}`

var whole = strings.Replace(streaming, "true", "false", 1)

func (w *world) post(ctx context.Context, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, "POST", w.url, strings.NewReader(body))
	require.NoError(w.t, err)
	r.Header.Set("Authorization", "Bearer sk-secret")
	return w.client.Do(r)
}

// ask reads the whole answer.
func (w *world) ask(body string) (*http.Response, string, error) {
	w.t.Helper()
	resp, err := w.post(context.Background(), body)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

func (w *world) await(kind string) timeline.Event {
	w.t.Helper()
	e, ok := w.tl.Await(10*time.Second, func(e timeline.Event) bool { return e.Kind == kind })
	require.True(w.t, ok, "no %s in %v", kind, w.events())
	return e
}

// counted is what an event says of how much was sent and is open, which has tests of its own.
var counted = regexp.MustCompile(` ?(open=|bytes=).*`)

// events are the timeline's, in short.
func (w *world) events() []string {
	w.settle()
	var list []string
	for _, e := range w.tl.Events() {
		s := e.Ref + " " + e.Kind
		if detail := counted.ReplaceAllString(e.Detail, ""); detail != "" {
			s += " " + detail
		}
		list = append(list, s)
	}
	return list
}

// at lists the instants of a kind.
func (w *world) at(kind string) []time.Duration {
	w.settle()
	var list []time.Duration
	for _, e := range w.tl.Events() {
		if e.Kind == kind {
			list = append(list, e.At)
		}
	}
	return list
}

func seconds(list ...float64) []time.Duration {
	var out []time.Duration
	for _, s := range list {
		out = append(out, time.Duration(s*float64(time.Second)))
	}
	return out
}

const asked = "request POST /v1/chat/completions model=gpt-x stream=true attempt=0"

// raw asks over a socket of its own and returns what came until the connection ended, and how.
func (w *world) raw(body string) (string, error) {
	w.t.Helper()
	c, err := w.dial(context.Background(), "tcp", w.addr)
	require.NoError(w.t, err)
	defer c.Close()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	b, err := io.ReadAll(c)
	return string(b), err
}
