package memnet_test

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/nettest"
)

func TestConnIsANetConn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		buffer int
	}{
		{"with the default buffer", 0},
		{"with a small buffer", 100},
		{"with a buffer of one message of the test", 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
				n := &memnet.Network{Buffer: tt.buffer}
				c1, c2 = connect(t, n)
				return c1, c2, n.Close, nil
			})
		})
	}
}

// conn is what a memnet.Conn and a TCP connection both do.
type conn interface {
	net.Conn
	CloseWrite() error
	Reset() error
}

type tcpConn struct{ *net.TCPConn }

func (c tcpConn) Reset() error {
	return errors.Join(c.SetLinger(0), c.Close())
}

func connectTCP(t *testing.T) (client, server conn) {
	t.Helper()
	l, err := nettest.NewLocalListener("tcp")
	require.NoError(t, err)
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	s, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { c.Close(); s.Close() })
	return tcpConn{c.(*net.TCPConn)}, tcpConn{s.(*net.TCPConn)}
}

// How a connection ends as its reader sees it. The same table is played over TCP, so that
// it states what TCP does and not what memnet happens to do.
func TestReadSeesHowThePeerEnded(t *testing.T) {
	for _, tt := range []struct {
		name    string
		peer    func(t *testing.T, self, peer conn)
		want    string // what is read before the end
		wantErr error
	}{
		{
			"a close is the end of the stream",
			func(t *testing.T, self, peer conn) { peer.Close() },
			"", io.EOF,
		},
		{
			"bytes written before a close are read first",
			func(t *testing.T, self, peer conn) { write(t, peer, "bye"); peer.Close() },
			"bye", io.EOF,
		},
		{
			"a half-close is the end of the stream",
			func(t *testing.T, self, peer conn) { write(t, peer, "bye"); peer.CloseWrite() },
			"bye", io.EOF,
		},
		{
			"a reset is ECONNRESET",
			func(t *testing.T, self, peer conn) { peer.Reset() },
			"", syscall.ECONNRESET,
		},
		{
			"bytes written before a reset are read first",
			func(t *testing.T, self, peer conn) { write(t, peer, "bye"); peer.Reset() },
			"bye", syscall.ECONNRESET,
		},
		{
			"a close with bytes not read is a reset",
			func(t *testing.T, self, peer conn) {
				write(t, self, "unread")
				write(t, peer, "bye")
				peer.Close()
			},
			"bye", syscall.ECONNRESET,
		},
		{
			"a close with some bytes not read is a reset",
			func(t *testing.T, self, peer conn) {
				write(t, self, "unread")
				_, err := io.ReadFull(peer, make([]byte, 5))
				require.NoError(t, err)
				peer.Close()
			},
			"", syscall.ECONNRESET,
		},
		{
			"a close with all bytes read is the end of the stream",
			func(t *testing.T, self, peer conn) {
				write(t, self, "read")
				_, err := io.ReadFull(peer, make([]byte, 4))
				require.NoError(t, err)
				peer.Close()
			},
			"", io.EOF,
		},
		{
			"a reset after a half-close is not seen",
			func(t *testing.T, self, peer conn) {
				write(t, peer, "bye")
				peer.CloseWrite()
				peer.Reset()
			},
			"bye", io.EOF,
		},
		{
			"a close after a half-close with bytes not read is not seen",
			func(t *testing.T, self, peer conn) {
				write(t, self, "unread")
				peer.CloseWrite()
				peer.Close()
			},
			"", io.EOF,
		},
		{
			"a reset is seen after the own half-close",
			func(t *testing.T, self, peer conn) { self.CloseWrite(); peer.Reset() },
			"", syscall.ECONNRESET,
		},
	} {
		check := func(t *testing.T, self, peer conn) {
			tt.peer(t, self, peer)
			var got []byte
			buf := make([]byte, 16)
			n, err := self.Read(buf)
			for ; err == nil; n, err = self.Read(buf) {
				got = append(got, buf[:n]...)
			}
			require.Equal(t, tt.want, string(got))
			if tt.wantErr == io.EOF {
				require.Equal(t, io.EOF, err, "io.EOF must be bare")
			} else {
				requireOpError(t, err, "read", tt.wantErr)
			}
			_, err = self.Read(buf)
			require.Equal(t, io.EOF, err, "after the end has been reported")
		}
		t.Run(tt.name, func(t *testing.T) {
			var n memnet.Network
			defer n.Close()
			self, peer := connect(t, &n)
			check(t, self, peer)
		})
		t.Run(tt.name+" over TCP", func(t *testing.T) {
			if runtime.GOOS != "linux" {
				t.Skip("memnet follows Linux")
			}
			self, peer := connectTCP(t)
			check(t, self, peer)
		})
	}
}

func TestWriteSeesHowThePeerEnded(t *testing.T) {
	for _, tt := range []struct {
		name  string
		peer  func(t *testing.T, self, peer conn)
		first error
	}{
		{
			"a close is EPIPE at once",
			func(t *testing.T, self, peer conn) { peer.Close() },
			syscall.EPIPE,
		},
		{
			"a reset is ECONNRESET",
			func(t *testing.T, self, peer conn) { peer.Reset() },
			syscall.ECONNRESET,
		},
		{
			"a close with bytes not read is ECONNRESET",
			func(t *testing.T, self, peer conn) { write(t, self, "unread"); peer.Close() },
			syscall.ECONNRESET,
		},
		{
			"a reset after a half-close is EPIPE",
			func(t *testing.T, self, peer conn) { peer.CloseWrite(); peer.Reset() },
			syscall.EPIPE,
		},
		{
			"the own half-close is EPIPE",
			func(t *testing.T, self, peer conn) { self.CloseWrite() },
			syscall.EPIPE,
		},
		{
			"a reset is ECONNRESET after the own half-close too",
			func(t *testing.T, self, peer conn) { self.CloseWrite(); peer.Reset() },
			syscall.ECONNRESET,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n memnet.Network
			defer n.Close()
			self, peer := connect(t, &n)
			tt.peer(t, self, peer)
			_, err := self.Write([]byte("x"))
			requireOpError(t, err, "write", tt.first)
			for range 2 {
				_, err = self.Write([]byte("x"))
				requireOpError(t, err, "write", syscall.EPIPE)
			}
		})
	}
}

func TestHalfCloseLeavesTheOtherDirectionOpen(t *testing.T) {
	var n memnet.Network
	defer n.Close()
	self, peer := connect(t, &n)
	write(t, self, "question")
	require.NoError(t, self.CloseWrite())
	require.NoError(t, self.CloseWrite(), "doing it again does nothing")

	got, err := io.ReadAll(peer)
	require.NoError(t, err)
	require.Equal(t, "question", string(got))
	write(t, peer, "answer")
	require.NoError(t, peer.Close())
	got, err = io.ReadAll(self)
	require.NoError(t, err)
	require.Equal(t, "answer", string(got))
}

func TestCloseWriteAfterAResetIsNotConnected(t *testing.T) {
	var n memnet.Network
	defer n.Close()
	self, peer := connect(t, &n)
	require.NoError(t, peer.Reset())
	requireOpError(t, self.CloseWrite(), "close", syscall.ENOTCONN)
}

func TestClosedConnRefusesEverything(t *testing.T) {
	for _, tt := range []struct {
		name string
		op   string
		call func(c *memnet.Conn) error
	}{
		{"read", "read", func(c *memnet.Conn) error { _, err := c.Read(make([]byte, 1)); return err }},
		{"read of nothing", "read", func(c *memnet.Conn) error { _, err := c.Read(nil); return err }},
		{"write", "write", func(c *memnet.Conn) error { _, err := c.Write([]byte("x")); return err }},
		{"write of nothing", "write", func(c *memnet.Conn) error { _, err := c.Write(nil); return err }},
		{"close", "close", (*memnet.Conn).Close},
		{"reset", "close", (*memnet.Conn).Reset},
		{"half-close", "close", (*memnet.Conn).CloseWrite},
		{"deadline", "set", func(c *memnet.Conn) error { return c.SetDeadline(time.Now()) }},
		{"read deadline", "set", func(c *memnet.Conn) error { return c.SetReadDeadline(time.Now()) }},
		{"write deadline", "set", func(c *memnet.Conn) error { return c.SetWriteDeadline(time.Now()) }},
	} {
		for end, closing := range map[string]func(*memnet.Conn) error{
			"close": (*memnet.Conn).Close, "reset": (*memnet.Conn).Reset,
		} {
			t.Run(tt.name+" after "+end, func(t *testing.T) {
				var n memnet.Network
				defer n.Close()
				self, peer := connect(t, &n)
				write(t, peer, "not read")
				require.NoError(t, closing(self))
				requireOpError(t, tt.call(self), tt.op, net.ErrClosed)
			})
		}
	}
}

func TestPastDeadlineComesBeforeBytes(t *testing.T) {
	var n memnet.Network
	defer n.Close()
	self, peer := connect(t, &n)
	write(t, peer, "waiting")
	require.NoError(t, self.SetDeadline(time.Unix(1, 0)))

	k, err := self.Read(make([]byte, 8))
	require.Zero(t, k)
	requireOpError(t, err, "read", os.ErrDeadlineExceeded)
	require.True(t, err.(net.Error).Timeout())
	k, err = self.Write([]byte("x"))
	require.Zero(t, k)
	requireOpError(t, err, "write", os.ErrDeadlineExceeded)

	require.NoError(t, self.SetDeadline(time.Time{}))
	got := make([]byte, 7)
	_, err = io.ReadFull(self, got)
	require.NoError(t, err)
	require.Equal(t, "waiting", string(got))
}

func TestAddressesOfBothEndsMirrorEachOther(t *testing.T) {
	var n memnet.Network
	defer n.Close()
	client, server := connect(t, &n)
	require.Equal(t, "tcp", client.LocalAddr().Network())
	require.Equal(t, client.LocalAddr(), server.RemoteAddr())
	require.Equal(t, client.RemoteAddr(), server.LocalAddr())
	require.True(t, strings.HasPrefix(server.LocalAddr().String(), "svc.test:"))
	_, err := net.ResolveTCPAddr("tcp", client.LocalAddr().String())
	require.NoError(t, err, "servers parse the address of a client")
}

func TestReadAndWriteDoNotAllocate(t *testing.T) {
	var n memnet.Network
	defer n.Close()
	self, peer := connect(t, &n)
	buf := make([]byte, 512)
	deadline := time.Now().Add(time.Hour)
	round := func() {
		self.SetDeadline(deadline)
		self.Write(buf)
		io.ReadFull(peer, buf)
		self.SetDeadline(time.Time{})
	}
	round() // makes the buffer and the timers
	require.Zero(t, testing.AllocsPerRun(100, round))
}

// requireOpError checks that err is what package net would return.
func requireOpError(t *testing.T, err error, op string, cause error) {
	t.Helper()
	var opErr *net.OpError
	require.ErrorAs(t, err, &opErr)
	require.Equal(t, op, opErr.Op)
	require.Equal(t, "tcp", opErr.Net)
	require.ErrorIs(t, err, cause)
	var number syscall.Errno
	if errors.As(cause, &number) {
		require.IsType(t, &os.SyscallError{}, opErr.Err)
	}
}
