// Package worker plays virtual trials in a re-executed copy of the binary, and survives its death: a panic on
// another goroutine of a bubble, a spin or a deadlock on a mutex cannot be caught inside the process that has it.
package worker

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/verdict"
)

// order is what a worker is told, as one line on its standard input. The input is closed to stop it between trials.
type order struct {
	Bubbles int           `json:"bubbles"` // trials at once
	Jobs    []harness.Job `json:"jobs"`
}

// report is one line of a worker's standard output.
type report struct {
	Started *harness.Job    `json:"started,omitempty"`
	Job     *harness.Job    `json:"job,omitempty"` // of Result
	Result  *verdict.Result `json:"result,omitempty"`
}
