package anthropic

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

const (
	maxArguments = 1 << 20 // bytes of all tool calls of one answer: far above any schema, far below what hurts
	maxToolCalls = 256     // above what a model has been seen to ask for at once
	maxForeign   = 1 << 10 // foreign blocks open at once: providers send one after another
)

// types are those whose members are known.
var types = [...]string{
	"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "message", "error",
}

var errStop = errors.New("anthropic: stop") // ends the reading at message_stop

// decoder turns the body of a 200 answer into items and holds what the answer has said so far.
type decoder struct {
	emit      func(llm.Item) error
	secret    string          // never quoted
	began     bool            // an event came
	finished  string          // the last stop reason
	calls     map[int64]*call // the latest at each of the provider's indexes of blocks
	all       []*call
	foreign   map[int64]bool // open blocks that are neither output nor calls of ours, such as searches by the provider
	ids       *wire.IDs
	arguments int // bytes so far
	usage     usage
	reported  *llm.Item // the last usage that was passed on
}

type call struct {
	index    int // the item's: calls are counted as they appear
	id, name string
	input    string // what the block began with
	written  bool   // a fragment was passed on
	held     []byte // fragments that came before the block
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

func (d *decoder) fail(what, text string) *llm.Error { return wire.NoAnswer(what, text, d.secret) }

func (d *decoder) stream(ctx context.Context, contentType string, in io.Reader) error {
	for e, err := range wire.Events(in) {
		if err != nil {
			return wire.ReadFailed(err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e.Data == "" { // only a name or an id: nothing is dispatched
			continue
		}
		d.began = true
		if err := d.event(e.Type, e.Data); errors.Is(err, errStop) {
			return d.complete()
		} else if err != nil {
			return err
		}
	}
	if !d.began && contentType != "text/event-stream" {
		return d.fail("neither events nor JSON, but content type ", contentType)
	}
	return &llm.Error{Code: llm.ProviderTruncated, Message: "the stream ended without message_stop"}
}

// complete is nil unless the answer leaves something open.
func (d *decoder) complete() error {
	for _, c := range d.all {
		if c.name == "" {
			return &llm.Error{Code: llm.ProviderError, Message: fmt.Sprintf("tool call %d has no name", c.index)}
		}
	}
	return nil
}

func (d *decoder) event(name, data string) error {
	var e event
	if err := d.unmarshal([]byte(data), &e); err != nil {
		return err
	}
	if err := failure(&e, name, data); err != nil {
		return err
	}
	if e.Type == "" {
		e.Type = name
	}
	switch e.Type {
	case "message_start": // no item: an answer that stops here has given nothing
		var m struct {
			Usage usage `json:"usage"`
		}
		if err := json.Unmarshal(e.Message, &m); err != nil && e.Message != nil {
			return d.fail("not a message: ", data)
		}
		d.usage.overwrite(m.Usage)
	case "content_block_start":
		if err := d.mark(e.Index, e.Block.Type); err != nil {
			return err
		}
		return d.begin(e.Index, &e.Block)
	case "content_block_delta":
		return d.delta(e.Index, &e.Delta)
	case "content_block_stop":
		delete(d.foreign, e.Index)
	case "message_delta":
		if err := d.stop(e.Delta.StopReason); err != nil {
			return err
		}
		return d.report(e.Usage)
	case "message_stop":
		if d.reported == nil && d.usage != (usage{}) { // the start alone had counts
			if err := d.report(&usage{}); err != nil {
				return err
			}
		}
		return errStop
	}
	return nil // a ping, or what does not exist yet
}

// whole reads a body that is one JSON text: an error, or a message that was not streamed.
func (d *decoder) whole(in io.Reader) error {
	body, err := wire.Whole(in)
	if err != nil {
		return wire.ReadFailed(err)
	}
	var e event
	if err := d.unmarshal(body, &e); err != nil {
		return err
	}
	if err := failure(&e, "", string(body)); err != nil {
		return err
	}
	if e.Type != "message" {
		return d.fail("neither a message nor an error: ", string(body))
	}
	for i := range e.Content {
		b := &e.Content[i]
		if err := d.begin(int64(i), b); err != nil {
			return err
		}
		if c := d.calls[int64(i)]; c != nil {
			if err := d.write(c, string(b.Input)); err != nil {
				return err
			}
		}
	}
	if err := d.stop(e.StopReason); err != nil {
		return err
	}
	if err := d.report(e.Usage); err != nil {
		return err
	}
	return d.complete()
}

func (d *decoder) unmarshal(data []byte, e *event) error {
	err := json.Unmarshal(data, e)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return d.fail("not JSON: ", string(data))
	}
	if e.Type != "" && !slices.Contains(types[:], e.Type) {
		*e = event{Type: e.Type}
		return nil
	}
	// Text of the wrong type must not go missing unnoticed.
	if message, ok := wire.ErrorIn(e.Error); ok {
		return &llm.Error{Code: llm.ProviderError, Message: message}
	}
	return d.fail("not a message: ", string(data))
}

// failure is the error that an event reports instead of going on, if it does. raw is the event's text.
func failure(e *event, name, raw string) error {
	message, ok := wire.ErrorIn(e.Error)
	if !ok {
		if e.Type != "error" && name != "error" {
			return nil
		}
		if json.Unmarshal(e.Message, &message) != nil || message == "" {
			message = raw
		}
	}
	return &llm.Error{Code: llm.ProviderError, Message: message}
}

func (d *decoder) text(kind llm.Kind, text string) error {
	if text == "" {
		return nil
	}
	return d.emit(llm.Item{Kind: kind, Text: text})
}

// begin takes the start of a block, which some providers fill at once. Redacted reasoning has nothing to pass on.
func (d *decoder) begin(at int64, b *block) error {
	switch b.Type {
	case "text":
		return d.text(llm.Text, b.Text)
	case "thinking":
		return d.text(llm.Reasoning, b.Thinking)
	case "tool_use":
		return d.open(at, b)
	}
	return nil
}

// mark remembers which blocks are foreign: their input comes in the same deltas as that of tool calls.
func (d *decoder) mark(at int64, kind string) error {
	switch kind {
	case "text", "thinking", "redacted_thinking", "tool_use", "":
		delete(d.foreign, at)
		return nil
	}
	if len(d.foreign) == maxForeign {
		return &llm.Error{Code: llm.ProviderError, Message: fmt.Sprintf("more than %d open blocks", maxForeign)}
	}
	if d.foreign == nil {
		d.foreign = make(map[int64]bool)
	}
	d.foreign[at] = true
	return nil
}

func (d *decoder) open(at int64, b *block) error {
	c := d.calls[at]
	if c != nil && c.name == b.Name && c.id == b.ID && b.Name != "" {
		return nil // said again
	}
	if c == nil || c.name != "" {
		var err error
		if c, err = d.newCall(at); err != nil {
			return err
		}
	}
	c.id, c.name, c.input = b.ID, b.Name, string(b.Input)
	if c.name == "" {
		return nil
	}
	if err := d.emit(llm.Item{Kind: llm.ToolCallOpened, Index: c.index, Call: llm.ToolCall{ID: d.ids.For(c.id), Name: c.name}}); err != nil {
		return err
	}
	held := string(c.held)
	c.held = nil
	return d.pass(c, held)
}

func (d *decoder) newCall(at int64) (*call, error) {
	if len(d.all) == maxToolCalls {
		return nil, &llm.Error{Code: llm.ProviderError, Message: fmt.Sprintf("more than %d tool calls", maxToolCalls)}
	}
	c := &call{index: len(d.all)}
	d.all = append(d.all, c)
	d.calls[at] = c
	return c, nil
}

// delta takes a delta by what it holds, so that one of a type that does not exist yet counts when it has text.
func (d *decoder) delta(at int64, b *delta) error {
	if err := d.text(llm.Reasoning, b.Thinking); err != nil {
		return err
	}
	if err := d.text(llm.Text, b.Text); err != nil {
		return err
	}
	if b.PartialJSON == "" || d.foreign[at] {
		return nil
	}
	c := d.calls[at]
	if c == nil {
		var err error
		if c, err = d.newCall(at); err != nil {
			return err
		}
	}
	return d.write(c, b.PartialJSON)
}

func (d *decoder) write(c *call, fragment string) error {
	if d.arguments += len(fragment); d.arguments > maxArguments {
		return &llm.Error{Code: llm.ProviderError, Message: "tool call arguments are larger than 1 MiB"}
	}
	if c.name == "" {
		c.held = append(c.held, fragment...)
		return nil
	}
	return d.pass(c, fragment)
}

func (d *decoder) pass(c *call, fragment string) error {
	if fragment == "" {
		return nil
	}
	c.written = true
	return d.emit(llm.Item{Kind: llm.ToolCallArguments, Index: c.index, Text: fragment})
}

// stop takes a stop reason. One for tools says that the calls are whole: those without a fragment have the input that
// their block began with. After any other reason they may be cut, and are left as they are.
func (d *decoder) stop(reason string) error {
	if reason == "" || reason == d.finished {
		return nil
	}
	d.finished = reason
	if reason == "tool_use" {
		for _, c := range d.all {
			if c.written || c.name == "" {
				continue
			}
			if err := d.write(c, c.input); err != nil {
				return err
			}
		}
	}
	return d.text(llm.Finished, finishReason(reason))
}

// report passes on the counts so far, when they have changed.
func (d *decoder) report(u *usage) error {
	if u == nil {
		return nil
	}
	d.usage.overwrite(*u)
	item := d.usage.item()
	if d.reported != nil && *d.reported == item {
		return nil
	}
	d.reported = &item
	return d.emit(item)
}
