package script

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
)

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
		if p.When.Ordinal < 0 || p.When.Attempt < 0 {
			return fmt.Errorf("script: program %d: when: want requests and attempts counted from 1", i+1)
		}
		err := (&order{}).steps(p.Steps, 0)
		if err == nil {
			err = meaning(p.Steps, p.When)
		}
		if err != nil {
			return fmt.Errorf("script: program %d, %w", i+1, err)
		}
		for name := range p.When.Header {
			if !headerName(name) {
				return fmt.Errorf("script: program %d: when: header %.60q: want a name of letters, digits and dashes", i+1, name)
			}
		}
		if by := s.hiding(i); by >= 0 {
			return fmt.Errorf("script: program %d: %s", i+1, neverReached(by))
		}
	}
	return nil
}

// hiding is the number, from 0, of the program before this one that takes every request that this one is for, or -1.
func (s Script) hiding(i int) int {
	return slices.IndexFunc(s[:i], func(p Program) bool { return p.Times == Any && p.When.covers(s[i].When) })
}

func neverReached(by int) string {
	return fmt.Sprintf("never reached: program %d, for any number of requests, takes all that this one is for; put it before that one", by+1)
}

// covers says whether w chooses every request that o chooses.
func (w When) covers(o When) bool {
	for name, text := range w.Header {
		held := func(other string) bool {
			return strings.EqualFold(name, other) && strings.Contains(o.Header[other], text)
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(o.Header)), held) {
			return false
		}
	}
	return (w.Ordinal == 0 || w.Ordinal == o.Ordinal) && (w.Dialect == "" || w.Dialect == o.Dialect) &&
		strings.HasSuffix(o.Path, w.Path) && (w.Model == "" || w.Model == o.Model) &&
		(w.Stream == nil || o.Stream != nil && *w.Stream == *o.Stream) &&
		strings.Contains(o.Contains, w.Contains) && (w.Attempt == 0 || w.Attempt == o.Attempt)
}

// Validate says what is wrong with the file, its programs included. Each gate that they open one of them awaits; who else
// opens those that they await a file cannot know.
func (f File) Validate() error {
	c := f.Connections
	for _, n := range []struct {
		name  string
		value int
	}{{"refuse", c.Refuse}, {"mute", c.Mute}, {"requests", c.Requests}, {"streams", c.Streams}} {
		if n.value < 0 {
			return fmt.Errorf("script: connections: %s %d: want 0 or more", n.name, n.value)
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"accept-after", c.AcceptAfter}, {"idle-close", c.IdleClose}} {
		if err := positive(d.name, d.value); err != nil {
			return fmt.Errorf("script: connections: %w", err)
		}
	}
	if err := f.Programs.Validate(); err != nil {
		return err
	}
	for i, p := range f.Programs {
		if err := stray(p.Steps, unawaited(f.Programs.Awaited())); err != nil {
			return fmt.Errorf("script: program %d, %w", i+1, err)
		}
	}
	return nil
}

// order is what is known of an answer while its steps are gone through.
type order struct {
	sent, finished bool
	ended          string // the step that ended the exchange
}

// misstep says which step is wrong, counted from 1. Inside a repeat its cause is one too.
type misstep struct {
	number int
	kind   string
	cause  error
}

func (m *misstep) Error() string { return fmt.Sprintf("step %d (%s): %v", m.number, m.kind, m.cause) }

func (m *misstep) Unwrap() error { return m.cause }

// most is how deep repeats may be nested.
const most = 8

func (o *order) steps(steps []Step, depth int) error {
	for j, step := range steps {
		if step == nil {
			return fmt.Errorf("step %d: no step", j+1)
		}
		at := func(format string, args ...any) error {
			return &misstep{j + 1, step.Kind(), fmt.Errorf(format, args...)}
		}
		if o.ended != "" {
			return at("comes after %s, which ends the exchange", o.ended)
		}
		if err := validate(step); err != nil {
			return at("%w", err)
		}
		if o.finished && sends(step) {
			return at("sends, but a half-close came before")
		}
		if o.sent && opens(step) {
			return at("opens the answer, but steps before have sent some of it")
		}
		o.sent = o.sent || sends(step)
		_, half := step.(fault.HalfClose)
		o.finished = o.finished || half
		if ends(step) {
			o.ended = step.Kind()
		}
		if r, ok := step.(Repeat); ok {
			if depth == most {
				return at("more than %d of them inside each other", most)
			}
			// Twice, since what one round leaves the next begins with.
			for range 2 {
				if err := o.steps(r.Steps, depth+1); err != nil {
					return at("%w", err)
				}
				if r.Times == 1 || o.ended != "" {
					break
				}
			}
			if o.ended != "" && r.Times != 1 {
				return at("repeats %s, which ends the exchange", o.ended)
			}
			if r.Times == 0 {
				o.ended = step.Kind()
			}
		}
	}
	return nil
}

func validate(s Step) error {
	switch s := s.(type) {
	case Text:
		return paced(s.Chunks, s.Every, s.Jitter)
	case Think:
		return paced(s.Chunks, s.Every, s.Jitter)
	case Refusal:
		return paced(s.Chunks, s.Every, 0)
	case Flood:
		if s.Frames < 1 || s.Bytes < 1 || s.Bytes > floodLimit {
			return fmt.Errorf("%d frames of %d bytes: want at least 1 of at least 1, and at most %d bytes in one", s.Frames, s.Bytes, floodLimit)
		}
		return positive("every", s.Every)
	case Tool:
		return positive("every", s.Every)
	case ToolChunk:
		if len(s.Parts) == 0 {
			return fmt.Errorf("no parts")
		}
		for _, p := range s.Parts {
			if _, err := strconv.Atoi(p.Index.Text); p.Index.Set && !p.Index.Null && err != nil {
				return fmt.Errorf("index %q: want a number", p.Index.Text)
			}
			for _, v := range []Value{p.Index, p.ID, p.Type, p.Name, p.Args} {
				if v.Text != "" && (v.Null || !v.Set) {
					return fmt.Errorf("a part that is null or absent, and has the text %.60q", v.Text)
				}
				if v.Null && !v.Set {
					return fmt.Errorf("a part that is null and absent")
				}
			}
		}
	case Usage:
		if s.Prompt < 0 || s.Completion < 0 || s.Reasoning < 0 || s.Cached < 0 {
			return fmt.Errorf("tokens below 0")
		}
	case Error:
		return oneOf("form", string(s.Form), "", string(DataForm), string(ChoicesForm), string(FlatForm))
	case Keepalive:
		if s.Every == 0 && s.Form == "" {
			return nil
		}
		if err := oneOf("form", string(s.Form), string(CommentForm), string(PingForm), string(EmptyForm), string(EmptyDataForm), string(RoleForm), string(BlankForm)); err != nil {
			return err
		}
		if err := positive("for", s.For); err != nil {
			return err
		}
		return positive("every", s.Every)
	case Pause:
		if err := positive("jitter", s.Jitter); err != nil {
			return err
		}
		return positive("for", s.For)
	case Await:
		return named("gate", s.Gate)
	case Open:
		if s.Gate == Never {
			return fmt.Errorf("gate %s is the one that never opens", Never)
		}
		return named("gate", s.Gate)
	case Meet:
		if s.Streams < 2 {
			return fmt.Errorf("streams %d: want 2 or more", s.Streams)
		}
		return named("barrier", s.Barrier)
	case Repeat:
		if s.Times < 0 {
			return fmt.Errorf("times %d: want 0 (without end) or more", s.Times)
		}
		if len(s.Steps) == 0 {
			return fmt.Errorf("no steps")
		}
		if s.Times == 0 && !takesTime(s.Steps) {
			return fmt.Errorf("takes no time, and would never let another go on: put a pause into it")
		}
	case Headers:
		if s.Status != 0 && (s.Status < 200 || s.Status > 599) {
			return fmt.Errorf("status %d: want 200 to 599", s.Status)
		}
		return header(s.Header)
	case fault.Status:
		if s.Code < 200 || s.Code > 599 {
			return fmt.Errorf("code %d: want 200 to 599", s.Code)
		}
		if s.Blank && s.Body != "" {
			return fmt.Errorf("a blank body that holds %d bytes", len(s.Body))
		}
		if !headerValue(s.ContentType) {
			return fmt.Errorf("content-type %.60q: want a text on one line", s.ContentType)
		}
		return header(s.Header)
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
	case fault.Batch:
		if s.Frames < 2 {
			return fmt.Errorf("frames %d: want 2 or more", s.Frames)
		}
	case fault.Lines:
		return oneOf("end", s.End, "", "lf", "crlf", "cr")
	case fault.Garble:
		return oneOf("how", s.How, append([]string{""}, fault.Garbles()...)...)
	case fault.StreamReset:
		return code(s.Code)
	case fault.GoAway:
		if s.Last < -1 {
			return fmt.Errorf("last %d: want a stream, 0 for the present one, or -1 for none", s.Last)
		}
		return code(s.Code)
	}
	return nil
}

// floodLimit bounds the text of one frame.
const floodLimit = 64 << 20

// takesTime says whether the steps let time go by or wait for somebody.
func takesTime(steps []Step) bool {
	for _, s := range steps {
		switch s := s.(type) {
		case Pause:
			if s.For > 0 {
				return true
			}
		case Await, Meet, fault.Stall:
			return true
		case Text:
			if s.Every > 0 && len(s.Chunks) > 1 {
				return true
			}
		case Think:
			if s.Every > 0 && len(s.Chunks) > 1 {
				return true
			}
		case Flood:
			if s.Every > 0 && s.Frames > 1 {
				return true
			}
		case Repeat:
			if takesTime(s.Steps) {
				return true
			}
		}
	}
	return false
}

func oneOf(name, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	if choices[0] == "" {
		choices = choices[1:]
	}
	return fmt.Errorf("%s %q: want %s", name, value, strings.Join(choices, ", "))
}

func named(what, name string) error {
	if name == "" {
		return fmt.Errorf("%s has no name", what)
	}
	return nil
}

// Codes are the names of HTTP/2's error codes, in the order of their numbers.
func Codes() []string {
	return []string{
		"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
		"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
	}
}

func code(name string) error { return oneOf("code", name, append([]string{""}, Codes()...)...) }

func paced(chunks []string, every, jitter time.Duration) error {
	if len(chunks) == 0 {
		return fmt.Errorf("no chunks")
	}
	if err := positive("jitter", jitter); err != nil {
		return err
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
	case Headers, Role, Text, Think, Refusal, Flood, Tool, ToolChunk, Usage, Finish, Done, Message, Error, Raw, Comment, Ping, Empty, End, fault.Status:
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
	case fault.Cut, fault.Reset, fault.Status, fault.StreamReset, End:
		return true
	case fault.Stall:
		return s.For == 0
	}
	return false
}
