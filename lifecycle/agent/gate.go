package agent

import (
	"context"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

// Gate decides, before a tool call is made, whether it may be. It is asked about calls of tools that exist, with arguments that are an
// object, and from several goroutines at once when execution overlaps.
type Gate interface {
	// Ask waits for the decision on a call that needs one; for others it says at once that they may go on. It emits the approval's events
	// through life, and returns the cause of ctx when ctx ends first.
	Ask(ctx context.Context, life Life, c llm.ToolCall) (Permission, error)
}

// Permission is the outcome: Granted, or what the model is told instead, and whether that counts as a failed call.
type Permission struct {
	Granted bool
	Told    string
	Failed  bool
}

// permit asks the gate. Without one every call may be made, and with one those that end the answer: they do nothing outside.
func (a *Agent) permit(ctx context.Context, t *turn, c llm.ToolCall) (Permission, error) {
	if d, ok := t.tools.(Deciding); a.Gate == nil || ok && d.Decides(c.Name) {
		return Permission{Granted: true}, nil
	}
	return a.Gate.Ask(ctx, t.life, c)
}
