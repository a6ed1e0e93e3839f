package tools

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// What the zero value of a bound means.
const (
	defaultConnect = 10 * time.Second
	defaultCleanup = 5 * time.Second
	defaultIdle    = 16
	defaultAge     = 10 * time.Minute
)

// dropped is the reason of cancellations when the pool closes what no run holds. There is no call in flight then.
const dropped = "connection closed"

// Pool connects runs to the servers and keeps their connections for later runs of the same caller. Its fields are set before the first
// Lease; the zero value of each works. Its methods are safe for concurrent use.
type Pool struct {
	Servers        []Server
	ConnectTimeout time.Duration // for one server: connect, initialize, list its tools; 0 is 10 s
	CleanupBound   time.Duration // for the cancellations and the closing of one lease; 0 is 5 s
	MaxIdle        int           // leases kept for later; 0 is 16, below 0 none
	MaxAge         time.Duration // of a kept lease since it connected; 0 is 10 min
	// Dial opens the connections of the HTTP transports; nil dials the network, through the environment's proxy if there is one.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Pipe, if set, is asked for a connection in place of starting a child: it carries the input and the output of the server of that
	// name. For tests, in which no process can be waited for.
	Pipe    func(server string) (net.Conn, error)
	Log     *slog.Logger // nil discards
	Version string       // as the servers are told it

	mu     sync.Mutex // never held while waiting
	closed bool
	idle   []*set
	tasks  int           // goroutines of the pool's own, and Leases that connect
	done   chan struct{} // closed when the last of them ends
	life   context.Context
	cut    context.CancelFunc // ends life, so that the tasks cut what they would close
}

// set is the connections of one lease, which the pool passes from lease to lease.
type set struct {
	key     [sha256.Size]byte
	born    time.Time
	slots   []*slot
	status  []Status
	catalog catalog
	expiry  *time.Timer // while idle
}

// slot is one server's place in a set.
type slot struct {
	server Server
	header http.Header

	conn    *conn         // nil when it did not connect
	retired *conn         // whose session expired
	renewal chan struct{} // closed when the attempt to renew conn is over; nil when there was none
}

func (s *set) conns() []*conn {
	var all []*conn
	for _, sl := range s.slots {
		for _, c := range []*conn{sl.conn, sl.retired} {
			if c != nil {
				all = append(all, c)
			}
		}
	}
	return all
}

// sound says whether the set can serve another run: every server is connected and nothing went wrong.
func (s *set) sound() bool {
	for _, sl := range s.slots {
		if sl.conn == nil || sl.retired != nil || !sl.conn.sound() {
			return false
		}
	}
	return true
}

// close takes all connections down in parallel.
func (s *set) close(ctx context.Context, bound time.Duration, reason string) {
	var all sync.WaitGroup
	for _, c := range s.conns() {
		all.Go(func() { c.close(ctx, bound, reason) })
	}
	all.Wait()
}

// Lease gives a run its connections: idle ones of the same caller, else new ones, made in parallel and each bounded by ConnectTimeout.
// header is the client's request's; callers whose forwarded headers differ never share a connection. A server that cannot be reached
// is a [Status] and no error. When ctx ends first, Lease returns its cause at once and the pool closes what was begun; after Close it
// returns an error.
func (p *Pool) Lease(ctx context.Context, header http.Header) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	key := p.key(header)
	s, err := p.take(key)
	if err != nil {
		return nil, err
	}
	if s == nil {
		defer p.leave()
		if s, err = p.connect(ctx, header); err != nil {
			return nil, err
		}
		s.key = key
	}
	return newLease(p, s), nil
}

// key is who the connections are for. It is a digest because the header values are credentials.
func (p *Pool) key(header http.Header) [sha256.Size]byte {
	var values [][]string
	for _, s := range p.Servers {
		for _, name := range slices.Sorted(maps.Keys(s.HeadersFromRequest)) {
			values = append(values, append([]string{s.Name, name}, header.Values(s.HeadersFromRequest[name])...))
		}
	}
	text, _ := json.Marshal(values) // strings cannot fail
	return sha256.Sum256(text)
}

// take gives an idle set of this key. If there is none it gives nil, and enters for the caller, who has to make one.
func (p *Pool) take(key [sha256.Size]byte) (*set, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("tools: the pool is closed")
	}
	for i := len(p.idle) - 1; i >= 0; i-- {
		s := p.idle[i]
		if s.key != key {
			continue
		}
		p.idle = slices.Delete(p.idle, i, i+1)
		s.expiry.Stop()
		if s.sound() {
			return s, nil
		}
		p.discard(s)
	}
	p.enter()
	return nil, nil
}

// keep takes a set for later, and says whether it did.
func (p *Pool) keep(s *set) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit, left := orDefault(p.MaxIdle, defaultIdle), time.Until(s.born.Add(orDefault(p.MaxAge, defaultAge)))
	if p.closed || limit <= 0 || left <= 0 || len(s.slots) == 0 || !s.sound() {
		return false
	}
	if len(p.idle) >= limit { // the oldest is the least likely to be asked for
		p.idle[0].expiry.Stop()
		p.discard(p.idle[0])
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	s.expiry = time.AfterFunc(left, func() { p.expire(s) })
	p.idle = append(p.idle, s)
	return true
}

// Kept is how many leases are kept for later now.
func (p *Pool) Kept() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

func (p *Pool) expire(s *set) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.idle, s); i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		p.discard(s)
	}
}

// Close closes the idle leases and waits for what the pool itself is closing; when ctx ends, that is cut. Leases in use are their
// holders' to end.
func (p *Pool) Close(ctx context.Context) {
	p.mu.Lock()
	p.closed = true
	for _, s := range p.idle {
		s.expiry.Stop()
		p.discard(s)
	}
	p.idle = nil
	tasks, done := p.tasks, p.done
	p.mu.Unlock()
	if tasks == 0 {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
		p.cut()
		<-done
	}
}

// discard closes a set that no lease holds. mu is held.
func (p *Pool) discard(s *set) {
	p.task(func(ctx context.Context) { s.close(ctx, p.cleanupBound(), dropped) })
}

// task runs f on a goroutine that Close waits for. Its context ends when Close may wait no longer. mu is held.
func (p *Pool) task(f func(context.Context)) {
	p.enter()
	go func() {
		defer p.leave()
		f(p.life)
	}()
}

// enter counts in what Close waits for. mu is held.
func (p *Pool) enter() {
	if p.life == nil {
		p.life, p.cut = context.WithCancel(context.Background())
	}
	if p.tasks == 0 {
		p.done = make(chan struct{})
	}
	p.tasks++
}

// leave counts out what enter counted in.
func (p *Pool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tasks--; p.tasks == 0 {
		close(p.done)
	}
}

func (p *Pool) cleanupBound() time.Duration   { return orDefault(p.CleanupBound, defaultCleanup) }
func (p *Pool) connectTimeout() time.Duration { return orDefault(p.ConnectTimeout, defaultConnect) }

func orDefault[T int | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

func (p *Pool) log() *slog.Logger {
	if p.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return p.Log
}

// opened is what became of one server.
type opened struct {
	at   int
	conn *conn
	list *list
	err  error
}

// connect opens connections to all servers.
func (p *Pool) connect(ctx context.Context, header http.Header) (*set, error) {
	s := &set{born: time.Now(), catalog: catalog{targets: make(map[string]target)}}
	for _, server := range p.Servers {
		s.slots = append(s.slots, &slot{server: server, header: forwarded(server, header)})
	}
	results := make(chan opened, len(s.slots))
	for i, sl := range s.slots {
		p.mu.Lock()
		p.task(func(life context.Context) {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer context.AfterFunc(life, func() { cancel(errClosed) })()
			conn, list, err := p.reach(ctx, sl.server, sl.header)
			results <- opened{i, conn, list, err}
		})
		p.mu.Unlock()
	}
	all := make([]opened, len(s.slots))
	for got := range len(s.slots) {
		select {
		case o := <-results:
			all[o.at] = o
		case <-ctx.Done():
			p.abandon(all, results, len(s.slots)-got)
			return nil, context.Cause(ctx)
		}
	}
	for _, o := range all {
		s.slots[o.at].conn = o.conn
		s.status = append(s.status, p.state(s, o))
	}
	return s, nil
}

// state takes a server's tools into the catalog and says what became of it.
func (p *Pool) state(s *set, o opened) Status {
	sl := s.slots[o.at]
	status := Status{Server: sl.server.Name, Connected: o.err == nil}
	if o.err != nil {
		status.Error = o.err.Error()
		p.log().Warn("MCP server is not connected", "server", sl.server.Name, "error", status.Error)
		return status
	}
	status.Tools = s.catalog.add(sl.server.Name, sl, o.list)
	status.Error = o.list.note()
	return status
}

// abandon closes what was opened for nobody, and what still comes.
func (p *Pool) abandon(all []opened, results <-chan opened, coming int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.task(func(ctx context.Context) {
		for range coming {
			all = append(all, <-results)
		}
		s := &set{}
		for _, o := range all {
			s.slots = append(s.slots, &slot{conn: o.conn})
		}
		s.close(ctx, p.cleanupBound(), dropped)
	})
}

// reach opens one connection and reads its tools, within one window. What it cannot open it closes in the background.
func (p *Pool) reach(ctx context.Context, server Server, header http.Header) (*conn, *list, error) {
	ctx, stop := p.window(ctx)
	defer stop()
	conn, err := p.dial(ctx, server, header)
	if err != nil {
		return nil, nil, err
	}
	l, err := conn.list(ctx)
	if err != nil {
		p.drop(conn)
		return nil, nil, err
	}
	return conn, l, nil
}

// dial opens one connection, up to the end of its handshake.
func (p *Pool) dial(ctx context.Context, server Server, header http.Header) (*conn, error) {
	conn, err := newConn(server, header, p.Dial, p.Pipe)
	if err != nil {
		return nil, err
	}
	if err := conn.open(ctx, p.connectTimeout(), p.Version); err != nil {
		p.drop(conn)
		return nil, err
	}
	return conn, nil
}

func (p *Pool) window(ctx context.Context) (context.Context, context.CancelFunc) {
	w := p.connectTimeout()
	return context.WithTimeoutCause(ctx, w, fmt.Errorf("not connected within %v", w))
}

// drop closes a connection that failed. What a child said last is for the operator alone.
func (p *Pool) drop(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.task(func(ctx context.Context) {
		c.close(ctx, p.cleanupBound(), dropped)
		if c.child == nil {
			return
		}
		if said := clean(c.child.said.String(), c.secrets); said != "" {
			p.log().Warn("MCP server failed", "server", c.server.Name, "stderr", said)
		}
	})
}
