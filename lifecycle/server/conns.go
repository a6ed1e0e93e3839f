package server

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// connections follows the connections of the HTTP server, which itself tells nobody when an answer's last bytes have left or when a
// connection's goroutine ends.
type connections struct {
	mu      sync.Mutex
	limit   int               // above which a connection is surplus; 0 is no limit
	surplus map[net.Conn]bool // those that came above the limit
	room    chan struct{}     // closed while there is room for one more, be it surplus
	open    map[net.Conn]bool // true while an answer is in hand: from its handler's start until its last byte was handed to the network
	inHand  int
	settled chan struct{} // closed while no answer is in hand
	gone    chan struct{} // closed while no connection is open
}

// maxSurplus is how many connections above the limit are accepted to be told so. More wait in the system's queue until one of them is over.
const maxSurplus = 64

func newConnections(limit int) *connections {
	c := &connections{
		limit: limit, surplus: make(map[net.Conn]bool), open: make(map[net.Conn]bool),
		room: make(chan struct{}), settled: make(chan struct{}), gone: make(chan struct{}),
	}
	close(c.room)
	close(c.settled)
	close(c.gone)
	return c
}

// changed is the HTTP server's ConnState hook.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.add(conn)
	case http.StateIdle:
		c.settle(conn)
	case http.StateClosed, http.StateHijacked:
		c.settle(conn)
		c.remove(conn)
	}
}

// begin marks that an answer on conn is in hand.
func (c *connections) begin(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if inHand, open := c.open[conn]; !open || inHand {
		return
	}
	c.open[conn] = true
	if c.inHand == 0 {
		c.settled = make(chan struct{})
	}
	c.inHand++
}

// forget stops waiting for a connection whose handler will not return.
func (c *connections) forget(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(conn)
	c.remove(conn)
}

// count is how many connections are open.
func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// tooMany says whether a connection came when there were as many as the limit says.
func (c *connections) tooMany(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.surplus[conn]
}

// roomy is closed once one more connection may be accepted.
func (c *connections) roomy() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.room
}

// allSettled is closed once no answer is in hand.
func (c *connections) allSettled() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settled
}

// allGone is closed once no connection is open.
func (c *connections) allGone() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

func (c *connections) add(conn net.Conn) {
	if len(c.open) == 0 {
		c.gone = make(chan struct{})
	}
	c.open[conn] = false
	if c.limit == 0 {
		return
	}
	if len(c.open)-len(c.surplus) > c.limit {
		c.surplus[conn] = true
	}
	if len(c.surplus) == maxSurplus {
		c.room = make(chan struct{})
	}
}

func (c *connections) settle(conn net.Conn) {
	if !c.open[conn] {
		return
	}
	c.open[conn] = false
	c.inHand--
	if c.inHand == 0 {
		close(c.settled)
	}
}

func (c *connections) remove(conn net.Conn) {
	if _, open := c.open[conn]; !open {
		return
	}
	delete(c.open, conn)
	if c.surplus[conn] {
		if len(c.surplus) == maxSurplus {
			close(c.room)
		}
		delete(c.surplus, conn)
	}
	if len(c.open) == 0 {
		close(c.gone)
	}
}

type connKey struct{}

func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// connOf is the connection a request came on.
func connOf(r *http.Request) net.Conn {
	return r.Context().Value(connKey{}).(net.Conn)
}
