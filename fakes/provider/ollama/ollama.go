// Package ollama renders the native wire format of Ollama, lines of JSON, from its public documentation.
//
// The wire has no comments, no keepalive, no opening line and none that repeats the message: those steps render nothing.
package ollama

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// Dialect is POST /api/chat and /api/generate, and GET /api/tags and /api/version. The zero value works.
type Dialect struct {
	Models  []string // what GET /api/tags lists; model-x:latest when empty
	Version string   // what GET /api/version says; 0.17.4 when empty
}

// Name is ollama.
func (Dialect) Name() string { return "ollama" }

// Recognise reads a request by its path and JSON body. A body that does not say so wants a stream.
func (d Dialect) Recognise(r *http.Request, body []byte) (provider.Request, provider.Answer) {
	path := r.URL.Path
	chat := strings.HasSuffix(path, "/api/chat")
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/api/tags"):
		return provider.Request{Fixed: d.tags()}, nil
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/api/version"):
		version := d.Version
		if version == "" {
			version = "0.17.4"
		}
		return provider.Request{Fixed: append(appendString([]byte(`{"version":`), version), '}')}, nil
	case r.Method != http.MethodPost || !chat && !strings.HasSuffix(path, "/api/generate"):
		return provider.Request{}, nil
	}
	var in struct {
		Model  string          `json:"model"`
		Stream *bool           `json:"stream"`
		Think  json.RawMessage `json:"think"` // a bool, or a level
	}
	if json.Unmarshal(body, &in) != nil {
		return provider.Request{}, nil
	}
	stream := in.Stream == nil || *in.Stream
	return provider.Request{Model: in.Model, Stream: stream, Results: results(body)}, &answer{
		model: in.Model, chat: chat, silent: string(in.Think) == "false",
	}
}

func (d Dialect) tags() []byte {
	list := d.Models
	if len(list) == 0 {
		list = []string{"model-x:latest"}
	}
	b := []byte(`{"models":[`)
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = appendString(b, m)
		b = append(b, `,"model":`...)
		b = appendString(b, m)
		b = append(b, `,"modified_at":"2026-01-01T00:00:00Z","size":1,"digest":"`+strings.Repeat("0", 64)+
			`","details":{"parent_model":"","format":"gguf","family":"x","families":["x"],"parameter_size":"1B","quantization_level":"Q4_0"}}`...)
	}
	return append(b, "]}"...)
}

// Validate says what the API would refuse in a request: a status and why, or 0. It checks neither roles nor the results
// of tools.
func (Dialect) Validate(_ *http.Request, body []byte) (status int, why string) {
	var in struct {
		Model string `json:"model"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return http.StatusBadRequest, err.Error()
	}
	if in.Model == "" {
		return http.StatusBadRequest, "model is required"
	}
	return 0, ""
}

// answer renders one answer.
type answer struct {
	model  string
	chat   bool // else generate
	silent bool // the request asked for no thinking: the model does not think
	finish string
	usage  *script.Usage
}

// Header sets the headers that the API sends.
func (a *answer) Header(h http.Header, status int, stream bool) {
	h.Set("Content-Type", "application/json; charset=utf-8")
	if stream && status < 400 {
		h.Set("Content-Type", "application/x-ndjson")
	}
}

// Append appends one line.
//
// A tool call is one line, so its frame is its last fragment. Arguments that are no JSON object cannot be said: such a
// call is left out. Finish and Usage are part of the last line, which is Done. Thinking is left out when the request
// asked for none. The model's own refusal is text.
func (a *answer) Append(b []byte, step script.Step, n int) []byte {
	switch s := step.(type) {
	case script.Text:
		return a.line(b, s.Chunks[n], "", nil)
	case script.Refusal:
		return a.line(b, s.Chunks[n], "", nil)
	case script.Think:
		if a.silent {
			return b
		}
		return a.line(b, "", s.Chunks[n], nil)
	case script.Tool:
		if n < len(s.Args) {
			return b
		}
		return a.calls(b, called(nil, s))
	case script.ToolChunk:
		var list []call
		for _, p := range s.Parts {
			list = part(list, p)
		}
		return a.calls(b, list)
	case script.Empty:
		return a.line(b, "", "", nil)
	case script.Finish:
		a.finish = s.Reason
	case script.Usage:
		a.usage = &s
	case script.Done:
		b = a.open(b)
		b = a.message(b, "", "", nil)
		return append(a.done(b), '\n')
	case script.Error:
		return append(appendError(b, s), '\n')
	}
	return b
}

// Body is the last line with the whole message in it, or an error's body.
func (a *answer) Body(status int, said []script.Step) []byte {
	if status >= 400 {
		return problem(status, a.model)
	}
	var text, thought strings.Builder
	var list []call
	for _, step := range said {
		switch s := step.(type) {
		case script.Text:
			text.WriteString(strings.Join(s.Chunks, ""))
		case script.Refusal:
			text.WriteString(strings.Join(s.Chunks, ""))
		case script.Think:
			if !a.silent {
				thought.WriteString(strings.Join(s.Chunks, ""))
			}
		case script.Tool:
			list = called(list, s)
		case script.ToolChunk:
			for _, p := range s.Parts {
				list = part(list, p)
			}
		case script.Finish:
			a.finish = s.Reason
		case script.Usage:
			a.usage = &s
		case script.Error:
			return appendError(nil, s)
		}
	}
	b := a.open(nil)
	b = a.message(b, text.String(), thought.String(), list)
	return a.done(b)
}

// open appends what every line begins with. Each says when it was made.
func (a *answer) open(b []byte) []byte {
	b = append(b, `{"model":`...)
	b = appendString(b, a.model)
	b = append(b, `,"created_at":"`...)
	b = time.Now().UTC().AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

func (a *answer) line(b []byte, text, thought string, list []call) []byte {
	b = a.message(a.open(b), text, thought, list)
	return append(b, ",\"done\":false}\n"...)
}

// calls appends a line of calls. generate has none.
func (a *answer) calls(b []byte, list []call) []byte {
	if len(list) == 0 || !a.chat {
		return b
	}
	return a.line(b, "", "", list)
}

// message appends the part of a line that says something, in chat with the role in every one.
func (a *answer) message(b []byte, text, thought string, list []call) []byte {
	if a.chat {
		b = append(b, `,"message":{"role":"assistant","content":`...)
	} else {
		b = append(b, `,"response":`...)
	}
	b = appendString(b, text)
	if thought != "" {
		b = append(b, `,"thinking":`...)
		b = appendString(b, thought)
	}
	if !a.chat {
		return b
	}
	if len(list) > 0 {
		calls, _ := json.Marshal(list) // strings, numbers and valid JSON cannot fail
		b = append(b, `,"tool_calls":`...)
		b = append(b, calls...)
	}
	return append(b, '}')
}

// done appends the end of the last line. The times are those of a model that is loaded, reads a token in a millisecond
// and writes one in ten.
func (a *answer) done(b []byte) []byte {
	b = append(b, `,"done":true`...)
	if reason := doneReason(a.finish); reason != "" {
		b = append(b, `,"done_reason":`...)
		b = appendString(b, reason)
	}
	u := script.Usage{}
	if a.usage != nil {
		u = *a.usage
	}
	const load = 50 * time.Millisecond
	read, write := time.Duration(u.Prompt)*time.Millisecond, time.Duration(u.Completion)*10*time.Millisecond
	for _, f := range []struct {
		name  string
		value int
	}{
		{"total_duration", int(load + read + write)}, {"load_duration", int(load)},
		{"prompt_eval_count", u.Prompt}, {"prompt_eval_duration", int(read)},
		{"eval_count", u.Completion}, {"eval_duration", int(write)},
	} {
		if f.value > 0 { // zero is absent
			b = append(b, `,"`...)
			b = append(b, f.name...)
			b = append(b, `":`...)
			b = strconv.AppendInt(b, int64(f.value), 10)
		}
	}
	return append(b, '}')
}

// doneReason is the API's word: it stops at a tool call, at a filter and at a refusal as at any end.
func doneReason(word string) string {
	switch word {
	case "tool_calls", "content_filter", "refusal":
		return "stop"
	}
	return word
}

type call struct {
	ID       string   `json:"id,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Index     *int            `json:"index,omitempty"`
	Name      *string         `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// called adds a whole call, unless its arguments are no object.
func called(list []call, t script.Tool) []call {
	args, ok := object(strings.Join(t.Args, ""))
	if !ok {
		return list
	}
	return append(list, call{ID: t.ID, Function: function{Index: &t.Index, Name: &t.Name, Arguments: args}})
}

// part adds what can be said of a part of a call: there is no form for a type, or for a piece of the arguments.
func part(list []call, p script.ToolPart) []call {
	var c call
	c.ID = p.ID.Text
	if p.Name.Set && !p.Name.Null {
		c.Function.Name = &p.Name.Text
	}
	switch args, ok := object(p.Args.Text); {
	case p.Args.Null:
		c.Function.Arguments = json.RawMessage("null")
	case p.Args.Set && ok:
		c.Function.Arguments = args
	}
	if c.ID == "" && c.Function.Name == nil && c.Function.Arguments == nil {
		return list
	}
	if n, err := strconv.Atoi(p.Index.Text); err == nil {
		c.Function.Index = &n
	}
	return append(list, c)
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

// appendError appends an error of the script. It is one text.
func appendError(b []byte, e script.Error) []byte {
	text := e.Message
	for _, other := range []string{e.Type, e.Code, "an error was encountered while running the model"} {
		if text == "" {
			text = other
		}
	}
	return append(appendString(append(b, `{"error":`...), text), '}')
}

// problem is what the API says with a status.
func problem(status int, model string) []byte {
	text := strings.ToLower(http.StatusText(status))
	switch status {
	case http.StatusBadRequest:
		text = "invalid request"
	case http.StatusUnauthorized:
		return []byte(`{"error":"unauthorized","signin_url":"https://ollama.test/connect"}`)
	case http.StatusNotFound:
		text = "model '" + model + "' not found"
	case http.StatusTooManyRequests:
		text = "you have reached your usage limit"
	case http.StatusServiceUnavailable:
		text = "server busy, please try again.  maximum pending requests exceeded"
	}
	return appendError(nil, script.Error{Message: text})
}

// appendString appends s as a JSON string, with the signs of HTML escaped as the server does. Bytes that are not UTF-8
// become U+FFFD.
func appendString(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string cannot fail
	return append(b, text...)
}
