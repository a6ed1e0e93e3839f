package approver

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// Script is what a fake plays in one session: a request takes the first program that fits and is not used up, and is answered yes when
// none is there at all.
type Script []Program

// Program answers one request, or Times of them.
type Program struct {
	When  When
	Times int // 0 is once, script.Any is without limit
	Steps []script.Step
}

// When chooses requests. A zero field fits every request.
type When struct {
	Tool     string `yaml:"tool,omitempty"`     // the tool that is asked about
	Contains string `yaml:"contains,omitempty"` // the request's body has this text
	Ordinal  int    `yaml:"request,omitempty"`  // the so-many-th request of the session, from 1
}

func (w When) fits(tool string, body []byte, ordinal int) bool {
	return (w.Tool == "" || w.Tool == tool) && (w.Contains == "" || bytes.Contains(body, []byte(w.Contains))) && (w.Ordinal == 0 || w.Ordinal == ordinal)
}

// Steps lists every step that a program may have, with no values in it. Decide and the faults but a stall with an end are the last that
// is done of a program; one that has none of them ends as if by Decide with a yes.
func Steps() []script.Step {
	return []script.Step{Decide{}, script.Pause{}, script.Await{}, script.Open{}, fault.Stall{}, fault.Cut{}, fault.Reset{}, fault.Status{}}
}

// Decide answers with a decision.
type Decide struct {
	Approved  bool      `yaml:"approved"`
	Reason    string    `yaml:"reason,omitempty"`
	Signature Signature `yaml:"signature,omitempty"`
	Pad       int       `yaml:"pad,omitempty"` // bytes of blanks behind it, at most 64 MiB
}

// Kind is the step's word.
func (Decide) Kind() string { return "decide" }

// Signature says what is wrong with the signature of a decision, where there is a secret.
type Signature string

// The signatures.
const (
	Signed        Signature = ""       // proper
	Unsigned      Signature = "none"   // there is none
	WrongKey      Signature = "wrong"  // of another secret
	OtherDecision Signature = "other"  // of a decision on another approval
	OldStamp      Signature = "old"    // of a day and a minute ago
	FutureStamp   Signature = "future" // of a day and a minute ahead
	Prefix        Signature = "prefix" // half of a proper one
)

// Signatures lists the faulty ones.
func Signatures() []Signature {
	return []Signature{Unsigned, WrongKey, OtherDecision, OldStamp, FutureStamp, Prefix}
}

const maxPad = 64 << 20

// Validate says what is wrong with the script before anything plays: the program's and the step's number, from 1, and the value.
func (s Script) Validate() error {
	known := map[string]bool{}
	for _, step := range Steps() {
		known[fmt.Sprintf("%T", step)] = true
	}
	for i, p := range s {
		switch {
		case len(p.Steps) == 0:
			return fmt.Errorf("approver: program %d has no steps", i+1)
		case p.Times < script.Any, p.When.Ordinal < 0:
			return fmt.Errorf("approver: program %d: want times of %d (any number) or more, and requests counted from 1", i+1, script.Any)
		}
		for j, step := range p.Steps {
			if !known[fmt.Sprintf("%T", step)] {
				return fmt.Errorf("approver: program %d, step %d: an approver has no step %T", i+1, j+1, step)
			}
			if err := check(step); err != nil {
				return fmt.Errorf("approver: program %d, step %d (%s): %w", i+1, j+1, step.Kind(), err)
			}
			if last(step) && j < len(p.Steps)-1 {
				return fmt.Errorf("approver: program %d, step %d (%s): nothing comes after it", i+1, j+1, step.Kind())
			}
		}
	}
	return nil
}

// check says what is wrong with a step by itself. The first word names the key.
func check(step script.Step) error {
	switch s := step.(type) {
	case Decide:
		switch {
		case s.Signature != Signed && !slices.Contains(Signatures(), s.Signature):
			return fmt.Errorf("signature is %.40q: want %v", s.Signature, Signatures())
		case s.Pad < 0 || s.Pad > maxPad:
			return fmt.Errorf("pad %d: want from 0 to %d", s.Pad, maxPad)
		}
		return nil
	case script.Pause:
		if s.Jitter != 0 {
			return fmt.Errorf("jitter %s: an approver has no seed for it", s.Jitter)
		}
	}
	return script.Check(step)
}

// last says whether nothing can come after a step.
func last(step script.Step) bool {
	switch s := step.(type) {
	case Decide, fault.Cut, fault.Reset, fault.Status:
		return true
	case fault.Stall:
		return s.For == 0
	}
	return false
}
