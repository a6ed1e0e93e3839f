package script

import (
	"errors"
	"maps"
	"slices"
	"sync"
)

// Gates are the named signals of one session. The zero value works. It is safe for concurrent use.
type Gates struct {
	mu    sync.Mutex
	gates map[string]chan struct{}
}

// Never is the gate that never opens: who waits there waits until the peer leaves, and it is no fault.
const Never = "never"

// Open lets all who wait at the gate go on, now and later. Opening twice is fine; opening [Never] does nothing.
func (g *Gates) Open(name string) {
	if name == Never {
		return
	}
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

// Awaited lists the gates that the steps of a script wait at, each once, in the order of their names.
func (s Script) Awaited() []string {
	return s.gates(func(step Step) (string, bool) { a, ok := step.(Await); return a.Gate, ok })
}

// Opened lists the gates that the steps of a script open, each once, in the order of their names.
func (s Script) Opened() []string {
	return s.gates(func(step Step) (string, bool) { o, ok := step.(Open); return o.Gate, ok })
}

func (s Script) gates(of func(Step) (string, bool)) []string {
	found := map[string]bool{}
	var look func([]Step)
	look = func(steps []Step) {
		for _, step := range steps {
			if r, ok := step.(Repeat); ok {
				look(r.Steps)
			} else if gate, ok := of(step); ok {
				found[gate] = true
			}
		}
	}
	for _, p := range s {
		look(p.Steps)
	}
	return slices.Sorted(maps.Keys(found))
}

// stray says which step of a program is wrong, and why: the function says "" of one that is not.
func stray(steps []Step, wrong func(Step) string) error {
	for i, step := range steps {
		var err error
		if r, ok := step.(Repeat); ok {
			err = stray(r.Steps, wrong)
		} else if why := wrong(step); why != "" {
			err = errors.New(why)
		}
		if err != nil {
			return &misstep{i + 1, step.Kind(), err}
		}
	}
	return nil
}

// unawaited says why an open step does nothing, when no step waits at its gate.
func unawaited(awaited []string) func(Step) string {
	return func(s Step) string {
		if o, ok := s.(Open); ok && !slices.Contains(awaited, o.Gate) {
			return hinted("names the gate "+shown(o.Gate)+", which nothing awaits", meant(o.Gate, awaited))
		}
		return ""
	}
}

// unopened says why an await step waits for ever, when nothing opens its gate.
func unopened(opened []string) func(Step) string {
	return func(s Step) string {
		if a, ok := s.(Await); ok && a.Gate != Never && !slices.Contains(opened, a.Gate) {
			hint := meant(a.Gate, opened)
			if hint == "" {
				hint = "to wait for ever write await: never"
			}
			return hinted("names the gate "+shown(a.Gate)+", which nothing opens", hint)
		}
		return ""
	}
}

func hinted(text, hint string) string {
	if hint != "" {
		text += "; " + hint
	}
	return text
}
