package memnet_test

import (
	"context"
	"net"
	"testing"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns the two ends of a new connection of n.
func connect(t testing.TB, n *memnet.Network) (client, server *memnet.Conn) {
	t.Helper()
	l, err := n.Listen("svc.test:0")
	require.NoError(t, err)
	defer l.Close()
	c, err := n.DialContext(context.Background(), "tcp", l.Addr().String())
	require.NoError(t, err)
	s, err := l.Accept()
	require.NoError(t, err)
	return c.(*memnet.Conn), s.(*memnet.Conn)
}

// write sends text, which must fit in the buffer.
func write(t testing.TB, c net.Conn, text string) {
	t.Helper()
	n, err := c.Write([]byte(text))
	require.NoError(t, err)
	require.Equal(t, len(text), n)
}
