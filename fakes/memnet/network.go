// Package memnet is a network in memory: listeners with addresses, and connections
// that behave like Linux TCP over loopback down to the errors they report.
//
//	client Conn --Write--> [ half: up to Buffer bytes ] --Read--> server Conn
//	client Conn <--Read--- [ half: up to Buffer bytes ] <--Write- server Conn
//
// Every wait is on a channel or a sync.Cond, so inside a testing/synctest bubble a
// blocked call lets virtual time pass. A [Network] used in a bubble must be used in
// that bubble alone. See [Conn] for what differs from TCP.
package memnet

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// defaultBuffer is near what Linux grants a loopback socket before it starts to grow
// the window, so a writer stalls after about as many bytes as it would there.
const defaultBuffer = 64 << 10

// The range Linux gives out by default: its ports cannot be taken for a service's.
const (
	firstPort = 32768
	ports     = 60999 - firstPort + 1
)

// Network joins listeners and dialers by address. The zero value is an empty network
// ready to use. Its methods may be called from several goroutines at once.
type Network struct {
	// Buffer is how many bytes one direction of a connection holds before Write blocks;
	// 0 or less means 64 KiB. It is read when a connection is dialled.
	Buffer int

	mu        sync.Mutex
	closed    bool
	listeners map[string]*Listener
	conns     map[*Conn]struct{}
	given     int // ephemeral ports handed out so far
}

// Listen starts listening on addr, a "host:port" whose host is any name or IP address;
// port 0 picks a free one, which [Listener.Addr] tells. Names are not resolved: an
// address is reached under the host it was given, in upper or lower case, and an empty
// host is refused since there is no wildcard. Errors are a *net.OpError: EADDRINUSE if
// the address is taken, ENETDOWN after [Network.Close].
func (n *Network) Listen(addr string) (*Listener, error) {
	host, port, err := parse(addr)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: err}
	}

	n.mu.Lock()
	defer n.mu.Unlock()
	at := join(host, port)
	if port == 0 {
		at = n.freeLocked(host)
	}
	if n.closed {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: at, Err: os.NewSyscallError("socket", syscall.ENETDOWN)}
	}
	if n.listeners[at.String()] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: at, Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	l := &Listener{
		network: n,
		at:      at,
		backlog: make(chan *Conn, backlog),
		closed:  make(chan struct{}),
	}
	if n.listeners == nil {
		n.listeners = make(map[string]*Listener)
	}
	n.listeners[at.String()] = l
	return l, nil
}

// freeLocked picks a port of host on which nothing listens. When all are taken it
// returns one in use, for Listen to refuse.
func (n *Network) freeLocked(host string) address {
	var at address
	for range ports {
		at = join(host, firstPort+n.given%ports)
		n.given++
		if n.listeners[at.String()] == nil {
			break
		}
	}
	return at
}

// DialContext connects to addr, a "host:port"; network is "tcp", "tcp4" or "tcp6", which
// mean the same here. It returns as soon as the connection is queued, as TCP does, not
// when it is accepted; while the listener's backlog is full it waits until ctx ends.
// The connection is a [*Conn]. Errors are a *net.OpError: ECONNREFUSED if nothing
// listens on addr or the listener closes meanwhile, ctx.Err() if ctx ended, ENETDOWN
// after [Network.Close].
func (n *Network) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, &net.OpError{Op: "dial", Net: network, Err: net.UnknownNetworkError(network)}
	}
	host, port, err := parse(addr)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	at := join(host, port)
	c, err := n.dial(ctx, at)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: at, Err: err}
	}
	return c, nil
}

func (n *Network) dial(ctx context.Context, at address) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server, l, err := n.connect(at)
	if err != nil {
		return nil, err
	}
	if err := l.offer(ctx, server); err != nil {
		client.Reset()
		server.Reset()
		return nil, err
	}
	return client, nil
}

// connect makes and registers both ends of a connection to the listener at.
func (n *Network) connect(at address) (client, server *Conn, l *Listener, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, nil, nil, os.NewSyscallError("connect", syscall.ENETDOWN)
	}
	l = n.listeners[at.String()]
	if l == nil {
		return nil, nil, nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}

	size := n.Buffer
	if size <= 0 {
		size = defaultBuffer
	}
	up, down := newHalf(size), newHalf(size)
	from := n.sourceLocked()
	client = &Conn{network: n, in: down, out: up, local: from, remote: at}
	server = &Conn{network: n, in: up, out: down, local: at, remote: from}
	if n.conns == nil {
		n.conns = make(map[*Conn]struct{})
	}
	n.conns[client] = struct{}{}
	n.conns[server] = struct{}{}
	return client, server, l, nil
}

// sourceLocked returns an address for a dialer. It is an IP address since servers parse
// it, and no two dials share one: when the ports are used up the next host follows.
func (n *Network) sourceLocked() address {
	host := 1 + n.given/ports
	port := firstPort + n.given%ports
	n.given++
	return join(net.IPv4(10, byte(host>>16), byte(host>>8), byte(host)).String(), port)
}

// Open returns how many ends of connections are not closed: two for each connection at
// first. Ends that wait in a backlog count, and so do both ends of a dial that waits
// for room in one. It is 0 when everybody has closed what they dialled or accepted.
func (n *Network) Open() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.conns)
}

// Conns describes the ends that [Network.Open] counts as "local -> remote", sorted.
func (n *Network) Conns() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := make([]string, 0, len(n.conns))
	for c := range n.conns {
		lines = append(lines, fmt.Sprintf("%v -> %v", c.local, c.remote))
	}
	slices.Sort(lines)
	return lines
}

// Close closes all listeners and resets both ends of all connections, so that every call
// in progress returns an error; Open is 0 afterwards and stays so. Closing again does
// nothing. A closed network cannot be opened again.
func (n *Network) Close() {
	n.mu.Lock()
	n.closed = true
	listeners := make([]*Listener, 0, len(n.listeners))
	for _, l := range n.listeners {
		listeners = append(listeners, l)
	}
	conns := make([]*Conn, 0, len(n.conns))
	for c := range n.conns {
		conns = append(conns, c)
	}
	n.mu.Unlock()

	// An error says that the owner closed it first, which is as good.
	for _, l := range listeners {
		l.Close()
	}
	for _, c := range conns {
		c.Reset()
	}
}

// forget drops a closed connection from the count.
func (n *Network) forget(c *Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c)
}

// remove frees the address of l. It returns false if l was removed before.
func (n *Network) remove(l *Listener) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[l.at.String()] != l {
		return false
	}
	delete(n.listeners, l.at.String())
	return true
}

// address is a "host:port". It is not a *net.TCPAddr because that cannot hold a name.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

func join(host string, port int) address {
	return address(net.JoinHostPort(host, strconv.Itoa(port)))
}

// parse splits addr in the form under which listeners are kept.
func parse(addr string) (host string, port int, err error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	if host == "" {
		return "", 0, &net.AddrError{Err: "missing host in address", Addr: addr}
	}
	number, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return "", 0, &net.AddrError{Err: "invalid port in address", Addr: addr}
	}
	return strings.ToLower(host), int(number), nil
}
