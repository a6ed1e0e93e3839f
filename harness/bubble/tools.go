package bubble

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/harness"
)

// openTools starts the MCP servers that a case's set names.
func openTools(c harness.Case, network *memnet.Network) (*harness.Toolkit, error) {
	return harness.OpenTools(c.Variant.Set.Tools, false, nil, func(server string) (net.Listener, error) { return network.Listen(server + ".test:80") })
}

// pipes starts a server of the kit as a child would be, as often as the server under test asks: its end of the connection is the
// child's input and output.
func pipes(kit *harness.Toolkit, network *memnet.Network) func(server string) (net.Conn, error) {
	var started atomic.Int64 // an address for each, since several may be started at once
	return func(server string) (net.Conn, error) {
		l, err := network.Listen(fmt.Sprintf("%s.child:%d", server, started.Add(1)))
		if err != nil {
			return nil, fmt.Errorf("%s is being started: %w", server, err)
		}
		defer l.Close()
		ours, err := network.DialContext(context.Background(), "tcp", l.Addr().String())
		if err != nil {
			return nil, err
		}
		theirs, err := l.Accept() // at once: it was dialled
		if err == nil {
			err = kit.Pipe(server, theirs)
		}
		if err != nil {
			ours.Close()
			return nil, err
		}
		return ours, nil
	}
}
