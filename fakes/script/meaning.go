package script

import (
	"errors"
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
)

// Meaningless says why a step does nothing in any answer to the requests that w chooses, "" when it may do something:
// not every dialect has a form for every fault, and an answer in one piece has none for some. What w leaves open may be
// anything.
func Meaningless(step Step, w When) string {
	if w.Stream != nil && !*w.Stream {
		if why := meaninglessInOnePiece(step); why != "" {
			return why
		}
	}
	if g, ok := step.(fault.Garble); ok && g.How == "no-event" && (chat(w.Dialect) || w.Dialect == "gemini") {
		return w.Dialect + " has no event names"
	}
	switch w.Dialect {
	case "ollama":
		if l, ok := step.(fault.Lines); ok && (l.End == "" || l.End == "lf") {
			return "lines of JSON have nothing but their ends"
		}
	case "bedrock":
		streams := w.Stream != nil && *w.Stream
		switch s := step.(type) {
		case fault.Lines:
			return "bedrock has messages, no lines"
		case fault.Garble:
			if streams && s.How == "utf-8" {
				return "bedrock has lengths and checksums, which would break first: use crc"
			}
		case Keepalive:
			if streams && s.Form == BlankForm {
				return "bedrock has messages, no lines"
			}
		}
	}
	return meaninglessIn(step, w.Dialect)
}

// meaninglessIn is what several dialects have no form for.
func meaninglessIn(step Step, dialect string) string {
	events := chat(dialect) || slices.Contains([]string{"responses", "anthropic", "gemini"}, dialect)
	silent := slices.Contains([]string{"gemini", "ollama", "bedrock", "azure", "groq", "llamacpp", "mistral", "vllm"}, dialect)
	others := []string{"ollama", "bedrock"}
	switch s := step.(type) {
	case fault.Garble:
		switch {
		case checksum(s.How) && (events || dialect == "ollama"):
			return dialect + " has no checksums"
		case ofEvents(s.How) && slices.Contains(others, dialect):
			return dialect + " has no server-sent events"
		}
	case Comment:
		if slices.Contains(others, dialect) {
			return dialect + " has no comments"
		}
	case Ping:
		if silent {
			return dialect + " has no keepalive of its own"
		}
	case Keepalive:
		switch {
		case s.Every == 0:
		case s.Form == PingForm && silent:
			return dialect + " has no keepalive of its own"
		case (s.Form == CommentForm || s.Form == EmptyDataForm) && slices.Contains(others, dialect):
			return dialect + " has no server-sent events"
		case s.Form == RoleForm && slices.Contains([]string{"gemini", "ollama"}, dialect):
			return dialect + " has no opening frame"
		}
	}
	return ""
}

func meaninglessInOnePiece(step Step) string {
	switch s := step.(type) {
	case fault.Lines:
		return "an answer in one piece has no lines"
	case fault.Batch:
		return "an answer in one piece is one frame"
	case fault.Garble:
		if ofEvents(s.How) || checksum(s.How) {
			return "an answer in one piece is no event and has no checksum"
		}
	case Keepalive:
		if s.Every > 0 && s.Form != PingForm && s.Form != BlankForm {
			return "before an answer in one piece only blanks can stand: use blank"
		}
	}
	return ""
}

// chat says whether a dialect is Chat Completions, or a flavour of it.
func chat(dialect string) bool {
	return slices.Contains([]string{"openai", "azure", "deepseek", "groq", "llamacpp", "mistral", "openrouter", "vllm", "xai"}, dialect)
}

func checksum(how string) bool { return how == "crc" || how == "prelude-crc" }

func ofEvents(how string) bool {
	return slices.Contains([]string{"doubled", "no-blank", "no-event", "no-data"}, how)
}

// meaning says which step of a program does nothing.
func meaning(steps []Step, w When) error {
	if err := meaningless(steps, w); err != nil {
		return err
	}
	// The body of an answer in one piece is a frame that comes at its end.
	if w.Stream != nil && !*w.Stream {
		return nil
	}
	var p pending
	lost := p.walk(steps)
	if lost == nil {
		lost = p.garble
	}
	return misstepAt(lost, errNoFrame)
}

// meaningless says which step has no form for these requests.
func meaningless(steps []Step, w When) error {
	for i, step := range steps {
		if r, ok := step.(Repeat); ok {
			if err := meaningless(r.Steps, w); err != nil {
				return &misstep{i + 1, step.Kind(), err}
			}
			continue
		}
		if why := Meaningless(step, w); why != "" {
			return &misstep{i + 1, step.Kind(), nothing(why)}
		}
	}
	return nil
}

var errNoFrame = errors.New("breaks nothing: no frame comes behind it")

// pending is what is known of garbles while steps are gone through.
type pending struct {
	path   []misstep // to the present step, from the outside
	garble []misstep // to the garble that waits for its frame; nil when none does
}

// walk goes through steps as they play. It returns the path to a garble that another takes the place of before any frame
// has come.
func (p *pending) walk(steps []Step) (lost []misstep) {
	for i, step := range steps {
		p.path = append(p.path, misstep{number: i + 1, kind: step.Kind()})
		switch s := step.(type) {
		case Repeat:
			// Twice, since what one round leaves the next begins with.
			for round := 0; round < 2 && (round == 0 || s.Times != 1); round++ {
				if lost := p.walk(s.Steps); lost != nil {
					return lost
				}
			}
			if s.Times == 0 {
				p.garble = nil // there is no last round, and nothing comes behind
			}
		case fault.Garble:
			if p.garble != nil {
				return p.garble
			}
			p.garble = slices.Clone(p.path)
		default:
			if frames(step) {
				p.garble = nil
			}
		}
		p.path = p.path[:len(p.path)-1]
	}
	return nil
}

// frames says whether the step may send a frame that a garble breaks. Keepalives are none.
func frames(s Step) bool {
	switch s.(type) {
	case Headers, End, Keepalive, fault.Status:
		return false
	}
	return sends(s)
}

// misstepAt is the error of the step at the end of a path, nil when there is no path.
func misstepAt(path []misstep, err error) error {
	if path == nil {
		return nil
	}
	for _, m := range slices.Backward(path) {
		m.cause = err
		err = &m
	}
	return err
}

// nothing is why a step does nothing.
type nothing string

func (n nothing) Error() string { return "does nothing for these requests: " + string(n) }
