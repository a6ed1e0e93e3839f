package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

const (
	maxArguments = 1 << 20 // of all tool calls of one answer: far above any schema, far below what hurts
	maxToolCalls = 256     // above the 128 tools a request may offer
)

var errDone = errors.New("openai: done") // ends the reading at [DONE]

// decoder turns the body of a 200 answer into items and holds what the answer has said so far.
type decoder struct {
	emit      func(llm.Item) error
	secret    string          // never quoted
	began     bool            // an event came
	said      bool            // there was output
	finished  string          // the last finish reason
	count     *usage          // so far, waiting for the end
	ids       *wire.IDs       // for calls that come without
	calls     map[int64]*call // the latest at each of the provider's indexes
	opened    int             // how many calls there are
	arguments int             // bytes so far
}

type call struct {
	index    int // the item's: calls are counted as they appear
	id, name string
	held     []byte // arguments that came before the name
}

// decode reads body to the end of the answer. What the content type says is believed only where the body leaves a
// choice: gateways send event streams as JSON and errors as event streams.
func (d *decoder) decode(ctx context.Context, contentType string, body io.Reader) error {
	contentType, _, _ = strings.Cut(strings.ToLower(contentType), ";")
	contentType = strings.TrimSpace(contentType)
	in := bufio.NewReader(body)
	switch first := wire.FirstByte(in); {
	case first == '{', first == '[':
		return d.whole(in)
	case first == '<', contentType == "text/html":
		text, _ := io.ReadAll(io.LimitReader(in, wire.MaxErrorBody))
		return d.fail("HTML instead of an answer: ", string(text))
	}
	return d.stream(ctx, contentType, in)
}

// fail is the error of an answer that is none.
func (d *decoder) fail(what, text string) *llm.Error { return wire.NoAnswer(what, text, d.secret) }

func (d *decoder) stream(ctx context.Context, contentType string, in io.Reader) error {
	for event, err := range wire.Events(in) {
		if err != nil {
			return wire.ReadFailed(err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if event.Data == "" { // only a name or an id: nothing is dispatched
			continue
		}
		d.began = true
		if err := d.event(event); errors.Is(err, errDone) {
			return d.complete()
		} else if err != nil {
			return err
		}
	}
	if d.finished != "" {
		return d.complete()
	}
	if !d.began && contentType != "text/event-stream" {
		return d.fail("neither events nor JSON, but content type ", contentType)
	}
	return &llm.Error{Code: llm.ProviderTruncated, Message: "the stream ended without [DONE] or a finish reason"}
}

// complete ends the answer. It is nil unless that leaves something open.
func (d *decoder) complete() error {
	for _, c := range d.calls {
		if c.name == "" {
			return &llm.Error{Code: llm.ProviderError, Message: fmt.Sprintf("tool call %d has no name", c.index)}
		}
	}
	return d.usage(d.count)
}

func (d *decoder) event(event wire.Event) error {
	if strings.TrimSpace(event.Data) == "[DONE]" {
		return errDone
	}
	var a answer
	if err := d.unmarshal([]byte(event.Data), &a); err != nil {
		return err
	}
	if event.Type == "error" {
		a.Object = "error"
	}
	if err := a.failure(event.Data); err != nil {
		return err
	}
	for i := range a.Choices {
		c := &a.Choices[i]
		if c.Index != 0 {
			continue
		}
		m := &c.Delta
		if c.Message != nil && !d.said && m.empty() { // the message at once; after deltas it is all of them again
			m = c.Message
			m.number()
		}
		if err := d.choice(m, c.FinishReason); err != nil {
			return err
		}
	}
	if a.Usage != nil && len(a.Choices) > 0 && d.finished == "" { // some count in every chunk, which is no output
		d.count = a.Usage
		return nil
	}
	return d.usage(a.Usage)
}

// whole reads a body that is one JSON text: an error, or an answer that was not streamed.
func (d *decoder) whole(in io.Reader) error {
	body, err := wire.Whole(in)
	if err != nil {
		return wire.ReadFailed(err)
	}
	var a answer
	if err := d.unmarshal(body, &a); err != nil {
		return err
	}
	if err := a.failure(string(body)); err != nil {
		return err
	}
	for i := range a.Choices {
		c := &a.Choices[i]
		if c.Index != 0 || c.Message == nil {
			continue
		}
		c.Message.number()
		if err := d.choice(c.Message, c.FinishReason); err != nil {
			return err
		}
		if err := d.usage(a.Usage); err != nil {
			return err
		}
		return d.complete()
	}
	return d.fail("neither an answer nor an error: ", string(body))
}

func (d *decoder) unmarshal(data []byte, a *answer) error {
	err := json.Unmarshal(data, a)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return d.fail("not JSON: ", string(data))
	}
	// Text of the wrong type must not go missing unnoticed.
	if message, ok := wire.ErrorIn(a.Error); ok {
		return &llm.Error{Code: llm.ProviderError, Message: message}
	}
	return d.fail("not a chat completion: ", string(data))
}

// failure is the error that an answer reports instead of going on, if it does. raw is the answer's text.
func (a *answer) failure(raw string) error {
	message, ok := wire.ErrorIn(a.Error)
	switch {
	case ok:
	case a.Object == "error" && a.Message != "":
		message = a.Message
	case a.Object == "error":
		message = raw
	default:
		return nil
	}
	return &llm.Error{Code: llm.ProviderError, Message: message}
}

func (d *decoder) choice(m *delta, finish string) error {
	if err := d.text(llm.Reasoning, m.thought()); err != nil {
		return err
	}
	for _, p := range m.Content {
		if err := d.text(p.kind, p.text); err != nil {
			return err
		}
	}
	if err := d.text(llm.Text, m.Refusal); err != nil { // what the model says in place of an answer
		return err
	}
	for i := range m.ToolCalls {
		if err := d.toolCall(&m.ToolCalls[i]); err != nil {
			return err
		}
	}
	if finish == "error" {
		return &llm.Error{Code: llm.ProviderError, Message: "the provider ended the answer with finish reason \"error\""}
	}
	if finish == "" || finish == d.finished { // some repeat it in the usage chunk
		return nil
	}
	d.finished = finish
	return d.emit(llm.Item{Kind: llm.Finished, Text: finish})
}

func (d *decoder) text(kind llm.Kind, text string) error {
	if text == "" {
		return nil
	}
	d.said = true
	return d.emit(llm.Item{Kind: kind, Text: text})
}

func (d *decoder) usage(u *usage) error {
	if u == nil {
		return nil
	}
	d.count = nil
	return d.emit(llm.Item{Kind: llm.UsageReported, Usage: llm.Usage{Prompt: u.Prompt, Completion: u.Completion, Total: u.Total}})
}

// toolCall takes one fragment. Providers repeat ids and names, leave out the index, or send every call at index 0: a
// fragment with another name, or with a name and another id, begins a new call rather than running into the one before.
func (d *decoder) toolCall(f *toolCall) error {
	var at int64
	if f.Index != nil {
		at = *f.Index
	}
	name, text := f.Function.Name, f.Function.Arguments
	c := d.calls[at]
	if c == nil || name != "" && c.name != "" && (name != c.name || f.ID != "" && c.id != "" && f.ID != c.id) {
		if d.opened == maxToolCalls {
			return &llm.Error{Code: llm.ProviderError, Message: fmt.Sprintf("more than %d tool calls", maxToolCalls)}
		}
		c = &call{index: d.opened}
		d.opened++
		d.calls[at] = c
	}
	if c.id == "" {
		c.id = f.ID
	}
	if d.arguments += len(text); d.arguments > maxArguments {
		return &llm.Error{Code: llm.ProviderError, Message: "tool call arguments are larger than 1 MiB"}
	}
	if c.name == "" {
		if name == "" {
			c.held = append(c.held, text...)
			return nil
		}
		c.name, c.id, d.said = name, d.ids.For(c.id), true
		if err := d.emit(llm.Item{Kind: llm.ToolCallOpened, Index: c.index, Call: llm.ToolCall{ID: c.id, Name: c.name}}); err != nil {
			return err
		}
		text, c.held = string(c.held)+text, nil
	}
	if text == "" {
		return nil
	}
	return d.emit(llm.Item{Kind: llm.ToolCallArguments, Index: c.index, Text: text})
}
