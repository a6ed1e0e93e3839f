package process

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
)

// What time is worth on a real clock.
const (
	// slack covers a timer, some wake-ups and two loopback hops on two busy cores with the race detector on.
	slack = 200 * time.Millisecond
	// once is the limit that the guarantees themselves give to "at once" on a real clock.
	once = time.Second
	// tick is above slack, so that a step before or after a window is surely so, and below every window that a
	// scenario steps into.
	tick = 300 * time.Millisecond
	// rest is above slack: what a scenario's last step brings about at once is still recorded.
	rest = 250 * time.Millisecond
	// flood is above what the two socket buffers of one connection hold: on Linux the writer's grows to 4 MiB, and
	// that of a reader who read fast before it stopped to 32 MiB. A test fills a connection to see.
	flood = 64 << 20
)

// patience is above the longest clock, with as much again for what a scenario puts before it, and some for a busy
// machine: 12 s for the short windows.
func (h host) patience() time.Duration { return 2*h.usual.Longest() + 3*time.Second }

// stage is where one trial plays on a host.
func (h host) stage(fake *provider.Provider, lacks map[harness.Feature]harness.Lack, l *links) *harness.Stage {
	return &harness.Stage{
		Windows: h.windows, Usual: h.usual, Slack: slack, Once: once, Tick: tick, Patience: h.patience(), Rest: rest, Flood: flood,
		Lacks: lacks, Timeline: timeline.New(), Provider: fake, Dial: l.dial, Address: h.address, Base: h.base,
		Settle: settle, Census: func() map[harness.Feature]int { return nil },
	}
}

// settle lets the slack go by: in real time nobody can tell when a server has nothing left to do.
func settle() {
	timer := time.NewTimer(slack)
	defer timer.Stop()
	<-timer.C
}

// links are the connections of one trial's caller, kept so that they can be cut from outside.
type links struct {
	dialer net.Dialer

	mu    sync.Mutex
	isCut bool
	conns []net.Conn
}

// dial hands out the connection itself: the caller resets what is a *net.TCPConn.
func (l *links) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := l.dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut {
		conn.Close()
		return nil, net.ErrClosed
	}
	l.conns = append(l.conns, conn)
	return conn, nil
}

// cut closes all connections, those to come as well.
func (l *links) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for _, c := range l.conns {
		c.Close()
	}
}
