package responses

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
	maxItems     = 1 << 16 // output items of one answer: each costs some bytes while the answer lasts
)

var errDone = errors.New("responses: done") // ends the reading at the terminal event

// decoder turns the body of a 200 answer into items and holds what the answer has said so far.
type decoder struct {
	emit      func(llm.Item) error
	secret    string // never quoted
	ids       *wire.IDs
	began     bool            // an event came
	output    bool            // there was some
	said      map[int64]bool  // the output items whose text was passed on
	calls     map[int64]*call // by their output index
	all       []*call
	arguments int // bytes so far
}

type call struct {
	index int // the item's: calls are counted as they appear
	name  string
	sent  []byte // arguments so far; passed on when there is a name
}

func newDecoder(secret string, ids *wire.IDs, emit func(llm.Item) error) *decoder {
	return &decoder{emit: emit, secret: secret, ids: ids, said: make(map[int64]bool), calls: make(map[int64]*call)}
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

func failed(message string) *llm.Error {
	return &llm.Error{Code: llm.ProviderError, Message: message}
}

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
		if err := d.event(e.Type, e.Data); errors.Is(err, errDone) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if !d.began && contentType != "text/event-stream" {
		return d.fail("neither events nor JSON, but content type ", contentType)
	}
	return &llm.Error{Code: llm.ProviderTruncated, Message: "the stream ended without its terminal event"}
}

func (d *decoder) event(name, data string) error {
	if strings.TrimSpace(data) == "[DONE]" { // some gateways end with it, but it says nothing of the answer
		return nil
	}
	var e event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		return d.readable(err, data)
	}
	if e.Type == "" {
		e.Type = name
	}
	return d.readable(d.known(&e, data), data)
}

// readable makes the error of what could not be read one that shows it: output of the wrong type must not go missing
// unnoticed.
func (d *decoder) readable(err error, shown string) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return d.fail("not JSON: ", shown)
	case errors.As(err, &kind):
		return d.fail("not of the Responses API: ", shown)
	}
	return err
}

// known reads the events of interest. What is left out opens and closes things, keeps the stream alive, repeats deltas,
// belongs to tools that nobody offered, or does not exist yet.
func (d *decoder) known(e *event, data string) error {
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		return d.text(llm.Text, e.Output, e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return d.text(llm.Reasoning, e.Output, e.Delta)
	case "response.function_call_arguments.delta":
		var text string
		if err := read(e.Delta, &text); err != nil {
			return err
		}
		return d.fragment(e.Output, text)
	case "response.function_call_arguments.done":
		var text string
		if err := read(e.Arguments, &text); err != nil {
			return err
		}
		return d.rest(e.Output, text)
	case "response.output_item.added":
		var i item
		if err := read(e.Item, &i); err != nil || i.Type != "function_call" {
			return err
		}
		return d.open(e.Output, &i)
	case "response.output_item.done":
		var i item
		if err := read(e.Item, &i); err != nil {
			return err
		}
		return d.item(e.Output, &i)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		var r response
		if err := read(e.Response, &r); err != nil {
			return err
		}
		r.Status = strings.TrimPrefix(e.Type, "response.")
		if err := d.end(&r); err != nil {
			return err
		}
		return errDone
	case "error", "":
		if message, ok := wire.ErrorIn(e.Error); ok {
			return failed(message)
		}
		if e.Type == "error" {
			message, ok := wire.ErrorIn(e.Message)
			if !ok {
				message = data
			}
			return failed(message)
		}
	}
	return nil
}

// whole reads a body that is one JSON text: an error, or an answer that was not streamed.
func (d *decoder) whole(in io.Reader) error {
	body, err := wire.Whole(in)
	if err != nil {
		return wire.ReadFailed(err)
	}
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return d.readable(err, string(body))
	}
	switch r.Status {
	case "completed", "incomplete", "failed", "cancelled":
		return d.readable(d.end(&r), string(body))
	}
	if message, ok := wire.ErrorIn(r.Error); ok {
		return failed(message)
	}
	return d.fail("neither an answer nor an error: ", string(body))
}

// end is the terminal event, or the whole answer. Its output counts only when there was no other: ids and indexes of
// what was streamed are not to be relied on.
func (d *decoder) end(r *response) error {
	switch r.Status {
	case "failed", "cancelled":
		message, ok := wire.ErrorIn(r.Error)
		if !ok {
			message = "the provider ended the answer as " + r.Status
		}
		return failed(message)
	}
	if !d.output {
		for i := range r.Output {
			if err := d.item(int64(i), &r.Output[i]); err != nil {
				return err
			}
		}
	}
	for _, c := range d.all {
		if c.name == "" {
			return failed(fmt.Sprintf("tool call %d has no name", c.index))
		}
	}
	if err := d.emit(llm.Item{Kind: llm.Finished, Text: d.reason(r)}); err != nil {
		return err
	}
	if r.Usage == nil {
		return nil
	}
	return d.emit(llm.Item{Kind: llm.UsageReported, Usage: llm.Usage{Prompt: r.Usage.Input, Completion: r.Usage.Output, Total: r.Usage.Total}})
}

// reason is why the answer ended, in the words of Chat Completions; one that they have no word for stays.
func (d *decoder) reason(r *response) string {
	switch why := r.IncompleteDetails.Reason; {
	case r.Status == "incomplete" && (why == "max_output_tokens" || why == ""):
		return "length"
	case r.Status == "incomplete":
		return why
	case len(d.all) > 0:
		return "tool_calls"
	}
	return "stop"
}

// text passes on a delta of the output item at an index.
func (d *decoder) text(kind llm.Kind, at int64, delta json.RawMessage) error {
	var text string
	if err := read(delta, &text); err != nil {
		return err
	}
	return d.say(kind, at, text)
}

func (d *decoder) say(kind llm.Kind, at int64, text string) error {
	if text == "" {
		return nil
	}
	if len(d.said) == maxItems {
		return failed(fmt.Sprintf("more than %d output items", maxItems))
	}
	d.said[at], d.output = true, true
	return d.emit(llm.Item{Kind: kind, Text: text})
}

// item takes a whole output item: what of it has not come before.
func (d *decoder) item(at int64, i *item) error {
	switch i.Type {
	case "function_call":
		if err := d.open(at, i); err != nil {
			return err
		}
		var whole string
		if err := read(i.Arguments, &whole); err != nil {
			return err
		}
		return d.rest(at, whole)
	case "message", "reasoning":
		if d.said[at] {
			return nil
		}
		kind := llm.Text
		if i.Type == "reasoning" {
			kind = llm.Reasoning
		}
		for _, raw := range []json.RawMessage{i.Summary, i.Content} {
			var parts []part
			if err := read(raw, &parts); err != nil {
				return err
			}
			for _, p := range parts {
				if err := d.say(kind, at, p.Text+p.Refusal); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// call is the call at an index, a new one when there is none yet.
func (d *decoder) call(at int64) (*call, error) {
	c := d.calls[at]
	if c == nil {
		if len(d.all) == maxToolCalls {
			return nil, failed(fmt.Sprintf("more than %d tool calls", maxToolCalls))
		}
		c = &call{index: len(d.all)}
		d.calls[at] = c
		d.all = append(d.all, c)
		d.output = true
	}
	return c, nil
}

// open gives a call its name, once, and passes on what came before it.
func (d *decoder) open(at int64, i *item) error {
	c, err := d.call(at)
	if err != nil || c.name != "" {
		return err
	}
	if err := read(i.Name, &c.name); err != nil || c.name == "" {
		return err
	}
	if err := d.emit(llm.Item{Kind: llm.ToolCallOpened, Index: c.index, Call: llm.ToolCall{ID: d.ids.For(i.CallID), Name: c.name}}); err != nil {
		return err
	}
	return d.pass(c, string(c.sent))
}

// fragment takes a piece of the arguments.
func (d *decoder) fragment(at int64, text string) error {
	c, err := d.call(at)
	if err != nil {
		return err
	}
	if d.arguments += len(text); d.arguments > maxArguments {
		return failed("tool call arguments are larger than 1 MiB")
	}
	c.sent = append(c.sent, text...)
	return d.pass(c, text)
}

// rest takes the arguments whole, of which fragments have come, or not. Where they differ from the fragments, those stand.
func (d *decoder) rest(at int64, whole string) error {
	c, err := d.call(at)
	if err != nil {
		return err
	}
	if rest, ok := strings.CutPrefix(whole, string(c.sent)); ok {
		return d.fragment(at, rest)
	}
	return nil
}

func (d *decoder) pass(c *call, text string) error {
	if text == "" || c.name == "" {
		return nil
	}
	return d.emit(llm.Item{Kind: llm.ToolCallArguments, Index: c.index, Text: text})
}
