package bubble

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/harness"
)

// openPeers starts the fakes that a case's set names. The approver is on this machine: a signed webhook elsewhere needs TLS.
func openPeers(c harness.Case, network *memnet.Network) (*harness.Peers, error) {
	return harness.OpenPeers(c.Variant.Set, false, nil, func(name string) (net.Listener, error) {
		switch name {
		case harness.ApproverName:
			return network.Listen("localhost:9103")
		case harness.CollectorName:
			return network.Listen("collector.test:4318")
		}
		return network.Listen(name + ".test:80")
	})
}

// pipes starts a server of the peers as a child would be, as often as the server under test asks: its end of the connection is the
// child's input and output.
func pipes(peers *harness.Peers, network *memnet.Network) func(server string) (net.Conn, error) {
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
			err = peers.Pipe(server, theirs)
		}
		if err != nil {
			ours.Close()
			return nil, err
		}
		return ours, nil
	}
}
