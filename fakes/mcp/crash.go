package mcp

import (
	"maps"
	"slices"

	"github.com/stallwright/stallwright/fakes/wire"
)

// crash ends all that a process takes with it when it dies.
func (c *call) crash() error {
	f := c.f
	c.record(Crash{}.Kind(), "")
	f.mu.Lock()
	for _, p := range slices.Collect(maps.Values(f.peers)) {
		f.drop(p, c.owner, "lost")
	}
	f.common = nil
	clear(f.resumed)
	f.finished = nil
	conns := slices.Collect(maps.Keys(f.conns))
	pipes := slices.Collect(maps.Values(f.pipes))
	var others []*call
	for _, s := range f.sessions {
		for other := range s.current {
			if other != c {
				others = append(others, other)
			}
		}
	}
	f.mu.Unlock()
	for _, cn := range conns {
		wire.ResetConn(cn)
	}
	for _, stop := range pipes {
		stop()
	}
	for _, other := range others {
		other.halt()
	}
	return errStopped
}
