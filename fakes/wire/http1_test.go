package wire_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/wire"
)

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

// A peer that has the answer's end sends its next request, of any size, before a busy fake gets to Detach.
func TestDetachKeepsALargeNextRequest(t *testing.T) {
	next := strings.Repeat("x", 8<<20)
	for name, answer := range map[string]func(x *wire.Exchange) error{
		"behind the last chunk": func(x *wire.Exchange) error { head(x); return x.Last() },
		"behind the last byte that was promised": func(x *wire.Exchange) error {
			x.Head(200, http.Header{"Content-Length": {"4"}}, false)
			return x.Put([]byte("four"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, peer := overMemnet(t)
				x := wire.New(server, nil, nil)
				require.NoError(t, answer(x))
				_, err := io.WriteString(peer, next)
				require.NoError(t, err)
				synctest.Wait()
				_, stray, ok := x.Detach()
				require.True(t, ok)
				require.Equal(t, len(next), len(stray))
			})
		})
	}
}
