// Package orchestration answers a conversation with several agents: a coordinator decides, in one growing conversation, whether it
// answers itself or makes a plan; workers carry the plan's tasks out, those side by side that need nothing of each other; then the
// coordinator makes the answer of their results.
//
//	conversation ──▶ coordinator ──create_plan──▶ waves of workers ──results──▶ coordinator ──respond_directly──▶ answer
package orchestration

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

// Orchestrator answers conversations. It is safe for concurrent use while its fields stay as they are.
type Orchestrator struct {
	Coordinator agent.Agent // its turn depth is that of one decision
	Workers     []Worker
	Generic     Worker // of tasks that name no worker
	Timeouts    Timeouts
	MaxCycles   int // plans of one run, at least 1
	Attempts    int // at one decision of the coordinator, at least 1
	// NoDirectAnswer and NoClarification keep the coordinator from answering, or asking, before a plan was carried out.
	NoDirectAnswer, NoClarification bool
	ToolsInPlanning                 string // what the coordinator is told of the workers' tools: summary, none or full
	MaxToolsPerWorker               int    // how many of each worker's tools it is told of
	// Gate, if set, makes the gate of a task's tool calls; nil lets them through.
	Gate func(run.Task) agent.Gate
}

// Worker is an agent that carries tasks out.
type Worker struct {
	Name, Description string
	Agent             agent.Agent
	Filter            []string // globs of the tools it has; all when nil
}

// play is one run's orchestration.
type play struct {
	o            *Orchestrator
	run          *run.Run
	tools        agent.Tools // nil when there are none
	meter        meter
	tokens       atomic.Int64  // of tool calls, from 1
	conversation []llm.Message // of the coordinator
}

// Answer has the conversation answered and emits what becomes of it as events of the run, [run.Finished] last. It returns nil when the
// last event was taken, else an error that [agent.Ending] understands. All that it starts has ended when it returns; a panic of a worker
// is passed on.
func (o *Orchestrator) Answer(ctx context.Context, r *run.Run, conversation []llm.Message, tools agent.Tools) error {
	p := &play{o: o, run: r, tools: tools}
	p.conversation = append(p.conversation, conversation...)
	began := time.Now()
	d, err := p.decide(ctx, true)
	if err != nil {
		return unless(err, "planning failed")
	}
	for iteration := 1; ; iteration++ {
		if d.plan == nil {
			return p.answer(ctx, d)
		}
		if d, err = p.iterate(ctx, iteration, d, time.Since(began)); err != nil || d == nil {
			return err
		}
		began = time.Now()
	}
}

// iterate carries a plan out and asks the coordinator what it comes to. The decision is nil when the run's last event is out.
func (p *play) iterate(ctx context.Context, iteration int, d *decision, planning time.Duration) (*decision, error) {
	plan := d.plan
	began := time.Now()
	if err := p.carryOut(ctx, plan); err != nil {
		return nil, err
	}
	if !plan.completed() {
		return nil, failed("all tasks failed", plan.tasks[0].failure)
	}
	done := run.IterationCompleted{Iteration: iteration, Planning: planning, Execution: time.Since(began)}
	for _, t := range plan.tasks {
		done.Tasks += t.took
		done.Tools += t.tools
	}
	if err := p.run.Emit(ctx, run.Synthesizing{Iteration: iteration}); err != nil {
		return nil, err
	}
	p.answered(d.call, plan.results())
	next, err := p.decide(ctx, false)
	var lost *Failure
	switch {
	case errors.As(err, &lost):
		return nil, p.finish(ctx, raw("The coordinator could not go on: "+lost.Error(), plan))
	case err != nil:
		return nil, err
	case next.plan != nil && iteration >= p.o.MaxCycles:
		done.Reasoning = "Replan budget exhausted"
		if err := p.run.Emit(ctx, done); err != nil {
			return nil, err
		}
		return nil, p.finish(ctx, raw(done.Reasoning, plan))
	case next.plan != nil:
		done.WillReplan = true
		if err := p.run.Emit(ctx, done); err != nil {
			return nil, err
		}
		return next, p.run.Emit(ctx, run.ReplanStarted{Iteration: iteration + 1, Trigger: "post_execute_create_plan"})
	}
	if err := p.tell(ctx, next); err != nil {
		return nil, err
	}
	if err := p.run.Emit(ctx, done); err != nil {
		return nil, err
	}
	return nil, p.finish(ctx, next.text())
}

// answer ends a run that needs no plan.
func (p *play) answer(ctx context.Context, d *decision) error {
	if err := p.tell(ctx, d); err != nil {
		return err
	}
	return p.finish(ctx, d.text())
}

func (p *play) tell(ctx context.Context, d *decision) error {
	if d.question != "" {
		return p.run.Emit(ctx, run.ClarificationNeeded{Question: d.question, Options: d.options, Rationale: d.rationale})
	}
	return p.run.Emit(ctx, run.DirectAnswer{Response: d.response, Rationale: d.rationale})
}

// pieceLength is how many characters of the final text go into one event, as AURA has it.
const pieceLength = 50

// finish gives the run its text and its last event.
func (p *play) finish(ctx context.Context, text string) error {
	for rest := []rune(text); len(rest) > 0; {
		n := min(pieceLength, len(rest))
		if err := p.run.Emit(ctx, run.Text{Content: string(rest[:n])}); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return p.run.Finish(ctx, p.meter.finished())
}

// raw is the answer when the coordinator gives none.
func raw(note string, plan *plan) string {
	return note + "\n\nRaw task results:\n\n" + plan.results()
}

// unless is the ending that a failure makes, or the error that is none.
func unless(err error, what string) error {
	var f *Failure
	if errors.As(err, &f) {
		return failed(what, f)
	}
	return err
}

// counted is an agent whose usage the run's meter counts.
func (p *play) counted(a agent.Agent) *agent.Agent {
	a.Client = metered{a.Client, &p.meter}
	return &a
}
