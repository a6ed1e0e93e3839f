package script

import "sync"

// Gates are the named signals of one session. The zero value works. It is safe for concurrent use.
type Gates struct {
	mu    sync.Mutex
	gates map[string]chan struct{}
}

// Open lets all who wait at the gate go on, now and later. Opening twice is fine.
func (g *Gates) Open(name string) {
	c := g.gate(name)
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

// Opened is closed when the gate is open.
func (g *Gates) Opened(name string) <-chan struct{} { return g.gate(name) }

func (g *Gates) gate(name string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gates == nil {
		g.gates = map[string]chan struct{}{}
	}
	c := g.gates[name]
	if c == nil {
		c = make(chan struct{})
		g.gates[name] = c
	}
	return c
}
