package run

import (
	"encoding/json"
	"time"
)

// ApprovalScope says whose call waits for a decision. Its JSON names are AURA's.
type ApprovalScope struct {
	Kind      string `json:"kind"`                 // single, worker or coordinator
	RunID     string `json:"run_id,omitempty"`     // of an orchestrated run
	TaskID    *int   `json:"task_id,omitempty"`    // of a worker
	Worker    string `json:"worker,omitempty"`     // its name
	SessionID string `json:"session_id,omitempty"` // of the chat
}

// ApprovalOrigin says why a call waits for a decision.
type ApprovalOrigin struct {
	Kind    string `json:"kind"`            // config_gate
	Pattern string `json:"matched_pattern"` // of require_approval
}

// ApprovalOutcome is how an approval ended. Only the fields of its kind are set.
type ApprovalOutcome struct {
	Kind     string `json:"kind"`                // approved, denied, timed_out, cancelled or errored
	Reason   string `json:"reason,omitempty"`    // of denied and cancelled
	WaitedMS *int64 `json:"waited_ms,omitempty"` // of timed_out
	Message  string `json:"message,omitempty"`   // of errored
}

// ApprovalRequested says that a call waits for a decision.
type ApprovalRequested struct {
	ID, Tool string
	Origin   ApprovalOrigin
	Scope    ApprovalScope
}

// ApprovalPending says that the decision with this ID can be given until it expires.
type ApprovalPending struct {
	ID, Tool  string
	Arguments json.RawMessage
	Origin    ApprovalOrigin
	Scope     ApprovalScope
	Expires   time.Time
}

// ApprovalCompleted says that nothing waits for this decision any more.
type ApprovalCompleted struct {
	ID       string
	Outcome  ApprovalOutcome
	Duration time.Duration // since it was requested
	Scope    ApprovalScope
}

func (e ApprovalRequested) event() {}
func (e ApprovalPending) event()   {}
func (e ApprovalCompleted) event() {}

// Cancelled is the reason of an approval that an ending took along: client_disconnected, timeout, shutdown, or run_failed, which also
// stands for a run that completed without it.
func (e Ending) Cancelled() string {
	switch e.How {
	case Disconnected:
		return "client_disconnected"
	case TimedOut:
		return "timeout"
	case ShutDown:
		return "shutdown"
	default:
		return "run_failed"
	}
}
