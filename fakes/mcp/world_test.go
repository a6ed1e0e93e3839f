package mcp_test

import (
	"context"
	"encoding/json"
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

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// world is a fake on a network, and a raw client of it.
type world struct {
	t       *testing.T
	f       *mcp.Fake
	url     string
	addr    string
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	client  *http.Client
	tl      *timeline.Timeline
	gates   *script.Gates
	session string // of the protocol
	settle  func() // a peer sees bytes before their event is recorded: in a bubble one can wait for it
}

// inBubble plays with in virtual time on a fake whose session without a marker has the script.
func inBubble(t *testing.T, s mcp.Script, with func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := new(memnet.Network)
		l, err := n.Listen("tools.test:80")
		require.NoError(t, err)
		serve(t, &mcp.Fake{}, s, l, n.DialContext, synctest.Wait, with)
		synctest.Wait() // for the client's side
		require.Zero(t, n.Open(), "connections left: %v", n.Conns())
	})
}

// overTCP plays with in real time.
func overTCP(t *testing.T, s mcp.Script, with func(w *world)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serve(t, &mcp.Fake{}, s, l, new(net.Dialer).DialContext, func() {}, with)
}

func serve(t *testing.T, f *mcp.Fake, s mcp.Script, l net.Listener, dial func(ctx context.Context, network, addr string) (net.Conn, error), settle func(), with func(w *world)) {
	t.Helper()
	transport := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 100}
	w := &world{
		t: t, f: f, addr: l.Addr().String(), dial: dial, client: &http.Client{Transport: transport},
		tl: timeline.New(), gates: new(script.Gates), settle: settle,
	}
	w.url = "http://" + w.addr + "/mcp"
	require.NoError(t, f.Open("", &mcp.Session{Script: s, Timeline: w.tl, Gates: w.gates, Seed: 1}))
	served := make(chan error, 1)
	go func() { served <- f.Serve(l) }()
	defer func() {
		transport.CloseIdleConnections()
		require.NoError(t, f.Close())
		require.NoError(t, <-served)
	}()
	with(w)
}

// request makes a POST of a legacy client.
func (w *world) request(ctx context.Context, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(body))
	require.NoError(w.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if w.session != "" {
		r.Header.Set("Mcp-Session-Id", w.session)
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	return r
}

// modern makes a POST of a client of 2026-07-28.
func (w *world) modern(ctx context.Context, id, method, params string) *http.Request {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, strings.TrimSuffix(meta+","+params, ","))
	r := w.request(ctx, body)
	r.Header.Del("Mcp-Session-Id")
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", method)
	var p struct{ Name string }
	require.NoError(w.t, json.Unmarshal([]byte("{"+params+"}"), &p))
	if p.Name != "" {
		r.Header.Set("Mcp-Name", p.Name)
	}
	return r
}

func (w *world) do(r *http.Request) *http.Response {
	w.t.Helper()
	resp, err := w.client.Do(r)
	require.NoError(w.t, err)
	return resp
}

// all is a whole answer.
func (w *world) all(r *http.Request) (int, string) {
	w.t.Helper()
	resp := w.do(r)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	return resp.StatusCode, string(b)
}

// ask is the answer to a message.
func (w *world) ask(body string) (int, string) {
	w.t.Helper()
	return w.all(w.request(context.Background(), body))
}

// begin opens a session.
func (w *world) begin() {
	w.t.Helper()
	resp := w.do(w.request(context.Background(), initialize))
	defer resp.Body.Close()
	_, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, 200, resp.StatusCode)
	w.session = resp.Header.Get("Mcp-Session-Id")
	require.NotEmpty(w.t, w.session)
	status, _ := w.ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	require.Equal(w.t, 202, status)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// call is a tools/call.
func call(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{%s},"_meta":{"progressToken":"tok"}}}`, id, tool, arguments)
}

func cancel(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"enough"}}`, id)
}

func (w *world) await(kind string) timeline.Event {
	w.t.Helper()
	e, ok := w.tl.Await(time.Minute, func(e timeline.Event) bool { return e.Kind == kind })
	require.True(w.t, ok, "no %s in %v", kind, w.events())
	return e
}

var dull = regexp.MustCompile(` ?(open=|args=|bytes=|reason=).*`)

// events are the timeline's, in short, from the first request that is none of the beginning.
func (w *world) events() []string {
	w.settle()
	var list []string
	for _, e := range w.tl.Events() {
		s := strings.TrimSpace(e.Ref + " " + e.Kind)
		if detail := dull.ReplaceAllString(e.Detail, ""); detail != "" {
			s += " " + detail
		}
		switch {
		case e.Kind == "connect", e.Kind == "disconnect", e.Kind == "headers", e.Kind == "notification", e.Kind == "session" && strings.HasPrefix(e.Detail, "opened"), w.session != "" && e.Ref == "#1":
			continue
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
		if e.Kind == kind && (w.session == "" || e.Ref != "#1") {
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

// sleep lets time go by in a bubble.
func sleep(d time.Duration) { <-time.NewTimer(d).C }

// datas are the messages of an event stream.
func datas(body string) []string {
	var list []string
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
			list = append(list, data)
		}
	}
	return list
}
