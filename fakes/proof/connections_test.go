package proof

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/stallwright/stallwright/fakes/script"
)

// policy is what a fake does with connections. A connection belongs to no dialect before its request is read, so that one
// dialect stands for all.
type policy struct {
	name   string
	proves []string
	rules  func(u time.Duration) script.Connections
	over   func(c carrier) bool
	judge  func(x *exchange)
}

func policies() []policy {
	rules := func(c script.Connections) func(time.Duration) script.Connections {
		return func(time.Duration) script.Connections { return c }
	}
	return []policy{
		{name: "the first connections are refused", proves: []string{"connections.refuse"}, rules: rules(script.Connections{Refuse: 2}), over: plainText, judge: func(x *exchange) {
			for range 2 {
				x.wantRefused()
			}
			x.begin()
			require.Equal(x.t, complete, x.finish())
			require.Contains(x.t, x.joined(), again)
		}},
		{name: "the next connections are never answered", proves: []string{"connections.mute"}, rules: rules(script.Connections{Refuse: 1, Mute: 1}), over: plainText, judge: func(x *exchange) {
			x.wantRefused()
			x.begin()
			x.silent(map[bool]time.Duration{true: 24 * time.Hour, false: 10 * x.u}[x.virtual])
			x.begin() // on another
			require.Equal(x.t, complete, x.finish())
		}},
		{name: "a connection is held before it is read", proves: []string{"connections.accept-after"}, rules: func(u time.Duration) script.Connections {
			return script.Connections{AcceptAfter: 3 * u}
		}, judge: func(x *exchange) {
			began := time.Now()
			x.peer = x.connect()
			x.ask(x.path, x.body)
			require.Equal(x.t, complete, x.finish())
			if x.virtual {
				require.Equal(x.t, 3*x.u, time.Since(began))
			} else {
				require.GreaterOrEqual(x.t, time.Since(began), 3*x.u)
			}
			x.wantAgain()
			if x.virtual {
				require.Equal(x.t, 3*x.u, time.Since(began), "once a connection")
			}
		}},
		{name: "an idle connection is closed", proves: []string{"connections.idle-close"}, rules: func(u time.Duration) script.Connections {
			return script.Connections{IdleClose: 4 * u}
		}, judge: func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			idle := time.Now()
			x.wantClosed(fin)
			if x.virtual {
				require.Equal(x.t, 4*x.u, time.Since(idle))
			}
		}},
		{name: "a connection serves so many requests", proves: []string{"connections.requests"}, rules: rules(script.Connections{Requests: 2}), judge: func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			x.wantAgain()
			_, h := x.head()
			require.Empty(x.t, h.Get("Connection"), "it does not say so")
			x.wantClosed(fin)
		}},
		{name: "a connection carries so many streams", proves: []string{"connections.streams"}, rules: rules(script.Connections{Streams: 2}), over: two, judge: func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			p := x.peer.(*peer2)
			require.Equal(x.t, uint32(2), p.limits[http2.SettingMaxConcurrentStreams])
			// Requests that have not ended hold their places.
			for _, id := range []uint32{3, 5, 7} {
				p.block.Reset()
				p.fields(x.path)
				require.NoError(x.t, p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block.Bytes(), EndHeaders: true}))
			}
			for len(p.got) == 0 {
				require.Empty(x.t, p.frame(patience))
			}
			refused, ok := p.got[0].(*http2.RSTStreamFrame)
			require.True(x.t, ok, "%v", p.got[0])
			require.Equal(x.t, uint32(7), refused.StreamID)
			require.Equal(x.t, http2.ErrCodeRefusedStream, refused.ErrCode)
		}},
	}
}

// wantRefused wants a RST to answer a connection, which may come before the connection is there for its peer.
func (x *exchange) wantRefused() {
	x.t.Helper()
	c, err := x.dial()
	if err == nil {
		c.SetReadDeadline(time.Now().Add(patience))
		_, err = c.Read(make([]byte, 1))
	}
	require.Equal(x.t, rst, ended(err))
}

// plainText are the carriers whose connections begin with the accept: over TLS a handshake comes before.
func plainText(c carrier) bool { return !c.secure }

func TestPoliciesOfConnectionsAreApplied(t *testing.T) {
	for _, c := range carriers() {
		t.Run(c.name, func(t *testing.T) {
			for _, p := range policies() {
				if p.over != nil && !p.over(c) {
					continue
				}
				t.Run(p.name, func(t *testing.T) {
					play(t, variants()[0], c, p.rules(c.unit()), script.Answer(again).Steps, p.judge)
				})
			}
		})
	}
}
