// Package approval pauses tool calls until a person has decided about them: over the server's own endpoint, or by a webhook. Whatever is
// not a valid yes in time is a no.
//
//	agent ──▶ Gate ──▶ Rules ──▶ Route: Conversation (waits at the Desk) or Webhook (asks)
package approval

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
	"github.com/stallwright/stallwright/lifecycle/telemetry"
)

// maxReason bounds, in bytes, what the model is told of a person's reason, and the client of an error.
const maxReason = 2000

// Gate is the [agent.Gate] of one run, or of one task of it.
type Gate struct {
	Rules     Rules
	Route     Route
	Desk      *Desk
	Scope     run.ApprovalScope
	RequestID string // of the run
	// Asked, if set, is called when an approval waits, on the goroutine of its call. It may panic. For tests.
	Asked func(ctx context.Context, c llm.ToolCall)
}

var _ agent.Gate = Gate{}

// Route is a way to a decision.
type Route interface {
	// Window is how long a decision is waited for.
	Window() time.Duration
	// Posted says whether decisions come to the server's own endpoint.
	Posted() bool
	// Await returns the decision. When ctx ends first it returns the cause of ctx, at once; its other errors are those of the route.
	Await(ctx context.Context, q Question, posted <-chan Decision) (Decision, error)
}

// Question is what a decision is asked for.
type Question struct {
	ID, RequestID string
	Tool          string
	Arguments     json.RawMessage
	Origin        run.ApprovalOrigin
	Scope         run.ApprovalScope
}

// errExpired is the cause of a wait whose window is over.
var errExpired = errors.New("approval timed out")

// Ask implements [agent.Gate].
func (g Gate) Ask(ctx context.Context, life agent.Life, c llm.ToolCall) (agent.Permission, error) {
	pattern, matched := g.Rules.Match(c.Name)
	if !matched {
		return agent.Permission{Granted: true}, nil
	}
	began := time.Now()
	p, err := g.Desk.enter(ctx, g.RequestID, g.Route.Posted())
	defer p.leave() // a panic's way out too
	ctx, span := telemetry.Approval(ctx, c.Name, p.id)
	ending := run.Ending{How: run.Failed, Code: run.InternalError} // a panic's
	defer func() { span.End(ending) }()
	q := Question{
		ID: p.id, RequestID: g.RequestID, Tool: c.Name, Arguments: json.RawMessage(c.Arguments),
		Origin: run.ApprovalOrigin{Kind: "config_gate", Pattern: pattern}, Scope: g.Scope,
	}
	if err := life.Emit(ctx, run.ApprovalRequested{ID: q.ID, Tool: q.Tool, Origin: q.Origin, Scope: q.Scope}); err != nil {
		ending = agent.Ending(err)
		return agent.Permission{}, err
	}
	var d Decision
	if err == nil {
		d, err = g.await(ctx, life, p, q)
	}
	outcome := outcomeOf(ctx, d, err, time.Since(began))
	span.Decided(outcome.Kind)
	ending = endingOf(ctx, outcome)
	// The event of an approval whose task was cancelled is told too, as long as the run goes on; then the run's end is the bound.
	told := life.Emit(context.WithoutCancel(ctx), run.ApprovalCompleted{ID: q.ID, Outcome: outcome, Duration: time.Since(began), Scope: q.Scope})
	switch {
	case ctx.Err() != nil:
		return agent.Permission{}, context.Cause(ctx)
	case told != nil:
		return agent.Permission{}, told
	}
	return permission(outcome), nil
}

// await waits for the decision. Whoever takes the approval from the desk decides: a person, or the end of the wait.
func (g Gate) await(ctx context.Context, life agent.Life, p *pending, q Question) (Decision, error) {
	window := g.Route.Window()
	expires := time.Now().Add(window)
	waiting, stop := context.WithDeadlineCause(ctx, expires, errExpired)
	defer stop()
	if g.Route.Posted() {
		e := run.ApprovalPending{ID: q.ID, Tool: q.Tool, Arguments: q.Arguments, Origin: q.Origin, Scope: q.Scope, Expires: expires}
		if err := life.Emit(waiting, e); err != nil {
			return Decision{}, err
		}
	}
	if g.Asked != nil {
		g.Asked(waiting, llm.ToolCall{Name: q.Tool, Arguments: string(q.Arguments)})
	}
	d, err := g.Route.Await(waiting, q, p.decision)
	if err != nil && g.Route.Posted() && !p.leave() {
		return <-p.decision, nil // it was given before the wait was over
	}
	return d, err
}

func outcomeOf(ctx context.Context, d Decision, err error, waited time.Duration) run.ApprovalOutcome {
	switch {
	case ctx.Err() != nil:
		return run.ApprovalOutcome{Kind: "cancelled", Reason: cancelled(ctx)}
	case errors.Is(err, errExpired):
		ms := waited.Milliseconds()
		return run.ApprovalOutcome{Kind: "timed_out", WaitedMS: &ms}
	case err != nil:
		return run.ApprovalOutcome{Kind: "errored", Message: clip(err.Error())}
	case !d.Approved:
		return run.ApprovalOutcome{Kind: "denied", Reason: clip(d.Reason)}
	}
	return run.ApprovalOutcome{Kind: "approved"}
}

// endingOf is how the wait ended, for telemetry: a decision, whatever it is, completes it.
func endingOf(ctx context.Context, o run.ApprovalOutcome) run.Ending {
	switch o.Kind {
	case "approved", "denied":
		return run.Ending{How: run.Completed}
	case "cancelled":
		return agent.Ending(context.Cause(ctx))
	}
	return run.Ending{How: run.Failed, Code: run.Code("approval_" + o.Kind)}
}

// cancelled is why a call that waited has ended: with its run, or with its task while the run goes on.
func cancelled(ctx context.Context) string {
	var ended run.Ending
	if errors.As(context.Cause(ctx), &ended) {
		return ended.Cancelled()
	}
	return "task_ended"
}

// permission is what the model is told of an outcome, in AURA's words.
func permission(o run.ApprovalOutcome) agent.Permission {
	switch o.Kind {
	case "approved":
		return agent.Permission{Granted: true}
	case "denied":
		reason := o.Reason
		if reason == "" {
			reason = "no reason provided"
		}
		return agent.Permission{Told: "Tool call blocked by human approval denial: " + reason + ". Do not execute this action."}
	case "timed_out":
		return agent.Permission{Told: "tool call denied: approval timed out", Failed: true}
	default:
		return agent.Permission{Told: "tool call blocked: approval channel error: " + o.Message, Failed: true}
	}
}

// clip cuts a stranger's text, and leaves nothing in it that is no text.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "")
	if len(s) <= maxReason {
		return s
	}
	return strings.ToValidUTF8(s[:maxReason], "") + "…"
}

// Conversation is the route over the server's own endpoint: whoever reads the stream decides.
type Conversation struct{ Timeout time.Duration }

var _ Route = Conversation{}

// Window implements [Route].
func (c Conversation) Window() time.Duration { return c.Timeout }

// Posted implements [Route].
func (c Conversation) Posted() bool { return true }

// Await implements [Route].
func (c Conversation) Await(ctx context.Context, _ Question, posted <-chan Decision) (Decision, error) {
	select {
	case d := <-posted:
		return d, nil
	case <-ctx.Done():
		return Decision{}, context.Cause(ctx)
	}
}
