package provider

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
)

func (pl *play) await(gate string) error {
	defer pl.stands(fmt.Sprintf("at the gate %.200q", gate))()
	pl.record(script.Await{}.Kind(), gate)
	return pl.waitFor(pl.s.gates.Opened(gate))
}

// waitFor waits for a channel to be closed. What follows is counted from then; a channel that was closed before took
// no time.
func (pl *play) waitFor(open <-chan struct{}) error {
	select {
	case <-open:
		return nil
	default:
	}
	if err := pl.x.WaitFor(open); err != nil {
		return err
	}
	pl.due = time.Now()
	return nil
}

// stands notes where the exchange waits, until what it returns is called. It comes before the event: whoever has seen that
// may ask.
func (pl *play) stands(place string) (leave func()) {
	set := func(place string) {
		pl.mu.Lock()
		pl.waits = place
		pl.mu.Unlock()
	}
	set(place)
	return func() { set("") }
}

// Waiting says, as sentences, which exchanges of a session wait at a gate or a barrier now: what Release would end before
// its steps are over. It is empty for an unknown marker.
func (p *Provider) Waiting(marker string) []string {
	p.mu.Lock()
	var running []*play
	if s := p.sessions[marker]; s != nil {
		running = s.running()
	}
	p.mu.Unlock()
	slices.SortFunc(running, func(a, b *play) int { return cmp.Compare(a.ordinal, b.ordinal) })
	var list []string
	for _, pl := range running {
		pl.mu.Lock()
		if pl.waits != "" {
			list = append(list, fmt.Sprintf("request %d waits %s", pl.ordinal, pl.waits))
		}
		pl.mu.Unlock()
	}
	return list
}

// barrier is where exchanges of a session wait for each other. The provider's mutex guards it.
type barrier struct {
	waiting int
	open    chan struct{} // closed when enough are there
}

// meet waits at a barrier. One that leaves while it waits does not count any more; when enough have come the barrier
// is there anew for the next.
func (pl *play) meet(m script.Meet) error {
	defer pl.stands(fmt.Sprintf("at the barrier %.200q", m.Barrier))()
	pl.record(m.Kind(), m.Barrier)
	pl.p.mu.Lock()
	b := pl.s.barriers[m.Barrier]
	if b == nil {
		b = &barrier{open: make(chan struct{})}
		if pl.s.barriers == nil {
			pl.s.barriers = map[string]*barrier{}
		}
		pl.s.barriers[m.Barrier] = b
	}
	if b.waiting++; b.waiting >= m.Streams {
		close(b.open)
		delete(pl.s.barriers, m.Barrier)
	}
	pl.p.mu.Unlock()
	err := pl.waitFor(b.open)
	if err != nil {
		pl.p.mu.Lock()
		b.waiting--
		pl.p.mu.Unlock()
	}
	return err
}
