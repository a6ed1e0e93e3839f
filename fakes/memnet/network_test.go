package memnet_test

import (
	"context"
	"net"
	"syscall"
	"testing"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stretchr/testify/require"
)

func TestListen(t *testing.T) {
	for _, tt := range []struct {
		name string
		addr string
		want error // nil if it listens
		text string
	}{
		{"a name and a port", "svc.test:80", nil, ""},
		{"an IP address and a port", "[::1]:80", nil, ""},
		{"the port of another host", "other.test:8080", nil, ""},
		{"another port of a host", "taken.test:81", nil, ""},
		{"an address in use", "taken.test:8080", syscall.EADDRINUSE, "listen tcp taken.test:8080: bind: address already in use"},
		{"an address in use in other letters", "Taken.TEST:8080", syscall.EADDRINUSE, ""},
		{"no port", "svc.test", &net.AddrError{}, ""},
		{"no host", ":80", &net.AddrError{}, "listen tcp: address :80: missing host in address"},
		{"a port that is a name", "svc.test:http", &net.AddrError{}, ""},
		{"a port too high", "svc.test:65536", &net.AddrError{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n memnet.Network
			defer n.Close()
			_, err := n.Listen("taken.test:8080")
			require.NoError(t, err)

			l, err := n.Listen(tt.addr)
			if tt.want == nil {
				require.NoError(t, err)
				require.Equal(t, tt.addr, l.Addr().String())
				return
			}
			if _, ok := tt.want.(*net.AddrError); ok {
				require.ErrorAs(t, err, new(*net.AddrError))
			} else {
				requireOpError(t, err, "listen", tt.want)
			}
			if tt.text != "" {
				require.EqualError(t, err, tt.text)
			}
		})
	}
}

func TestPortZeroPicksAFreePort(t *testing.T) {
	var n memnet.Network
	defer n.Close()
	_, err := n.Listen("svc.test:32768")
	require.NoError(t, err)
	seen := map[string]bool{"svc.test:32768": true}
	for range 10 {
		l, err := n.Listen("svc.test:0")
		require.NoError(t, err)
		addr := l.Addr().String()
		require.False(t, seen[addr], "%s was given before", addr)
		seen[addr] = true

		c, err := n.DialContext(t.Context(), "tcp", addr)
		require.NoError(t, err)
		require.Equal(t, addr, c.RemoteAddr().String())
	}
}

func TestClosedListenerFreesItsAddress(t *testing.T) {
	var n memnet.Network
	defer n.Close()
	for range 2 {
		l, err := n.Listen("svc.test:80")
		require.NoError(t, err)
		require.NoError(t, l.Close())
		requireOpError(t, l.Close(), "close", net.ErrClosed)
		_, err = l.Accept()
		requireOpError(t, err, "accept", net.ErrClosed)
	}
}

func TestDialFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		setup func(n *memnet.Network, l *memnet.Listener, cancel func())
		addr  string
		want  error
	}{
		{"when nothing listens", nil, "nobody.test:80", syscall.ECONNREFUSED},
		{"when the host listens on another port", nil, "svc.test:81", syscall.ECONNREFUSED},
		{
			"when the listener is closed",
			func(n *memnet.Network, l *memnet.Listener, cancel func()) { l.Close() },
			"svc.test:80", syscall.ECONNREFUSED,
		},
		{
			"when the context has ended",
			func(n *memnet.Network, l *memnet.Listener, cancel func()) { cancel() },
			"svc.test:80", context.Canceled,
		},
		{
			"when the network is closed",
			func(n *memnet.Network, l *memnet.Listener, cancel func()) { n.Close() },
			"svc.test:80", syscall.ENETDOWN,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n memnet.Network
			defer n.Close()
			l, err := n.Listen("svc.test:80")
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.setup != nil {
				tt.setup(&n, l, cancel)
			}
			c, err := n.DialContext(ctx, "tcp", tt.addr)
			require.Nil(t, c)
			requireOpError(t, err, "dial", tt.want)
			require.Zero(t, n.Open())
		})
	}
}

func TestDialKnowsOnlyTCP(t *testing.T) {
	var n memnet.Network
	_, err := n.DialContext(t.Context(), "udp", "svc.test:80")
	require.ErrorAs(t, err, new(net.UnknownNetworkError))
}

func TestClosingAListenerResetsWhatNobodyAccepted(t *testing.T) {
	var n memnet.Network
	defer n.Close()
	l, err := n.Listen("svc.test:80")
	require.NoError(t, err)
	accepted, err := n.DialContext(t.Context(), "tcp", "svc.test:80")
	require.NoError(t, err)
	server, err := l.Accept()
	require.NoError(t, err)
	queued, err := n.DialContext(t.Context(), "tcp", "svc.test:80")
	require.NoError(t, err)

	require.NoError(t, l.Close())
	_, err = queued.Read(make([]byte, 1))
	requireOpError(t, err, "read", syscall.ECONNRESET)
	write(t, accepted, "lives on")
	require.NoError(t, queued.Close())
	require.NoError(t, accepted.Close())
	require.NoError(t, server.Close())
	require.Zero(t, n.Open())
}

func TestOpenEndsAreCountedAndDescribed(t *testing.T) {
	var n memnet.Network
	defer n.Close()
	l, err := n.Listen("svc.test:80")
	require.NoError(t, err)
	require.Empty(t, n.Conns())
	client, err := n.DialContext(t.Context(), "tcp", "SVC.test:80")
	require.NoError(t, err)
	require.Equal(t, 2, n.Open(), "a connection nobody accepted counts")
	require.Equal(t, []string{
		"10.0.0.1:32768 -> svc.test:80",
		"svc.test:80 -> 10.0.0.1:32768",
	}, n.Conns())

	server, err := l.Accept()
	require.NoError(t, err)
	require.NoError(t, client.Close())
	require.NoError(t, server.(*memnet.Conn).CloseWrite())
	require.Equal(t, []string{"svc.test:80 -> 10.0.0.1:32768"}, n.Conns(), "half-closed is not closed")
	require.NoError(t, server.Close())
	require.Zero(t, n.Open())
}

func TestSourcesGoOnWithTheNextHost(t *testing.T) {
	var n memnet.Network
	defer n.Close()
	l, err := n.Listen("svc.test:80")
	require.NoError(t, err)
	var last string
	for range 60999 - 32768 + 2 {
		c, err := n.DialContext(t.Context(), "tcp", "svc.test:80")
		require.NoError(t, err)
		s, err := l.Accept()
		require.NoError(t, err)
		last = c.LocalAddr().String()
		require.NoError(t, c.Close())
		require.NoError(t, s.Close())
	}
	require.Equal(t, "10.0.0.2:32768", last)
}

func TestClosedNetworkStaysClosed(t *testing.T) {
	var n memnet.Network
	connect(t, &n)
	n.Close()
	n.Close()
	require.Zero(t, n.Open())
	_, err := n.Listen("svc.test:80")
	requireOpError(t, err, "listen", syscall.ENETDOWN)
}
