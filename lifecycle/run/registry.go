package run

import "sync"

// Registry knows the running runs of a server, and whether it still admits new ones. All methods are safe for concurrent use.
type Registry struct {
	mu       sync.Mutex
	runs     map[*Run]struct{}
	draining bool
	idle     chan struct{} // closed while no run is registered
}

// NewRegistry makes an empty registry that admits runs.
func NewRegistry() *Registry {
	idle := make(chan struct{})
	close(idle)
	return &Registry{runs: make(map[*Run]struct{}), idle: idle}
}

// Admit registers a run. It reports false, and registers nothing, once the registry drains.
func (g *Registry) Admit(r *Run) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.draining {
		return false
	}
	if len(g.runs) == 0 {
		g.idle = make(chan struct{})
	}
	g.runs[r] = struct{}{}
	return true
}

// Release takes a run out. Releasing twice is harmless.
func (g *Registry) Release(r *Run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, registered := g.runs[r]; !registered {
		return
	}
	delete(g.runs, r)
	if len(g.runs) == 0 {
		close(g.idle)
	}
}

// Drain makes every later Admit report false. It cannot be taken back.
func (g *Registry) Drain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.draining = true
}

// Draining says whether Drain was called.
func (g *Registry) Draining() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.draining
}

// Running lists the runs registered now, in no order.
func (g *Registry) Running() []*Run {
	g.mu.Lock()
	defer g.mu.Unlock()
	running := make([]*Run, 0, len(g.runs))
	for r := range g.runs {
		running = append(running, r)
	}
	return running
}

// Idle is closed once no run is registered. While the registry drains that is final; before, a later Admit makes a new channel.
func (g *Registry) Idle() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.idle
}
