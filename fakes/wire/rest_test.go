package wire_test

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/wire"
)

func TestRestEndsWithTheConnection(t *testing.T) {
	tests := []struct {
		name string
		end  func(x *wire.Exchange, peer net.Conn)
		want wire.Leaving
	}{
		{"the peer closes", func(_ *wire.Exchange, peer net.Conn) { peer.Close() }, wire.FIN},
		{"the exchange is closed", func(x *wire.Exchange, _ net.Conn) { x.Close() }, wire.Local},
	}
	for _, test := range tests {
		for _, before := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				server, peer := overMemnet(t)
				x := wire.New(server, nil, nil)
				if before {
					test.end(x, peer)
					synctest.Wait()
				}
				done := make(chan wire.Leaving, 2)
				require.True(t, x.Rest(func() { done <- x.How(); x.Close() }))
				if !before {
					synctest.Wait()
					require.Empty(t, done)
					test.end(x, peer)
				}
				require.Equal(t, test.want, <-done, test.name)
				synctest.Wait()
				require.Empty(t, done)
				x.Close()
			})
		}
	}
}

func TestRestLeavesKeepalivesToTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := overMemnet(t)
		x := wire.New(server, nil, nil)
		defer x.Close()
		x.Keepalive(time.Now(), time.Second, func() error { return nil })
		require.False(t, x.Rest(nil))
	})
}

func TestSentCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := overMemnet(t)
		x := wire.New(server, []byte("GET"), nil)
		defer x.Close()
		require.Zero(t, x.Sent())
		x.Head(200, nil, true)
		require.NoError(t, x.Wait(time.Now().Add(time.Second)))
		require.NoError(t, x.Put([]byte("body")))
		require.Equal(t, wire.Sent{Bytes: int64(len("HTTP/1.1 200 OK\r\n\r\nbody")), Last: time.Now()}, x.Sent())
		require.Equal(t, 3, x.Unread())
		require.ErrorIs(t, x.ResetStream(""), wire.ErrVersion)
		_, err := x.GoAway("", 0)
		require.ErrorIs(t, err, wire.ErrVersion)
	})
}
