// Package agent is the loop of model turns and tool calls: it asks the model, turns its items into the run's events, executes what it
// calls and decides when the answer is complete.
package agent

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
	"github.com/stallwright/stallwright/lifecycle/telemetry"
)

// Agent answers conversations with one model. It is safe for concurrent use while its fields stay as they are.
type Agent struct {
	Client       llm.Client
	Provider     string // as telemetry names it
	Model        string
	SystemPrompt string    // put before every conversation; empty puts nothing
	TurnDepth    int       // how many model turns a run may take, at least 1
	Execution    Execution // of the tool calls of one turn; [Sequential] when empty
	Gate         Gate      // asked before each tool call is made; nil lets all through
	// BeforeTurn, if set, is called on the run's goroutine at the start of each model turn with the conversation's last user message.
	BeforeTurn func(ctx context.Context, prompt string)
}

// Life is the life that an agent's work belongs to: a [run.Run], or the part of one that a worker has.
type Life interface {
	ModelCall()  // a provider call begins
	Item()       // the model gave an item
	ToolBegins() // a tool executes, or waits until it may: nobody expects an item of the model
	ToolEnds()
	Calls() *run.Calls // that are announced and not finished
	// Emit hands an event on. It blocks while there is no room, and returns why the life is over, or the cause of ctx.
	Emit(ctx context.Context, e run.Event) error
	Finish(ctx context.Context, f run.Finished) error // emits the last event
}

// errPanicked is the end of work that has not come to another.
var errPanicked = errors.New("agent: panicked")

// ErrMaxTurns is the end of an answer whose model still wanted more after TurnDepth turns.
var ErrMaxTurns = errors.New("agent: the model did not finish within its turns")

// Answer plays model turns, and the tool calls between them, until the model has finished, and emits what it says as events of its life,
// [run.Finished] last. With nil tools a turn that asks for a call is the last: the caller gets the finish reason. It returns nil when
// the last event was taken, else an error that [Ending] understands.
func (a *Agent) Answer(ctx context.Context, life Life, conversation []llm.Message, tools Tools) error {
	request := llm.Request{Model: a.Model, Messages: a.withSystemPrompt(conversation)}
	if tools != nil {
		request.Tools = tools.List()
	}
	var finished run.Finished
	var answered []string     // the calls whose results the turn reads
	tokens := &atomic.Int64{} // of progress, from 1
	for n := 1; ; n++ {
		t := &turn{ctx: ctx, life: life, tools: tools, names: request.Tools, tokens: tokens}
		if err := a.play(t, request); err != nil {
			return err
		}
		finished.Reason = t.reason
		finished.Usage = sum(finished.Usage, t.usage)
		finished.Reported = finished.Reported || t.reported
		if len(answered) > 0 && t.reported {
			if err := life.Emit(ctx, run.ToolUsage{IDs: answered, Usage: sum(run.Usage{}, t.usage)}); err != nil {
				return err
			}
		}
		if t.last() {
			return life.Finish(ctx, finished)
		}
		calls, decided := decisive(tools, t.calls.whole())
		if n == a.TurnDepth && !decided {
			return ErrMaxTurns // what the calls would give has no turn left that reads it
		}
		results, err := a.execute(t, calls)
		if err != nil {
			return err
		}
		if decided {
			return life.Finish(ctx, finished)
		}
		request.Messages = append(request.Messages, t.said(calls))
		request.Messages = append(request.Messages, results...)
		answered = nil
		for _, c := range calls {
			answered = append(answered, c.ID)
		}
	}
}

func (a *Agent) play(t *turn, request llm.Request) error {
	ctx, span := telemetry.Turn(t.ctx, telemetry.Agent{Provider: a.Provider, Model: a.Model})
	ending := Ending(errPanicked)
	defer func() { span.End(ending) }()
	if a.BeforeTurn != nil {
		a.BeforeTurn(ctx, prompt(request.Messages))
	}
	t.life.ModelCall()
	err := a.Client.Stream(ctx, request, t.item)
	span.Usage(t.usage.Prompt, t.usage.Completion)
	span.Finish(t.reason)
	ending = Ending(err)
	return err
}

func (a *Agent) withSystemPrompt(conversation []llm.Message) []llm.Message {
	if a.SystemPrompt == "" {
		return conversation
	}
	messages := []llm.Message{{Role: "system", Content: a.SystemPrompt}}
	return append(messages, conversation...)
}

func prompt(messages []llm.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == "user" {
			return messages[i].Content
		}
	}
	return ""
}
