package wire_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/wire"
)

// A peer that reads the raw socket can tell every ending from every other.
func TestEndings(t *testing.T) {
	const (
		complete = "last chunk, connection open"
		closed   = "last chunk, fin"
		cut      = "fin"
		reset    = "rst"
	)
	tests := []struct {
		name string
		end  func(x *wire.Exchange)
		want string
	}{
		{"a clean end leaves the connection open", func(x *wire.Exchange) {
			x.Last()
			if c, _, ok := x.Detach(); ok {
				c.Write([]byte("HTTP/1.1 "))
			}
		}, complete},
		{"a clean end with close is a last chunk and a FIN", func(x *wire.Exchange) { x.Last(); x.Close() }, closed},
		{"a cut is a FIN without a last chunk", func(x *wire.Exchange) { x.Cut() }, cut},
		{"a half-close is a FIN without a last chunk", func(x *wire.Exchange) { x.HalfClose() }, cut},
		{"a half-close behind the last chunk is a proper end", func(x *wire.Exchange) { x.Last(); x.HalfClose() }, closed},
		{"a reset is a RST", func(x *wire.Exchange) { x.Reset() }, reset},
	}
	for network, connect := range map[string]pair{"tcp": overTCP, "memnet": overMemnet, "tls": overTLS} {
		for _, test := range tests {
			t.Run(network+": "+test.name, func(t *testing.T) {
				server, peer := connect(t)
				x := wire.New(server, nil, nil)
				defer x.Close()
				head(x)
				_, err := x.Frame(time.Now(), []byte("data: one\n\n"))
				require.NoError(t, err)
				// The peer reads the frame first, which a reset might take from it.
				in := bufio.NewReader(peer)
				require.Equal(t, "data: one", readUntil(t, in, "data: one"))
				require.Equal(t, "\n\n\r\n", readUntil(t, in, "\r\n"))

				test.end(x)

				require.Equal(t, test.want, judge(t, in, complete))
			})
		}
	}
}

func readUntil(t *testing.T, in *bufio.Reader, want string) string {
	t.Helper()
	var got strings.Builder
	for !strings.HasSuffix(got.String(), want) {
		b, err := in.ReadByte()
		require.NoError(t, err, "after %q", got.String())
		got.WriteByte(b)
	}
	if want == "\r\n" {
		return got.String()
	}
	return want
}

// judge reads what is left.
func judge(t *testing.T, in *bufio.Reader, complete string) string {
	t.Helper()
	var words []string
	b, err := in.Peek(5)
	if string(b) == "0\r\n\r\n" {
		words = append(words, "last chunk")
		in.Discard(5)
		if b, err = in.Peek(1); err == nil {
			require.Equal(t, "H", string(b), "the next answer")
			return complete
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		words = append(words, "fin")
	case errors.Is(err, syscall.ECONNRESET):
		words = append(words, "rst")
	default:
		t.Fatalf("peer read %q, then %v", b, err)
	}
	return strings.Join(words, ", ")
}

// After a half-close the exchange goes on reading: the peer's bytes are no reason for a RST, its FIN is heard.
func TestHalfCloseGoesOnReading(t *testing.T) {
	for network, connect := range map[string]pair{"tcp": overTCP, "memnet": overMemnet} {
		t.Run(network, func(t *testing.T) {
			server, peer := connect(t)
			x := wire.New(server, nil, nil)
			defer x.Close()
			require.NoError(t, x.HalfClose())
			_, err := peer.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
			for range 10 {
				_, err = peer.Write([]byte("still here"))
				require.NoError(t, err)
			}
			require.Empty(t, x.How())
			require.ErrorIs(t, x.Put([]byte("more")), wire.ErrLeft)
			require.Empty(t, x.How())
			peer.Close()
			require.ErrorIs(t, x.WaitFor(nil), wire.ErrLeft)
			require.Equal(t, wire.FIN, x.How())
		})
	}
}

func TestHowThePeerLeft(t *testing.T) {
	tests := []struct {
		name  string
		leave func(x *wire.Exchange, peer net.Conn)
		want  wire.Leaving
	}{
		{"a close is a FIN", func(_ *wire.Exchange, peer net.Conn) { peer.Close() }, wire.FIN},
		{"a half-close looks like a close", func(_ *wire.Exchange, peer net.Conn) { peer.(interface{ CloseWrite() error }).CloseWrite() }, wire.FIN},
		{"a reset is a RST", func(_ *wire.Exchange, peer net.Conn) {
			switch c := peer.(type) {
			case *net.TCPConn:
				c.SetLinger(0)
				c.Close()
			case interface{ Reset() error }:
				c.Reset()
			}
		}, wire.RST},
		{"a close on this side is local", func(x *wire.Exchange, _ net.Conn) { x.Close() }, wire.Local},
	}
	for network, connect := range map[string]pair{"tcp": overTCP, "memnet": overMemnet} {
		for _, test := range tests {
			t.Run(network+": "+test.name, func(t *testing.T) {
				server, peer := connect(t)
				x := wire.New(server, nil, nil)
				defer x.Close()
				test.leave(x, peer)
				require.ErrorIs(t, x.Wait(time.Now().Add(time.Hour)), wire.ErrLeft)
				require.Equal(t, test.want, x.How())
			})
		}
	}
}
