package harness

import (
	"context"

	"github.com/stallwright/stallwright/harness/verdict"
)

// Job is one case to play once.
type Job struct {
	Case    string `json:"case"`
	Attempt int    `json:"attempt"` // from 1
	Seed    uint64 `json:"seed"`
}

// Player plays jobs: in worker processes in virtual time, or on servers that are processes of their own.
type Player interface {
	// Run plays all jobs in any order, or until ctx ends: then the trials under way finish and the rest is not
	// played. It returns a *TargetError when the server under test could not be had, and else stallwright's own
	// trouble; what was played until then has been watched.
	Run(ctx context.Context, jobs []Job, w Watch) error
}

// Watch is told of jobs as they go. Its functions are called one at a time.
type Watch struct {
	Started func(Job)
	Played  func(Job, verdict.Result)
}

// TargetError says that the server under test did not start, was never ready, did not reach the fakes, or could not
// be brought back after a case.
type TargetError struct {
	Subject string // what was tried
	Hint    string // what to do, one sentence
	Err     error
}

// Error names the subject first.
func (e *TargetError) Error() string { return e.Subject + ": " + e.Err.Error() }

// Unwrap is what the system or the server said.
func (e *TargetError) Unwrap() error { return e.Err }
