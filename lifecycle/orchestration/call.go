package orchestration

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

// Timeouts bound one call of a coordinator or worker, all its turns and tools. 0 is off.
type Timeouts struct {
	PerCall    time.Duration // from its beginning
	Inactivity time.Duration // between items, from the first on; suspended while a tool works
}

// call is one call of a coordinator or worker: the life that its agent's work belongs to. What it does with events is said by its show.
type call struct {
	run   *run.Run
	lead  bool // a coordinator's: each of its items reaches the server
	watch *run.Watch
	calls run.Calls
	said  strings.Builder // only its agent's goroutine writes it
	// show makes of an event what the run's response is to have, nil when that is nothing.
	show func(run.Event) run.Event
}

// begin starts the clocks of a call. Its context ends, with the [Failure] as its cause, when one is over; the function ends it.
func (t Timeouts) begin(ctx context.Context, c *call) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.watch = run.NewWatch(t.Inactivity, func() { cancel(timedOut(NoProgress, t.Inactivity)) })
	stop := func() bool { return true }
	if t.PerCall > 0 {
		stop = time.AfterFunc(t.PerCall, func() { cancel(timedOut(PerCall, t.PerCall)) }).Stop
	}
	return ctx, func() {
		stop()
		c.watch.Stop()
		cancel(nil)
	}
}

// ModelCall says that a provider call begins.
func (c *call) ModelCall() { c.run.ModelCall() }

// Item re-arms the call's clock, and the server's for a coordinator.
func (c *call) Item() {
	c.watch.Arm()
	if c.lead {
		c.run.Item()
	}
}

// ToolBegins suspends the call's clock, and no other.
func (c *call) ToolBegins() { c.watch.Pause() }

// ToolEnds has the whole window begin anew.
func (c *call) ToolEnds() { c.watch.Restart() }

// Calls are those of this call alone.
func (c *call) Calls() *run.Calls { return &c.calls }

// Emit hands on what is to be shown. What a worker has shown is life to the server, too. While the reader has no room the clock waits.
func (c *call) Emit(ctx context.Context, e run.Event) error {
	if text, ok := e.(run.Text); ok {
		c.said.WriteString(text.Content)
	}
	if e = c.show(e); e == nil {
		return context.Cause(ctx)
	}
	c.run.Item()
	c.watch.Pause()
	defer c.watch.Resume()
	return c.run.Emit(ctx, e)
}

// Finish is the end of the agent's answer, not of the run.
func (c *call) Finish(ctx context.Context, _ run.Finished) error {
	c.watch.Stop()
	return context.Cause(ctx)
}

// meter sums what all calls of a run used.
type meter struct {
	mu       sync.Mutex
	usage    run.Usage
	reported bool
}

// add counts one turn's.
func (m *meter) add(u llm.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reported = true
	m.usage.Prompt += u.Prompt
	m.usage.Completion += u.Completion
	m.usage.Total += u.Total
}

func (m *meter) finished() run.Finished {
	m.mu.Lock()
	defer m.mu.Unlock()
	return run.Finished{Reason: "stop", Usage: m.usage, Reported: m.reported}
}

// metered is a client whose usage is counted, also that of calls which fail.
type metered struct {
	llm.Client
	meter *meter
}

// Stream is the client's; the last usage of a turn counts, since some providers count up while they stream.
func (m metered) Stream(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
	var last llm.Usage
	reported := false
	defer func() {
		if reported {
			m.meter.add(last)
		}
	}()
	return m.Client.Stream(ctx, r, func(i llm.Item) error {
		if i.Kind == llm.UsageReported {
			last, reported = i.Usage, true
		}
		return emit(i)
	})
}
