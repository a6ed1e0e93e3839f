package memnet_test

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stretchr/testify/require"
)

func TestBlockedCallsLetVirtualTimePass(t *testing.T) {
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		n := memnet.Network{Buffer: 100}
		defer n.Close()
		self, peer := connect(t, &n)
		start := time.Now()

		var all sync.WaitGroup
		// Three at once: those that wait for their turn must not hold time either.
		for range 3 {
			all.Go(func() {
				k, err := self.Write(make([]byte, 1000))
				require.NoError(t, err)
				require.Equal(t, 1000, k)
			})
		}
		all.Go(func() {
			_, err := self.Read(make([]byte, 1))
			require.NoError(t, err)
			require.Equal(t, 10*time.Minute, time.Since(start))
		})
		time.Sleep(10 * time.Minute)
		write(t, peer, "x")
		_, err := io.ReadFull(peer, make([]byte, 3000))
		require.NoError(t, err)
		all.Wait()
		require.Equal(t, 10*time.Minute, time.Since(start))
	})
	require.Less(t, time.Since(began), 10*time.Second, "ten virtual minutes must cost nothing")
}

func TestFullBufferHoldsTheWriterUntilItIsRead(t *testing.T) {
	for _, tt := range []struct {
		name   string
		buffer int
		holds  int
	}{
		{"with a buffer of one byte", 1, 1},
		{"with a small buffer", 1500, 1500},
		{"with the default buffer", 0, 64 << 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := memnet.Network{Buffer: tt.buffer}
				defer n.Close()
				self, peer := connect(t, &n)
				require.NoError(t, self.SetWriteDeadline(time.Now().Add(time.Minute)))
				k, err := self.Write(make([]byte, tt.holds+1))
				require.Equal(t, tt.holds, k, "what went in before the deadline")
				requireOpError(t, err, "write", os.ErrDeadlineExceeded)

				require.NoError(t, self.SetWriteDeadline(time.Time{}))
				written := make(chan error)
				go func() {
					_, err := self.Write([]byte{1})
					written <- err
				}()
				synctest.Wait()
				select {
				case <-written:
					t.Fatal("a write ended while the buffer was full")
				default:
				}
				_, err = peer.Read(make([]byte, 1))
				require.NoError(t, err)
				require.NoError(t, <-written)
			})
		})
	}
}

func TestDeadlineEndsABlockedCallAtItsInstant(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(c *memnet.Conn, start time.Time) // called before the call blocks
		move func(c *memnet.Conn, start time.Time) // called a second after
		want time.Duration
	}{
		{
			"set before",
			func(c *memnet.Conn, start time.Time) { c.SetDeadline(start.Add(time.Minute)) },
			nil, time.Minute,
		},
		{
			"set while it blocks",
			nil,
			func(c *memnet.Conn, start time.Time) { c.SetDeadline(start.Add(time.Minute)) },
			time.Minute,
		},
		{
			"put off while it blocks",
			func(c *memnet.Conn, start time.Time) { c.SetDeadline(start.Add(time.Minute)) },
			func(c *memnet.Conn, start time.Time) { c.SetDeadline(start.Add(time.Hour)) },
			time.Hour,
		},
		{
			"brought forward while it blocks",
			func(c *memnet.Conn, start time.Time) { c.SetDeadline(start.Add(time.Hour)) },
			func(c *memnet.Conn, start time.Time) { c.SetDeadline(start.Add(time.Minute)) },
			time.Minute,
		},
		{
			"set in the past while it blocks",
			nil,
			func(c *memnet.Conn, start time.Time) { c.SetDeadline(start) },
			time.Second,
		},
		{
			"cleared and set again while it blocks",
			func(c *memnet.Conn, start time.Time) { c.SetDeadline(start.Add(time.Minute)) },
			func(c *memnet.Conn, start time.Time) {
				c.SetDeadline(time.Time{})
				c.SetDeadline(start.Add(2 * time.Minute))
			},
			2 * time.Minute,
		},
	} {
		for _, call := range []string{"read", "write"} {
			t.Run(tt.name+", "+call, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := memnet.Network{Buffer: 1}
					defer n.Close()
					self, _ := connect(t, &n)
					start := time.Now()
					if tt.set != nil {
						tt.set(self, start)
					}
					ended := make(chan error)
					go func() {
						ended <- blocked(self, call)
					}()
					time.Sleep(time.Second)
					if tt.move != nil {
						tt.move(self, start)
					}
					requireOpError(t, <-ended, call, os.ErrDeadlineExceeded)
					require.Equal(t, tt.want, time.Since(start))
				})
			})
		}
	}
}

// blocked makes a call that waits on a connection with a buffer of one byte.
func blocked(c *memnet.Conn, call string) error {
	var err error
	if call == "read" {
		_, err = c.Read(make([]byte, 1))
	} else {
		_, err = c.Write(make([]byte, 2))
	}
	return err
}

func TestBlockedCallEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		call string
		act  func(n *memnet.Network, self, peer *memnet.Conn)
		want error
	}{
		{"a read when its end is closed", "read", func(_ *memnet.Network, self, _ *memnet.Conn) { self.Close() }, net.ErrClosed},
		{"a read when its end is reset", "read", func(_ *memnet.Network, self, _ *memnet.Conn) { self.Reset() }, net.ErrClosed},
		{"a read when the peer resets", "read", func(_ *memnet.Network, _, peer *memnet.Conn) { peer.Reset() }, syscall.ECONNRESET},
		{"a read when the network is closed", "read", func(n *memnet.Network, _, _ *memnet.Conn) { n.Close() }, nil},
		{"a write when its end is closed", "write", func(_ *memnet.Network, self, _ *memnet.Conn) { self.Close() }, net.ErrClosed},
		{"a write when its end is half-closed", "write", func(_ *memnet.Network, self, _ *memnet.Conn) { self.CloseWrite() }, syscall.EPIPE},
		{"a write when the peer resets", "write", func(_ *memnet.Network, _, peer *memnet.Conn) { peer.Reset() }, syscall.ECONNRESET},
		{"a write when the peer closes, since bytes were not read", "write", func(_ *memnet.Network, _, peer *memnet.Conn) { peer.Close() }, syscall.ECONNRESET},
		{"a write when the network is closed", "write", func(n *memnet.Network, _, _ *memnet.Conn) { n.Close() }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := memnet.Network{Buffer: 1}
				defer n.Close()
				self, peer := connect(t, &n)
				ended := make(chan error)
				go func() { ended <- blocked(self, tt.call) }()
				synctest.Wait()
				tt.act(&n, self, peer)
				err := <-ended
				if tt.want == nil { // which end is reset first is not told
					require.Error(t, err)
					return
				}
				requireOpError(t, err, tt.call, tt.want)
			})
		})
	}
}

func TestClosingTheNetworkEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := memnet.Network{Buffer: 10}
		idle, err := n.Listen("idle.test:80")
		require.NoError(t, err)
		full, err := n.Listen("full.test:80")
		require.NoError(t, err)
		fill(t, &n, full)

		var all sync.WaitGroup
		fails := func(f func() error) {
			all.Go(func() { require.Error(t, f()) })
		}
		fails(func() error { _, err := idle.Accept(); return err })
		fails(func() error {
			_, err := n.DialContext(context.Background(), "tcp", "full.test:80")
			return err
		})
		for range 10 {
			self, peer := connect(t, &n)
			quiet, _ := connect(t, &n)
			fails(func() error { _, err := quiet.Read(make([]byte, 1)); return err })
			fails(func() error { _, err := self.Write(make([]byte, 100)); return err })
			fails(func() error { _, err := self.Write(make([]byte, 100)); return err })
			fails(func() error { _, err := peer.Write(make([]byte, 100)); return err })
			require.NoError(t, peer.SetDeadline(time.Now().Add(time.Hour)))
		}
		synctest.Wait()
		n.Close()
		all.Wait()
		require.Zero(t, n.Open(), n.Conns())
	})
}

func TestFullBacklogHoldsTheDial(t *testing.T) {
	for _, tt := range []struct {
		name string
		act  func(l *memnet.Listener)
		want error // nil if the dial succeeds
		took time.Duration
	}{
		{"until its context ends", func(*memnet.Listener) {}, context.DeadlineExceeded, time.Minute},
		{"until the listener closes", func(l *memnet.Listener) { l.Close() }, syscall.ECONNREFUSED, time.Second},
		{"until a connection is accepted", func(l *memnet.Listener) { l.Accept() }, nil, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n memnet.Network
				defer n.Close()
				l, err := n.Listen("svc.test:80")
				require.NoError(t, err)
				fill(t, &n, l)

				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				start := time.Now()
				dialled := make(chan error)
				go func() {
					_, err := n.DialContext(ctx, "tcp", "svc.test:80")
					dialled <- err
				}()
				time.Sleep(time.Second)
				tt.act(l)
				err = <-dialled
				require.Equal(t, tt.took, time.Since(start))
				if tt.want == nil {
					require.NoError(t, err)
					return
				}
				requireOpError(t, err, "dial", tt.want)
				if tt.want == context.DeadlineExceeded {
					require.True(t, err.(net.Error).Timeout())
					require.Equal(t, 2*1024, n.Open(), "the dial given up leaves nothing")
				}
			})
		})
	}
}

// fill dials until the backlog of l has no room.
func fill(t *testing.T, n *memnet.Network, l *memnet.Listener) {
	t.Helper()
	for range 1024 {
		_, err := n.DialContext(context.Background(), "tcp", l.Addr().String())
		require.NoError(t, err)
	}
}

func TestRacingDialsAndCloseLeaveNothing(t *testing.T) {
	for range 50 {
		var n memnet.Network
		l, err := n.Listen("svc.test:80")
		require.NoError(t, err)
		var all sync.WaitGroup
		all.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		})
		for range 8 {
			all.Go(func() {
				c, err := n.DialContext(context.Background(), "tcp", "svc.test:80")
				if err != nil {
					return
				}
				io.Copy(io.Discard, c)
				c.Close()
			})
		}
		all.Go(func() { l.Close() })
		all.Wait()
		require.Zero(t, n.Open(), n.Conns())
	}
}
