// Package timeline records who did what and when, and lets a caller wait for it. It is the one history of a trial:
// verdicts, failure blocks and reports are all derived from it.
package timeline

import (
	"context"
	"strings"
	"sync"
	"time"
)

// Limit bounds the events of one timeline. A trial of the suite records some hundreds; a server that floods its
// client must not fill the memory of the judge.
const Limit = 200_000

// Event is one thing that happened. Two events of one instant have no order across lanes: Seq is the order of
// recording, not of cause.
type Event struct {
	Seq    int           `json:"seq"`
	At     time.Duration `json:"at"`               // nanoseconds since the timeline began
	Lane   string        `json:"lane"`             // who: client, provider, server, process, script
	Ref    string        `json:"ref,omitempty"`    // which exchange of the lane, such as #1
	Kind   string        `json:"kind"`             // what, in the lane's own words
	Detail string        `json:"detail,omitempty"` // bounded, may be hostile: escape it where it is shown
	Source Source        `json:"source,omitempty"`
}

// Source says how an event is known.
type Source string

// An event that a fake or the client saw on the wire has no source; one that the server under test told of itself
// is reported, and can never be the only ground of a must.
const (
	Observed Source = ""
	Reported Source = "reported"
)

// What is kept of one event's detail, and of all details of a timeline: past that a detail is cut to a few words.
const (
	DetailLimit  = 4 << 10
	detailsLimit = 32 << 20
	wordsLimit   = 64
)

// Timeline is an append-only list of events. It is safe for concurrent use and may be waited for inside a bubble
// of virtual time. Make one with New.
type Timeline struct {
	mu     sync.Mutex
	added  *sync.Cond
	start  time.Time
	events []Event
	lost   int
	bytes  int // of details
}

// New begins a timeline now.
func New() *Timeline {
	t := &Timeline{start: time.Now()}
	t.added = sync.NewCond(&t.mu)
	return t
}

// Add records an observed event and returns it as recorded.
func (t *Timeline) Add(lane, ref, kind, detail string) Event {
	return t.Record(Event{Lane: lane, Ref: ref, Kind: kind, Detail: detail})
}

// Record stamps e with its number and instant, and appends it. Past Limit the event is counted as lost.
func (t *Timeline) Record(e Event) Event {
	if len(e.Detail) > DetailLimit {
		e.Detail = strings.Clone(e.Detail[:DetailLimit]) // the rest need not stay in memory
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// The instant is taken under the lock, so that the list is ordered by time.
	e.Seq, e.At = len(t.events)+1, time.Since(t.start)
	if len(t.events) >= Limit {
		t.lost++
		return e
	}
	if t.bytes > detailsLimit && len(e.Detail) > wordsLimit {
		e.Detail = strings.Clone(e.Detail[:wordsLimit])
	}
	t.bytes += len(e.Detail)
	t.events = append(t.events, e)
	t.added.Broadcast()
	return e
}

// Events returns a copy of what was recorded so far.
func (t *Timeline) Events() []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Event(nil), t.events...)
}

// After returns a copy of the events behind number n that were recorded so far, the first most of them.
func (t *Timeline) After(n, most int) []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.after(n, most)
}

func (t *Timeline) after(n, most int) []Event {
	from := min(max(n, 0), len(t.events))
	return append([]Event(nil), t.events[from:from+min(max(most, 0), len(t.events)-from)]...)
}

// Lost counts the events that came after Limit.
func (t *Timeline) Lost() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}

// Now is the time since the timeline began.
func (t *Timeline) Now() time.Duration { return time.Since(t.start) }

// Await returns the first event, recorded already or within limit from now, that fits. An event of the very
// instant at which limit runs out may be missed: a caller that must not miss it settles and looks again with Find.
func (t *Timeline) Await(limit time.Duration, fits func(Event) bool) (Event, bool) {
	expired := false
	timer := time.AfterFunc(limit, func() {
		t.mu.Lock()
		expired = true
		t.added.Broadcast()
		t.mu.Unlock()
	})
	defer timer.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for next := 0; ; {
		for ; next < len(t.events); next++ {
			if fits(t.events[next]) {
				return t.events[next], true
			}
		}
		if expired {
			return Event{}, false
		}
		t.added.Wait()
	}
}

// Next returns what After does as soon as that is any event, or why ctx has ended. n must be below Limit, and most above
// 0: there are no such events else.
func (t *Timeline) Next(ctx context.Context, n, most int) ([]Event, error) {
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock() // not between the look at ctx and the wait
		defer t.mu.Unlock()
		t.added.Broadcast()
	})
	defer stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		if events := t.after(n, most); len(events) > 0 {
			return events, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t.added.Wait()
	}
}

// Find returns the first event recorded so far that fits.
func (t *Timeline) Find(fits func(Event) bool) (Event, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.events {
		if fits(e) {
			return e, true
		}
	}
	return Event{}, false
}
