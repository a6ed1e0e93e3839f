package proof

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// carrier is what an answer travels by.
type carrier struct {
	name    string
	virtual bool // in memory and in virtual time; else over a loopback socket
	secure  bool
	two     bool // HTTP/2
}

// carriers are all of them. In virtual time instants are exact, and each write of the fake is seen by itself.
func carriers() []carrier {
	return []carrier{
		{"HTTP 1.1 in virtual time", true, false, false}, {"HTTP 2 in virtual time", true, false, true},
		{"HTTP 1.1", false, false, false}, {"HTTP 1.1 over TLS", false, true, false},
		{"HTTP 2", false, false, true}, {"HTTP 2 over TLS", false, true, true},
	}
}

// unit is the time that scripts count in.
func (c carrier) unit() time.Duration {
	if c.virtual {
		return time.Second
	}
	return 2 * time.Millisecond
}

// certificate is made once: it takes longer than many an exchange.
var certificate = sync.OnceValues(func() (tls.Certificate, error) { return provider.NewCertificate("127.0.0.1") })

// exchange is a fake that plays a script to a peer that has not asked yet.
type exchange struct {
	t *testing.T
	variant
	carrier
	peer
	u     time.Duration
	said  *recorder
	fake  *provider.Provider
	tl    *timeline.Timeline
	gates *script.Gates
	taps  *taps
	dial  func() (net.Conn, error)

	pieces []chunk // read so far
}

// again answers every request behind the first.
const again = "once more"

// play begins an exchange, and f is its peer.
func play(t *testing.T, v variant, c carrier, rules script.Connections, steps []script.Step, f func(x *exchange)) {
	t.Helper()
	if !c.virtual {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		serve(t, v, c, l, new(net.Dialer).DialContext, rules, steps, f)
		return
	}
	synctest.Test(t, func(t *testing.T) {
		n := new(memnet.Network)
		l, err := n.Listen("127.0.0.1:80")
		require.NoError(t, err)
		serve(t, v, c, l, n.DialContext, rules, steps, f)
		synctest.Wait()
		require.Zero(t, n.Open(), "connections left: %v", n.Conns())
	})
}

func serve(t *testing.T, v variant, c carrier, l net.Listener, dial func(context.Context, string, string) (net.Conn, error), rules script.Connections, steps []script.Step, f func(x *exchange)) {
	t.Helper()
	x := &exchange{t: t, variant: v, carrier: c, u: c.unit(), said: &recorder{Dialect: v.dialect}, tl: timeline.New(), gates: new(script.Gates), taps: &taps{}}
	after := script.Answer(again)
	after.Times = script.Any
	x.fake = &provider.Provider{
		Dialects: []provider.Dialect{x.said}, Connections: rules,
		Fallback: &provider.Session{Script: script.Script{{Steps: steps}, after}, Timeline: x.tl, Gates: x.gates},
	}
	client := &tls.Config{NextProtos: []string{"http/1.1"}, ServerName: "127.0.0.1"}
	if c.secure {
		cert, err := certificate()
		require.NoError(t, err)
		x.fake.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
		client.RootCAs = x509.NewCertPool()
		client.RootCAs.AddCert(cert.Leaf)
	}
	if c.two {
		client.NextProtos = []string{"h2"}
	}
	served := make(chan error, 1)
	go func() { served <- x.fake.Serve(&tapping{l, x.taps}) }()
	var open []net.Conn
	x.dial = func() (net.Conn, error) {
		nc, err := dial(context.Background(), "tcp", l.Addr().String())
		if err != nil {
			return nil, err
		}
		if c.secure {
			nc = tls.Client(nc, client)
		}
		open = append(open, nc)
		return nc, nil
	}
	defer func() {
		for _, nc := range open {
			nc.Close()
		}
		require.NoError(t, x.fake.Close())
		require.NoError(t, <-served)
	}()
	f(x)
}

// begin sends the request.
func (x *exchange) begin() {
	x.t.Helper()
	x.peer = x.connect()
	x.ask(x.path, x.body)
}

// connect is a peer on a connection of its own.
func (x *exchange) connect() peer {
	c, err := x.dial()
	require.NoError(x.t, err)
	switch {
	case x.two && x.secure:
		return newPeer2(x.t, c, "https")
	case x.two:
		return newPeer2(x.t, c, "http")
	}
	return newPeer1(x.t, c)
}

// take reads so many pieces.
func (x *exchange) take(n int) {
	x.t.Helper()
	for range n {
		c, end := x.next()
		require.Empty(x.t, end)
		x.pieces = append(x.pieces, c)
	}
}

// finish reads to the end of the answer.
func (x *exchange) finish() string {
	for {
		c, end := x.next()
		if end != "" {
			return end
		}
		x.pieces = append(x.pieces, c)
	}
}

// went opens the gate that every script of a sudden end waits at: the peer has read what came before, which a RST might
// take from it.
const gate = "read"

func (x *exchange) went() {
	x.await("await")
	x.gates.Open(gate)
}

func (x *exchange) await(kind string) timeline.Event {
	x.t.Helper()
	e, ok := x.tl.Await(patience, func(e timeline.Event) bool { return e.Kind == kind })
	require.True(x.t, ok, "no %s in %v", kind, x.tl.Events())
	return e
}

// kinds are the kinds of the timeline's events.
func (x *exchange) kinds() []string {
	var list []string
	for _, e := range x.tl.Events() {
		list = append(list, e.Kind)
	}
	return list
}

// frames are what the dialect has rendered, keepalives and the second answer aside: what the body would be.
func (x *exchange) frames() []string {
	var list []string
	for _, r := range x.said.all() {
		list = append(list, r.bytes)
	}
	return list
}

// wantPieces wants the body to have come in these pieces. A body in one piece with a known length has no borders.
func (x *exchange) wantPieces(want []string) {
	x.t.Helper()
	var got []string
	for _, c := range x.pieces {
		got = append(got, c.bytes)
	}
	if !x.stream() && !x.chunks() {
		require.Equal(x.t, strings.Join(want, ""), strings.Join(got, ""))
		return
	}
	require.Equal(x.t, want, got)
}

// chunks says whether the borders of the pieces are the fake's.
func (x *exchange) chunks() bool {
	p, one := x.peer.(*peer1)
	return !one || p.chunked
}

// wantAgain wants the connection to serve another request.
func (x *exchange) wantAgain() {
	x.t.Helper()
	before := len(x.said.all())
	x.pieces = nil
	x.ask(x.path, x.body)
	require.Equal(x.t, complete, x.finish())
	var want []string
	for _, r := range x.said.all()[before:] {
		want = append(want, r.bytes)
	}
	require.Contains(x.t, strings.Join(want, ""), again)
	x.wantPieces(want)
}

// wantClosed wants the connection to end so, with nothing before.
func (x *exchange) wantClosed(how string) {
	x.t.Helper()
	b, end := x.rest()
	require.Empty(x.t, b)
	require.Equal(x.t, how, end)
}

// taps are what the fake has written to its connections, write by write.
type taps struct {
	mu     sync.Mutex
	writes []string
}

func (t *taps) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.writes)
}

type tapping struct {
	net.Listener
	taps *taps
}

func (l *tapping) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tapped{c, l.taps}, nil
}

type tapped struct {
	net.Conn
	taps *taps
}

// NetConn lets the fake reach the connection below.
func (c *tapped) NetConn() net.Conn { return c.Conn }

func (c *tapped) Write(b []byte) (int, error) {
	c.taps.mu.Lock()
	c.taps.writes = append(c.taps.writes, string(b))
	c.taps.mu.Unlock()
	return c.Conn.Write(b)
}
