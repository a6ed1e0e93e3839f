// Package run is the life of one request: its cancellation, its clocks, its bounded event channel and its one ending. It knows no
// provider, no tool and no HTTP; the registry of running runs is what a drain waits on.
package run

import (
	"context"
	"sync"
	"time"
)

// Config is what a run is bounded by from its admission on.
type Config struct {
	Stream time.Duration // the stream clock's window, started by New; 0 is no cap
	Buffer int           // how many events wait for the response before Emit blocks; at least 1
}

// Run is one request's life. It owns its context, its event channel and its clocks; nothing outside holds them after Release. All
// methods are safe for concurrent use.
type Run struct {
	id      string
	started time.Time
	ctx     context.Context
	cancel  context.CancelCauseFunc
	events  chan Event
	calls   Calls

	mu         sync.Mutex // guards what follows; never held while waiting
	ending     Ending
	ended      bool
	turns      int
	firstChunk clock
	inactivity clock
	stream     clock
}

// New makes a run at its admission and starts its stream clock.
func New(id string, c Config) *Run {
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &Run{id: id, started: time.Now(), ctx: ctx, cancel: cancel, events: make(chan Event, max(c.Buffer, 1))}
	r.firstChunk.fire = r.firstChunkExpired
	r.inactivity.fire = r.inactivityExpired
	r.stream.fire = r.streamExpired
	r.stream.window = c.Stream
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stream.arm()
	return r
}

// ID is the run's name in logs. It is unique within the server.
func (r *Run) ID() string { return r.id }

// Started is the instant of admission.
func (r *Run) Started() time.Time { return r.started }

// Context is cancelled at the run's ending, with the [Ending] as its cause.
func (r *Run) Context() context.Context { return r.ctx }

// Turns counts the model turns begun so far.
func (r *Run) Turns() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turns
}

// WatchItems gives the run its two item clocks. Only a streaming run has them, so the server calls it when it knows that the request
// asked for a stream. A window of 0 leaves that clock off.
func (r *Run) WatchItems(firstChunk, inactivity time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.firstChunk.window = firstChunk
	r.inactivity.window = inactivity
}

// ModelCall says that a provider call begins. The first one of a run starts the first-chunk clock.
func (r *Run) ModelCall() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns++
	if r.turns == 1 && !r.ended {
		r.firstChunk.arm()
	}
}

// Item says that the model gave an item. It ends the first-chunk clock and re-arms inactivity.
func (r *Run) Item() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.firstChunk.stop()
	r.inactivity.arm()
}

// Calls are the tool calls that are announced and not finished.
func (r *Run) Calls() *Calls { return &r.calls }

// ToolBegins says that a tool executes: until it ends nobody expects an item of the model, and inactivity is suspended. Tools
// may overlap.
func (r *Run) ToolBegins() { r.pauseInactivity() }

// ToolEnds says that a tool's execution is over. After the last of them the whole inactivity window begins anew.
func (r *Run) ToolEnds() {
	r.mu.Lock()
	defer r.mu.Unlock()
	watched := r.inactivity.armed
	r.inactivity.resume()
	if watched && !r.ended {
		r.inactivity.arm()
	}
}

// Emit hands an event to the response. It blocks while the channel is full, and the inactivity clock pauses meanwhile: a slow reader is
// no silent model. It returns the cause of ctx or the run's [Ending] when either ended first; the event is dropped then.
func (r *Run) Emit(ctx context.Context, e Event) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	select {
	case r.events <- e:
		return nil
	default:
	}
	r.pauseInactivity()
	defer r.resumeInactivity()
	select {
	case r.events <- e:
		return nil
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Finish emits the run's last event. The model has nothing more to say, so both item clocks stop first: what the reader still has to
// read is bounded by the stream clock alone.
func (r *Run) Finish(ctx context.Context, f Finished) error {
	r.stopItemClocks()
	return r.Emit(ctx, f)
}

// Events is the channel the response reads. It is never closed; the end of Context is its end.
func (r *Run) Events() <-chan Event { return r.events }

func (r *Run) pauseInactivity() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inactivity.pause()
}

func (r *Run) resumeInactivity() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inactivity.resume()
}

func (r *Run) stopItemClocks() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.firstChunk.stop()
	r.inactivity.stop()
}
