package run

import (
	"fmt"
	"time"
)

// How is the way a run ended.
type How int

// The ways a run ends. The zero value is a run that has not ended.
const (
	Completed How = iota + 1
	Failed
	TimedOut
	Disconnected
	ShutDown
)

// String is the way in words, as logs have it.
func (h How) String() string {
	switch h {
	case Completed:
		return "completed"
	case Failed:
		return "failed"
	case TimedOut:
		return "timed out"
	case Disconnected:
		return "disconnected"
	case ShutDown:
		return "shut down"
	default:
		return "running"
	}
}

// Code is the machine's word for an ending, as the terminal frame carries it. Completed and Disconnected have none.
type Code string

// The codes of endings.
const (
	FirstChunkTimeout Code = "first_chunk_timeout"
	InactivityTimeout Code = "stream_inactivity_timeout"
	StreamTimeout     Code = "stream_timeout"
	ServerShutdown    Code = "server_shutdown"
	ProviderError     Code = "provider_error"
	ProviderTruncated Code = "provider_truncated"
	MaxTurns          Code = "max_turns"
	InternalError     Code = "internal_error"
	// InvalidRequest is a request refused before its first model turn. It is answered as JSON, never as a frame.
	InvalidRequest Code = "invalid_request"
)

// Ending is how a run ended and why. As an error it is the cause of the run's context.
type Ending struct {
	How     How
	Code    Code
	Message string // for the client; holds no credentials
}

// Error is the ending as the cause of a context.
func (e Ending) Error() string {
	if e.Message == "" {
		return "run: " + e.How.String()
	}
	return "run: " + e.How.String() + ": " + e.Message
}

// End decides the ending if none is decided yet and reports whether it did. The clocks stop and the context is cancelled before it
// returns; an ending that comes later changes nothing.
func (r *Run) End(e Ending) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decide(e)
}

// Ending is the ending decided, the zero value while the run goes on.
func (r *Run) Ending() Ending {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ending
}

// decide is called with mu held, so that a clock's generation and the ending are judged in one step.
func (r *Run) decide(e Ending) bool {
	if r.ended {
		return false
	}
	r.ended = true
	r.ending = e
	r.firstChunk.stop()
	r.inactivity.stop()
	r.stream.stop()
	r.cancel(e)
	return true
}

func (r *Run) firstChunkExpired(generation int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.firstChunk.current(generation) {
		return
	}
	r.decide(timedOut(FirstChunkTimeout, "first chunk: no output from the model within %v", r.firstChunk.window))
}

func (r *Run) inactivityExpired(generation int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.inactivity.current(generation) {
		return
	}
	r.decide(timedOut(InactivityTimeout, "inactivity: no progress from the model for %v", r.inactivity.window))
}

func (r *Run) streamExpired(generation int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stream.current(generation) {
		return
	}
	r.decide(timedOut(StreamTimeout, "stream: the run did not end within %v", r.stream.window))
}

func timedOut(code Code, format string, window time.Duration) Ending {
	return Ending{How: TimedOut, Code: code, Message: fmt.Sprintf(format, window)}
}
