package gemini

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/stallwright/stallwright/fakes/script"
)

// call appends the part of a whole call, nil when its arguments are no object.
func (a *answer) call(b []byte, t script.Tool) []byte {
	args, ok := object(strings.Join(t.Args, ""))
	if !ok {
		a.broken = t.Name
		return nil
	}
	part := call{Name: &t.Name, Args: args}
	if t.ID != "" {
		part.ID = &t.ID
	}
	return a.part(b, part)
}

// calls is the parts of a chunk of calls, nil when nothing of them can be said. There is no form for an index, a type,
// null, or a piece of the arguments.
func (a *answer) calls(parts []script.ToolPart) []byte {
	var b []byte
	for _, p := range parts {
		var c call
		if p.ID.Set && !p.ID.Null {
			c.ID = &p.ID.Text
		}
		if p.Name.Set && !p.Name.Null {
			c.Name = &p.Name.Text
		}
		if p.Args.Set && !p.Args.Null {
			c.Args, _ = object(p.Args.Text)
		}
		if c.ID == nil && c.Name == nil && c.Args == nil {
			continue
		}
		if b != nil {
			b = append(b, ',')
		}
		b = a.part(b, c)
	}
	return b
}

type call struct {
	ID   *string         `json:"id,omitempty"`
	Name *string         `json:"name,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`
}

// part appends a part with a call. The first of an answer carries the signature.
func (a *answer) part(b []byte, c call) []byte {
	a.spoke = true
	b = append(b, `{"functionCall":`...)
	text, _ := json.Marshal(c) // strings and valid JSON cannot fail
	b = append(b, text...)
	if !a.signed {
		a.signed = true
		b = append(b, `,"thoughtSignature":"`+signature+`"`...)
	}
	return append(b, '}')
}

// object is the text on one line, if it is a JSON object. No text is an empty one.
func object(text string) (json.RawMessage, bool) {
	if text == "" {
		return json.RawMessage("{}"), true
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil || b.Bytes()[0] != '{' {
		return nil, false
	}
	return b.Bytes(), true
}

// appendString appends s as a JSON string, with the signs of HTML escaped as the API does. Bytes that are not UTF-8
// become U+FFFD.
func appendString(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string cannot fail
	return append(b, text...)
}
