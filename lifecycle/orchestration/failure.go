package orchestration

import (
	"errors"
	"fmt"
	"time"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

// Kind is the way in which a coordinator's or worker's call, or a task, failed.
type Kind string

// The kinds of failures.
const (
	AgentTimeout     Kind = "agent_timeout"     // a clock of the call was over; Cause says which
	DepthExhausted   Kind = "depth_exhausted"   // the model wanted more turns than it has
	SoftFailure      Kind = "soft_failure"      // the worker handed in no result
	ProviderFailed   Kind = "provider_error"    // the provider, or its connection
	DependencyFailed Kind = "dependency_failed" // a task that this one needs failed
	MalformedPlan    Kind = "malformed_plan"    // what the coordinator decided cannot be carried out
	AgentError       Kind = "agent_error"       // anything else
)

// Cause says which clock an [AgentTimeout] is of.
type Cause string

// The clocks of a call.
const (
	PerCall    Cause = "per-call"
	NoProgress Cause = "no stream progress"
)

// Failure is why a call or a task failed. As the cause of a call's context it has the call's tool calls in flight cancelled at once.
type Failure struct {
	Kind   Kind
	Cause  Cause         // of an AgentTimeout
	Window time.Duration // that was over
	Code   run.Code      // for the client, if nothing but this failure comes of the run
	Reason string        // of the other kinds, in words for the model and the client; holds no credentials
}

// Error names the kind first.
func (f *Failure) Error() string {
	switch {
	case f.Cause == PerCall:
		return fmt.Sprintf("%s: timed out after %v", f.Kind, f.Window)
	case f.Cause == NoProgress:
		return fmt.Sprintf("%s: no stream progress for %v", f.Kind, f.Window)
	}
	return fmt.Sprintf("%s: %s", f.Kind, f.Reason)
}

// CancelReason is what the servers of cancelled tool calls are told.
func (f *Failure) CancelReason() string {
	if f.Kind == AgentTimeout {
		return "timeout"
	}
	return "task failed"
}

// failureOf is the failure that an error of [agent.Agent.Answer] means. It is nil when the run itself is over.
func failureOf(err error) *Failure {
	var f *Failure
	var ended run.Ending
	var provider *llm.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &ended):
		return nil
	}
	ending := agent.Ending(err)
	f = &Failure{Kind: AgentError, Code: ending.Code, Reason: ending.Message}
	switch {
	case errors.As(err, &provider):
		f.Kind = ProviderFailed
	case errors.Is(err, agent.ErrMaxTurns):
		f.Kind = DepthExhausted
	}
	return f
}

// timedOut is the failure of a call whose clock is over.
func timedOut(cause Cause, window time.Duration) *Failure {
	return &Failure{Kind: AgentTimeout, Cause: cause, Window: window, Code: run.ProviderError}
}

func malformed(format string, args ...any) *Failure {
	return &Failure{Kind: MalformedPlan, Code: run.ProviderError, Reason: fmt.Sprintf(format, args...)}
}

// failed is the ending of a run that comes to nothing.
func failed(what string, f *Failure) run.Ending {
	return run.Ending{How: run.Failed, Code: f.Code, Message: what + ": " + f.Error()}
}
