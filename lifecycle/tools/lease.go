package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"
)

// ended is the reason of the cancellations when a run that ended by itself left calls in flight.
const ended = "run ended"

// Lease is a run's own connections. Its methods are safe for concurrent use. It is ended once, by Cleanup or Return.
type Lease struct {
	pool *Pool
	set  *set

	ctx    context.Context // of renewals
	cancel context.CancelFunc

	mu   sync.Mutex // guards the set's slots and over; never held while waiting
	over bool
	wg   sync.WaitGroup // renewals
}

func newLease(p *Pool, s *set) *Lease {
	l := &Lease{pool: p, set: s}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Status says how each server answered, in the order of the configuration.
func (l *Lease) Status() []Status { return slices.Clone(l.set.status) }

// Tools lists the tools of all connected servers, in the order of the configuration and of their lists.
func (l *Lease) Tools() []Tool { return slices.Clone(l.set.catalog.tools) }

// Call calls a tool and waits for its answer. What the tool or its server calls an error is a Result; [ErrUnknownTool] and arguments
// that are no JSON object were not sent; any other error is a [TransportError]. When ctx ends, Call returns its cause at once. If that
// is a [GivenUp], the request is cancelled now; else it stays in flight until its answer or Cleanup.
//
// With a token, one that no other running call has, progress is called for what the server reports, in its order and on the caller's
// goroutine. While it works, the connection is read on and only the latest 64 reports are kept.
func (l *Lease) Call(ctx context.Context, c Call, token string, progress func(Progress)) (Result, error) {
	t, known := l.set.catalog.targets[c.Name]
	if !known {
		return Result{}, ErrUnknownTool
	}
	arguments := json.RawMessage(bytes.TrimSpace(c.Arguments))
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if arguments[0] != '{' || !json.Valid(arguments) {
		return Result{Text: "the arguments are not a JSON object", IsError: true}, nil
	}
	conn, err := l.begin(ctx, t.slot)
	if err != nil {
		return Result{}, err
	}
	var box mailbox
	if progress != nil {
		box = conn.link.watch(token)
	}
	if box == nil {
		token = ""
	}
	answers := make(chan answer, 1)
	o := &outcome{}
	go func() {
		defer conn.wg.Done()
		defer conn.link.unwatch(token)
		r, err := conn.call(t.name, arguments, token, o)
		answers <- answer{r, err}
	}()
	got, err := await(ctx, answers, box, progress)
	var given GivenUp
	switch {
	case errors.As(err, &given):
		l.giveUp(conn, o, given.CancelReason())
		return Result{}, err
	case err != nil:
		return Result{}, err
	case errors.Is(got.err, errExpired):
		return Result{}, l.renew(ctx, t.slot, conn)
	}
	return got.result, got.err
}

// GivenUp is the cause of a call's context when the call is over and its run is not: the call is then cancelled at once, under its own
// id, and not again by Cleanup.
type GivenUp interface {
	error
	CancelReason() string // as the server is told it
}

// giveUp cancels one call, without waiting for its server. Once the lease is over, Cleanup does.
func (l *Lease) giveUp(c *conn, o *outcome, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	ex, told := c.link.giveUp(o)
	if ex == nil {
		return
	}
	c.wg.Add(1)
	go func() {
		defer c.wg.Done()
		c.giveUp(ex, told, l.pool.cleanupBound(), reason)
	}()
}

type answer struct {
	result Result
	err    error
}

// await passes progress on until the answer, and before the answer all that came before it.
func await(ctx context.Context, answers <-chan answer, box mailbox, progress func(Progress)) (answer, error) {
	for {
		if ctx.Err() != nil {
			return answer{}, context.Cause(ctx)
		}
		select {
		case <-ctx.Done():
		case p := <-box:
			progress(p)
		case a := <-answers:
			for ctx.Err() == nil {
				select {
				case p := <-box:
					progress(p)
					continue
				default:
				}
				return a, nil
			}
		}
	}
}

// begin counts a call in and gives the connection it is for. While the session is being renewed, it waits.
func (l *Lease) begin(ctx context.Context, s *slot) (*conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	renewal := s.renewal
	l.mu.Unlock()
	if renewal != nil {
		select {
		case <-renewal:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil, errOver
	}
	s.conn.wg.Add(1)
	return s.conn, nil
}

// renew begins a new session in the place of one that expired, once a lease, and returns the error of the call that found it expired.
// The call itself is not made again: it may have run.
func (l *Lease) renew(ctx context.Context, s *slot, expired *conn) error {
	lost := &TransportError{Server: s.server.Name, Message: errExpired.Error()}
	l.mu.Lock()
	if l.over || s.renewal != nil || s.conn != expired {
		l.mu.Unlock()
		return lost
	}
	done := make(chan struct{})
	s.renewal = done
	l.wg.Add(1)
	l.mu.Unlock()
	go func() {
		defer l.wg.Done()
		defer close(done)
		server := s.server
		server.Revision = expired.client.ProtocolVersion()
		window, stop := l.pool.window(l.ctx)
		defer stop()
		fresh, err := l.pool.dial(window, server, s.header)
		if err != nil {
			l.pool.log().Warn("MCP session is not renewed", "server", server.Name, "error", err)
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		s.retired, s.conn = expired, fresh
	}()
	select {
	case <-done:
		return lost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Cleanup ends the lease: each call in flight is cancelled once with this reason, then the connections, sessions and children are
// closed, all servers in parallel and until the deadline of ctx, or without one within the pool's CleanupBound. When ctx ends, what is
// left is cut. After Cleanup nothing of the lease is left. On a lease that is over it does nothing.
func (l *Lease) Cleanup(ctx context.Context, reason string) {
	bound := l.pool.cleanupBound()
	if deadline, ok := ctx.Deadline(); ok {
		bound = time.Until(deadline)
	}
	if l.end() {
		l.set.close(ctx, bound, reason)
	}
}

// Return ends the lease and gives its connections back to the pool, if all are sound and no call is in flight; else it is a Cleanup.
func (l *Lease) Return() {
	if l.end() && !l.pool.keep(l.set) {
		l.set.close(context.Background(), l.pool.cleanupBound(), ended)
	}
}

// end says whether the lease was not over before. No call begins any more, and renewals have ended.
func (l *Lease) end() bool {
	l.mu.Lock()
	was := l.over
	l.over = true
	l.mu.Unlock()
	l.cancel()
	l.wg.Wait()
	return !was
}
