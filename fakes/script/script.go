// Package script holds the programs that fakes play: an ordered list of steps for each request, chosen by what the
// request says. The steps are semantic; each dialect renders them in its own bytes.
package script

import (
	"fmt"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
)

// Script is what a fake plays in one session, in the order written: a request takes the first program that fits and
// is not used up. A request that no program fits, and a program that no request took, are violations.
type Script []Program

// Program answers one request, or Times of them.
type Program struct {
	When  When
	Times int // 0 is once, Any is without limit
	Steps []Step
}

// Any is the Times of a program that answers every request that fits it, and none is fine too.
const Any = -1

// When chooses requests. A zero field fits every request.
type When struct {
	Path     string // the request's path ends so
	Model    string
	Contains string // the body has this text
	Attempt  int    // the client's own retry count plus one, where it says so
}

// Step is one instruction: a step of this package or a fault. Time does not pass between steps unless one says so,
// and instants are counted from the arrival of the request, so that they do not drift.
type Step interface {
	Kind() string // the step's word in timelines and scripts
}

// Headers sends the status line and headers of a stream (200 when Status is 0). Without it they go with the first
// frame.
type Headers struct {
	Status int
	Header map[string]string // added to, or in place of, the dialect's own
}

// Role is the frame that opens the answer and carries no output.
type Role struct{}

// Text is visible output, one frame for each chunk, Every apart; the first is sent at once.
type Text struct {
	Chunks []string
	Every  time.Duration
}

// Think is visible reasoning, in the dialect's own field.
type Think struct {
	Chunks []string
	Every  time.Duration
}

// Tool is one tool call: its opening, then one frame for each fragment of the arguments, Every apart.
type Tool struct {
	Index int
	ID    string
	Name  string
	Args  []string
	Every time.Duration
}

// Usage reports tokens.
type Usage struct{ Prompt, Completion int }

// Finish says why the model stopped, in the dialect's own words (stop, length, tool_calls, content_filter).
type Finish struct{ Reason string }

// Done is the dialect's terminator.
type Done struct{}

// Error is an error frame inside the stream.
type Error struct{ Type, Code, Message string }

// Raw is bytes as given, as one frame.
type Raw struct{ Bytes string }

// Comment is one SSE comment.
type Comment struct{ Text string }

// Empty is a frame with an empty delta: no output.
type Empty struct{}

// Keepalive sends a frame that carries no output every so often, behind all steps that follow, until the program
// ends or another Keepalive; one with Every 0 only ends it.
type Keepalive struct {
	Form  Form
	Every time.Duration
}

// Form says what a keepalive looks like.
type Form string

// The forms of keepalives.
const (
	CommentForm Form = "comment" // an SSE comment
	EmptyForm   Form = "empty"   // an empty delta
	RoleForm    Form = "role"    // the opening frame again
)

// Pause lets time go by: pace, not a fault.
type Pause struct{ For time.Duration }

// Await blocks until the gate is open. Instants after it are counted from its opening.
type Await struct{ Gate string }

// End ends the body as HTTP says (the last chunk). The connection is kept for the next request unless Close.
type End struct{ Close bool }

// Kind is the step's word.
func (Headers) Kind() string { return "headers" }

// Kind is the step's word.
func (Role) Kind() string { return "role" }

// Kind is the step's word.
func (Text) Kind() string { return "text" }

// Kind is the step's word.
func (Think) Kind() string { return "think" }

// Kind is the step's word.
func (Tool) Kind() string { return "tool" }

// Kind is the step's word.
func (Usage) Kind() string { return "usage" }

// Kind is the step's word.
func (Finish) Kind() string { return "finish" }

// Kind is the step's word.
func (Done) Kind() string { return "done" }

// Kind is the step's word.
func (Error) Kind() string { return "error" }

// Kind is the step's word.
func (Raw) Kind() string { return "raw" }

// Kind is the step's word.
func (Comment) Kind() string { return "comment" }

// Kind is the step's word.
func (Empty) Kind() string { return "empty" }

// Kind is the step's word.
func (Keepalive) Kind() string { return "keepalive" }

// Kind is the step's word.
func (Pause) Kind() string { return "pause" }

// Kind is the step's word.
func (Await) Kind() string { return "await" }

// Kind is the step's word.
func (End) Kind() string { return "end" }

// Answer is the program of a request that is answered well: text, then a proper end.
func Answer(chunks ...string) Program {
	return Program{Steps: []Step{Role{}, Text{Chunks: chunks}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: len(chunks)}, Done{}, End{}}}
}

// Validate says what is wrong with the script before anything plays: the program's and the step's number, from 1,
// and the value.
func (s Script) Validate() error {
	for i, p := range s {
		if len(p.Steps) == 0 {
			return fmt.Errorf("script: program %d has no steps", i+1)
		}
		if p.Times < Any {
			return fmt.Errorf("script: program %d: times %d: want %d (any number) or more", i+1, p.Times, Any)
		}
		sent, finished := false, false
		for j, step := range p.Steps {
			if step == nil {
				return fmt.Errorf("script: program %d, step %d: no step", i+1, j+1)
			}
			if err := validate(step); err != nil {
				return fmt.Errorf("script: program %d, step %d (%s): %w", i+1, j+1, step.Kind(), err)
			}
			if finished && sends(step) {
				return fmt.Errorf("script: program %d, step %d (%s): sends, but a half-close came before", i+1, j+1, step.Kind())
			}
			if sent && opens(step) {
				return fmt.Errorf("script: program %d, step %d (%s): opens the answer, but steps before have sent some of it", i+1, j+1, step.Kind())
			}
			sent = sent || sends(step)
			_, half := step.(fault.HalfClose)
			finished = finished || half
			if ends(step) && j < len(p.Steps)-1 {
				return fmt.Errorf("script: program %d, step %d (%s): ends the exchange, but steps follow", i+1, j+1, step.Kind())
			}
		}
	}
	return nil
}

func validate(s Step) error {
	switch s := s.(type) {
	case Text:
		return paced(s.Chunks, s.Every)
	case Think:
		return paced(s.Chunks, s.Every)
	case Tool:
		return positive("every", s.Every)
	case Keepalive:
		if s.Every == 0 && s.Form == "" {
			return nil
		}
		if s.Form != CommentForm && s.Form != EmptyForm && s.Form != RoleForm {
			return fmt.Errorf("form %q: want %s, %s or %s", s.Form, CommentForm, EmptyForm, RoleForm)
		}
		return positive("every", s.Every)
	case Pause:
		return positive("for", s.For)
	case Await:
		if s.Gate == "" {
			return fmt.Errorf("gate has no name")
		}
	case Headers:
		if s.Status != 0 && (s.Status < 200 || s.Status > 599) {
			return fmt.Errorf("status %d: want 200 to 599", s.Status)
		}
	case fault.Status:
		if s.Code < 200 || s.Code > 599 {
			return fmt.Errorf("code %d: want 200 to 599", s.Code)
		}
	case fault.Stall:
		return positive("for", s.For)
	case fault.Drip:
		if s.Bytes < 1 {
			return fmt.Errorf("bytes %d: want 1 or more", s.Bytes)
		}
		return positive("every", s.Every)
	case fault.Split:
		for i, at := range s.At {
			if at < 1 || (i > 0 && at <= s.At[i-1]) {
				return fmt.Errorf("at %v: want ascending offsets above 0", s.At)
			}
		}
		if s.Every < 0 {
			return fmt.Errorf("every %d: want 0 or more", s.Every)
		}
	}
	return nil
}

func paced(chunks []string, every time.Duration) error {
	if len(chunks) == 0 {
		return fmt.Errorf("no chunks")
	}
	return positive("every", every)
}

func positive(name string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%s %s: want 0 or more", name, d)
	}
	return nil
}

// sends says whether the step may put bytes of the answer on the wire.
func sends(s Step) bool {
	switch s := s.(type) {
	case Headers, Role, Text, Think, Tool, Usage, Finish, Done, Error, Raw, Comment, Empty, End, fault.Status:
		return true
	case Keepalive:
		return s.Every > 0
	}
	return false
}

// opens says whether the step must be the first to send.
func opens(s Step) bool {
	switch s.(type) {
	case Headers, fault.Status:
		return true
	}
	return false
}

// ends says whether nothing of the answer can follow the step.
func ends(s Step) bool {
	switch s := s.(type) {
	case fault.Cut, fault.Reset, fault.Status, End:
		return true
	case fault.Stall:
		return s.For == 0
	}
	return false
}
