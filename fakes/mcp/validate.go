package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// Validate says what is wrong with the script before anything plays: the program's and the step's number, from 1,
// and the value.
func (s Script) Validate() error {
	c := checker{words()}
	for _, r := range s.Revisions {
		if !slices.Contains(Revisions(), r) {
			return fmt.Errorf("mcp: revision %q: want one of %v", r, Revisions())
		}
	}
	m := s.Manners
	for _, err := range []error{c.spelled(m, "MANNERS"), c.spelled(m.OnCancel, "CANCEL"), notBefore("for", m.Lives.For), notBefore("changed", m.List.Changed),
		c.spelled(m.Process, "PROCESS"), c.spelled(m.Process.Dies, "exit"), m.Process.validate()} {
		if err != nil {
			return fmt.Errorf("mcp: manners: %w", err)
		}
	}
	for i, t := range s.Tools {
		if t.Name == "" {
			return fmt.Errorf("mcp: tool %d has no name", i+1)
		}
		if i == second(s.Tools) {
			return fmt.Errorf("mcp: tool %d is a second %q, which no call would reach; a program for tools/list can answer with such a list", i+1, t.Name)
		}
		if t.Takes < 0 {
			return fmt.Errorf("mcp: tool %q: takes %s: want 0 or more", t.Name, t.Takes)
		}
		for _, err := range []error{isJSON("schema", t.Schema), isJSON("output", t.Output), inTime(t.Progress), sized(t.Result),
			c.spelled(t, "TOOL"), c.spelled(t.OnCancel, "CANCEL"), c.spelled(t.Progress, "progress"), c.spelled(t.Result, "result")} {
			if err != nil {
				return fmt.Errorf("mcp: tool %q: %w", t.Name, err)
			}
		}
	}
	for i, p := range s.Programs {
		if len(p.Steps) == 0 {
			return fmt.Errorf("mcp: program %d has no steps", i+1)
		}
		if p.Times < script.Any || p.When.Ordinal < 0 {
			return fmt.Errorf("mcp: program %d: want times of %d (any number) or more, and requests counted from 1", i+1, script.Any)
		}
		if err := c.spelled(p.OnCancel, "CANCEL"); err != nil {
			return fmt.Errorf("mcp: program %d: %w", i+1, err)
		}
		if err := c.steps(p.Steps, 0); err != nil {
			return fmt.Errorf("mcp: program %d, %w", i+1, err)
		}
	}
	return nil
}

// second is the first of the tools, from 0, whose name one before it has, or -1.
func second(tools []Tool) int {
	names := map[string]bool{}
	for i, t := range tools {
		if names[t.Name] {
			return i
		}
		names[t.Name] = true
	}
	return -1
}

// checker checks with the words of files.
type checker struct{ words map[string]word }

// deepest is how deep repeats may be nested.
const deepest = 8

func (c checker) steps(steps []script.Step, depth int) error {
	if depth > deepest {
		return fmt.Errorf("more than %d repeats inside each other", deepest)
	}
	known := map[string]bool{}
	for _, s := range Steps() {
		known[fmt.Sprintf("%T", s)] = true
	}
	for i, step := range steps {
		if step == nil || !known[fmt.Sprintf("%T", step)] {
			return fmt.Errorf("step %d: an MCP server has no step %T", i+1, step)
		}
		if err := c.step(step); err != nil {
			return fmt.Errorf("step %d (%s): %w", i+1, step.Kind(), err)
		}
		if r, ok := step.(script.Repeat); ok {
			if err := c.steps(r.Steps, depth+1); err != nil {
				return fmt.Errorf("step %d (%s): %w", i+1, step.Kind(), err)
			}
		}
	}
	return nil
}

// step says what is wrong with a step by itself. The first word names the key.
func (c checker) step(step script.Step) error {
	if err := c.spelled(step, step.Kind()); err != nil {
		return err
	}
	switch s := step.(type) {
	case script.Repeat:
		switch {
		case s.Times < 0:
			return fmt.Errorf("times %d: want 0 (without end) or more", s.Times)
		case len(s.Steps) == 0:
			return fmt.Errorf("no steps")
		case s.Times == 0 && !takesTime(s.Steps):
			return fmt.Errorf("takes no time, and would never let another go on: put a pause into it")
		}
	case script.Headers:
		if s.Gzip {
			return fmt.Errorf("gzip is for providers")
		}
		return script.Check(s)
	case fault.Garble:
		if s.How == "crc" || s.How == "prelude-crc" {
			return fmt.Errorf("how is %q: MCP has no checksums", s.How)
		}
		return script.Check(s)
	case Progress:
		return inTime(s)
	case Notify:
		return isJSON("params", s.Params)
	case Ask:
		if err := notBefore("for", s.For); err != nil {
			return err
		}
		return isJSON("params", s.Params)
	case Error:
		return isJSON("data", s.Data)
	case Result:
		return sized(s)
	case EndStream:
		return notBefore("retry", s.Retry)
	case Exit:
		return s.validate()
	case StopReading:
		return notBefore("for", s.For)
	default:
		return script.Check(s)
	}
	return nil
}

func notBefore(key string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%s %s: want 0 or more", key, d)
	}
	return nil
}

// spelled says that a field has none of the words that it may have. The entry is that of words.
func (c checker) spelled(of any, entry string) error {
	v := reflect.ValueOf(of)
	known := c.words[entry].Keys
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		value := v.Field(i)
		if k := known[name]; value.Kind() == reflect.String && k.Words != nil && value.String() != "" && !slices.Contains(k.Words, value.String()) {
			return fmt.Errorf("%s is %.40q: want %s", name, value, strings.Join(k.Words, ", "))
		}
	}
	return nil
}

func inTime(p Progress) error {
	switch {
	case p.Every < 0:
		return fmt.Errorf("every %s: want 0 or more", p.Every)
	case p.Count < 0 || p.Total < 0:
		return fmt.Errorf("count %d of %d: want 0 or more", p.Count, p.Total)
	}
	return nil
}

// takesTime says whether the steps let time go by or wait for somebody.
func takesTime(steps []script.Step) bool {
	return slices.ContainsFunc(steps, func(step script.Step) bool {
		switch s := step.(type) {
		case script.Pause:
			return s.For > 0
		case Progress:
			return s.Every > 0
		case Ask:
			return !s.Blind
		case script.Repeat:
			return takesTime(s.Steps)
		case script.Await, AwaitCancel, fault.Stall:
			return true
		}
		return false
	})
}

// isJSON says that what a step sends is JSON; what is none is for Raw.
func isJSON(key, text string) error {
	if text != "" && !json.Valid([]byte(text)) {
		return fmt.Errorf("%s is %.80q: want JSON", key, text)
	}
	return nil
}

const sizeLimit = 1 << 30

func sized(r Result) error {
	if r.Size < 0 || r.Size > sizeLimit || r.Times < 0 {
		return fmt.Errorf("size %d, %d times: want at most %d bytes, and no number below 0", r.Size, r.Times, sizeLimit)
	}
	if err := isJSON("json", r.JSON); err != nil {
		return err
	}
	return isJSON("structured", r.Structured)
}
