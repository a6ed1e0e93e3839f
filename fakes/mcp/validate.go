package mcp

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/stallwright/stallwright/fakes/script"
)

// Validate says what is wrong with the script before anything plays: the program's and the step's number, from 1,
// and the value.
func (s Script) Validate() error {
	for _, r := range s.Revisions {
		if !slices.Contains(Revisions(), r) {
			return fmt.Errorf("mcp: revision %q: want one of %v", r, Revisions())
		}
	}
	for i, t := range s.Tools {
		if t.Name == "" {
			return fmt.Errorf("mcp: tool %d has no name", i+1)
		}
		for _, text := range []string{t.Schema, t.Output, t.Result.JSON, t.Result.Structured} {
			if text != "" && !json.Valid([]byte(text)) {
				return fmt.Errorf("mcp: tool %q has %.80q: want JSON", t.Name, text)
			}
		}
		if t.Takes < 0 || t.Progress.Every < 0 || t.Progress.Count < 0 {
			return fmt.Errorf("mcp: tool %q: want no time and no count below 0", t.Name)
		}
		if err := sized(t.Result); err != nil {
			return fmt.Errorf("mcp: tool %q: %w", t.Name, err)
		}
	}
	for i, p := range s.Programs {
		if len(p.Steps) == 0 {
			return fmt.Errorf("mcp: program %d has no steps", i+1)
		}
		if p.Times < script.Any || p.When.Ordinal < 0 {
			return fmt.Errorf("mcp: program %d: want times of %d (any number) or more, and requests counted from 1", i+1, script.Any)
		}
		if err := validSteps(p.Steps); err != nil {
			return fmt.Errorf("mcp: program %d, %w", i+1, err)
		}
	}
	return nil
}

func validSteps(steps []script.Step) error {
	known := map[string]bool{}
	for _, s := range Steps() {
		known[fmt.Sprintf("%T", s)] = true
	}
	for i, step := range steps {
		if step == nil || !known[fmt.Sprintf("%T", step)] {
			return fmt.Errorf("step %d: an MCP server has no step %T", i+1, step)
		}
		var err error
		switch s := step.(type) {
		case script.Repeat:
			if len(s.Steps) == 0 || s.Times < 0 {
				err = fmt.Errorf("want steps, and times of 0 (without end) or more")
			} else {
				err = validSteps(s.Steps)
			}
		case Progress:
			if s.Every < 0 || s.Count < 0 {
				err = fmt.Errorf("want no time and no count below 0")
			}
		case Notify:
			err = isJSON(s.Params)
		case Ask:
			err = isJSON(s.Params)
		case Error:
			err = isJSON(s.Data)
		case Result:
			err = sized(s)
		}
		if err != nil {
			return fmt.Errorf("step %d (%s): %w", i+1, step.Kind(), err)
		}
	}
	return nil
}

// isJSON says that what a step sends is JSON; what is none is for Raw.
func isJSON(text string) error {
	if text != "" && !json.Valid([]byte(text)) {
		return fmt.Errorf("%.80q: want JSON", text)
	}
	return nil
}

const sizeLimit = 1 << 30

func sized(r Result) error {
	if r.Size < 0 || r.Size > sizeLimit || r.Times < 0 {
		return fmt.Errorf("a result of %d bytes, %d times: want at most %d bytes, and no number below 0", r.Size, r.Times, sizeLimit)
	}
	for _, text := range []string{r.JSON, r.Structured} {
		if err := isJSON(text); err != nil {
			return err
		}
	}
	return nil
}
