package gemini

import (
	"bufio"
	"bytes"
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
	maxToolCalls = 256     // above the 128 functions a request may declare
)

// decoder turns the body of a 200 answer into items and holds what the answer has said so far.
type decoder struct {
	emit      func(llm.Item) error
	secret    string // never quoted
	ids       *wire.IDs
	began     bool   // a chunk came
	finished  string // the last finish reason
	usage     *usage // the last: each chunk counts all before it
	calls     int
	arguments int // bytes so far
}

// decode reads body to the end of the answer. What the content type says is believed only where the body leaves a choice.
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
		var a answer
		if err := d.unmarshal([]byte(event.Data), &a); err != nil {
			return err
		}
		if err := d.chunk(&a, event.Data); err != nil {
			return err
		}
	}
	if !d.began && contentType != "text/event-stream" {
		return d.fail("neither events nor JSON, but content type ", contentType)
	}
	return d.complete()
}

// complete ends a body that ended well.
func (d *decoder) complete() error {
	if d.finished == "" {
		return &llm.Error{Code: llm.ProviderTruncated, Message: "the stream ended without a finish reason"}
	}
	if d.usage == nil {
		return nil
	}
	u := llm.Usage{Prompt: d.usage.Prompt + d.usage.ToolUse, Completion: d.usage.Candidates + d.usage.Thoughts, Total: d.usage.Total}
	return d.emit(llm.Item{Kind: llm.UsageReported, Usage: u})
}

// whole reads a body that is one JSON text: an error, an answer, or an array of chunks or errors.
func (d *decoder) whole(in io.Reader) error {
	body, err := wire.Whole(in)
	if err != nil {
		return wire.ReadFailed(err)
	}
	chunks := []json.RawMessage{body}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		chunks = nil
		if err := d.unmarshal(body, &chunks); err != nil {
			return err
		}
	}
	for _, raw := range chunks {
		var a answer
		if err := d.unmarshal(raw, &a); err != nil {
			return err
		}
		if err := d.chunk(&a, string(raw)); err != nil {
			return err
		}
		d.began = d.began || len(a.Candidates) > 0 || a.PromptFeedback.BlockReason != ""
	}
	if !d.began {
		return d.fail("neither an answer nor an error: ", string(body))
	}
	return d.complete()
}

// unmarshal reads JSON into an answer, or into a list of texts of answers.
func (d *decoder) unmarshal(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax) && bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) && syntax.Offset == int64(len(data)):
		return &llm.Error{Code: llm.ProviderTruncated, Message: "the array of chunks is not closed"}
	case errors.As(err, &syntax):
		return d.fail("not JSON: ", string(data))
	}
	// Text of the wrong type must not go missing unnoticed.
	if a, ok := into.(*answer); ok {
		if message, ok := wire.ErrorIn(a.Error); ok {
			return &llm.Error{Code: llm.ProviderError, Message: message}
		}
	}
	return d.fail("not a response of generateContent: ", string(data))
}

// failure is the error that a chunk reports instead of going on, if it does.
func (a *answer) failure() error {
	message, ok := wire.ErrorIn(a.Error)
	if !ok && len(a.Candidates) == 0 && a.Status != "" {
		message, ok = a.Message, true
		if message == "" {
			message = a.Status
		}
	}
	if !ok {
		return nil
	}
	return &llm.Error{Code: llm.ProviderError, Message: message}
}

func (d *decoder) chunk(a *answer, raw string) error {
	if err := a.failure(); err != nil {
		return err
	}
	if a.UsageMetadata != nil { // one without counts does not take back those before
		d.usage = a.UsageMetadata
	}
	for i := range a.Candidates {
		c := &a.Candidates[i]
		if c.Index != 0 {
			continue
		}
		for j := range c.Content.Parts {
			if err := d.part(&c.Content.Parts[j], raw); err != nil {
				return err
			}
		}
		if err := d.finish(c.FinishReason, c.FinishMessage); err != nil {
			return err
		}
	}
	if a.PromptFeedback.BlockReason != "" && a.PromptFeedback.BlockReason != "BLOCK_REASON_UNSPECIFIED" {
		return d.finish("PROHIBITED_CONTENT", "")
	}
	return nil
}

func (d *decoder) part(p *part, raw string) error {
	switch {
	case p.FunctionCall != nil:
		return d.call(p.FunctionCall, raw)
	case p.Text == nil || *p.Text == "":
		return nil
	case p.Thought:
		return d.emit(llm.Item{Kind: llm.Reasoning, Text: *p.Text})
	}
	return d.emit(llm.Item{Kind: llm.Text, Text: *p.Text})
}

// call takes a tool call, which comes whole. No arguments are none: an empty object, which the wire leaves out.
func (d *decoder) call(f *functionCall, raw string) error {
	arguments := string(f.Args)
	if arguments == "" || arguments == "null" {
		arguments = "{}"
	}
	switch {
	case f.Name == "":
		return d.fail(fmt.Sprintf("tool call %d has no name: ", d.calls), raw)
	case d.calls == maxToolCalls:
		return &llm.Error{Code: llm.ProviderError, Message: fmt.Sprintf("more than %d tool calls", maxToolCalls)}
	}
	if d.arguments += len(arguments); d.arguments > maxArguments {
		return &llm.Error{Code: llm.ProviderError, Message: "tool call arguments are larger than 1 MiB"}
	}
	at := d.calls
	d.calls++
	if err := d.emit(llm.Item{Kind: llm.ToolCallOpened, Index: at, Call: llm.ToolCall{ID: d.ids.For(f.ID), Name: f.Name}}); err != nil {
		return err
	}
	return d.emit(llm.Item{Kind: llm.ToolCallArguments, Index: at, Text: arguments})
}

// finish takes a finish reason, which is not yet the end: code that the model runs stops it in between.
func (d *decoder) finish(reason, message string) error {
	switch reason {
	case "", "FINISH_REASON_UNSPECIFIED":
		return nil
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS": // the call that was meant is missing
		if message != "" {
			reason += ": " + message
		}
		return &llm.Error{Code: llm.ProviderError, Message: "the provider ended the answer with " + reason}
	case "STOP":
		reason = "stop"
		if d.calls > 0 {
			reason = "tool_calls"
		}
	case "MAX_TOKENS":
		reason = "length"
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY":
		reason = "content_filter"
	}
	if reason == d.finished {
		return nil
	}
	d.finished = reason
	return d.emit(llm.Item{Kind: llm.Finished, Text: reason})
}
