// Package agent is the loop of model turns: it asks the model, turns its items into the run's events and decides when the answer is
// complete.
package agent

import (
	"context"
	"errors"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

// Agent answers conversations with one model. It is safe for concurrent use while its fields stay as they are.
type Agent struct {
	Client       llm.Client
	Model        string
	SystemPrompt string // put before every conversation; empty puts nothing
	TurnDepth    int    // how many model turns a run may take, at least 1
	// BeforeTurn, if set, is called on the run's goroutine at the start of each model turn with the conversation's last user message.
	BeforeTurn func(ctx context.Context, prompt string)
}

// errMaxTurns is the end of a run whose model still wanted more after TurnDepth turns.
var errMaxTurns = errors.New("agent: the model did not finish within its turns")

// Answer plays model turns until the model has finished, and emits what it says as events of r, [run.Finished] last. It returns nil when
// that event was taken, else an error that [Ending] understands.
func (a *Agent) Answer(ctx context.Context, r *run.Run, conversation []llm.Message) error {
	request := llm.Request{Model: a.Model, Messages: a.withSystemPrompt(conversation)}
	var finished run.Finished
	for range a.TurnDepth {
		t := &turn{ctx: ctx, run: r}
		if err := a.play(t, request); err != nil {
			return err
		}
		finished.Reason = t.reason
		finished.Usage = sum(finished.Usage, t.usage)
		finished.Reported = finished.Reported || t.reported
		if t.last() {
			return r.Finish(ctx, finished)
		}
	}
	return errMaxTurns
}

// play makes one model turn.
func (a *Agent) play(t *turn, request llm.Request) error {
	if a.BeforeTurn != nil {
		a.BeforeTurn(t.ctx, prompt(request.Messages))
	}
	t.run.ModelCall()
	return a.Client.Stream(t.ctx, request, t.item)
}

func (a *Agent) withSystemPrompt(conversation []llm.Message) []llm.Message {
	if a.SystemPrompt == "" {
		return conversation
	}
	messages := []llm.Message{{Role: "system", Content: a.SystemPrompt}}
	return append(messages, conversation...)
}

// prompt is the last thing the user said.
func prompt(messages []llm.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == "user" {
			return messages[i].Content
		}
	}
	return ""
}
