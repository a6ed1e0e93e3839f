package admin

import (
	"math"
	"sync"

	"github.com/stallwright/stallwright/fakes/timeline"
)

// feed is a timeline that any number of clients follow, each at its own pace. Timelines wait for events, not for
// clients to leave: so one goroutine a session waits for the events, and clients wait for it or for their own end.
type feed struct {
	mu     sync.Mutex
	events []timeline.Event // only ever appended to
	over   bool
	more   chan struct{} // closed when there is an event more, or none will come
}

func newFeed() *feed { return &feed{more: make(chan struct{})} }

// run returns after the last event of a session, or the last that its timeline keeps.
func (f *feed) run(t *timeline.Timeline) {
	t.Await(math.MaxInt64, func(e timeline.Event) bool {
		last := Last(e)
		f.add(e, last)
		return last
	})
}

// Last says whether no event follows e in the timeline of a session.
func Last(e timeline.Event) bool {
	return e.Lane == Lane && e.Kind == "released" || e.Seq == timeline.Limit
}

func (f *feed) add(e timeline.Event, last bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
	f.over = last
	close(f.more)
	if !last {
		f.more = make(chan struct{})
	}
}

// after returns the events behind the first n, whether more may come, and a channel that is closed when they do.
func (f *feed) after(n int) (events []timeline.Event, over bool, more <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events[min(n, len(f.events)):], f.over, f.more
}
