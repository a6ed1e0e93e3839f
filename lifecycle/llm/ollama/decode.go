package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

const (
	maxArguments = 1 << 20 // of all tool calls of one answer: far above any schema, far below what hurts
	maxToolCalls = 256     // above what a request may reasonably offer
)

// decoder turns the body of a 200 answer into items and holds what the answer has said so far.
type decoder struct {
	emit      func(llm.Item) error
	secret    string // never quoted
	ids       *wire.IDs
	calls     int
	arguments int // bytes so far
}

// decode reads body to the line that is done.
func (d *decoder) decode(ctx context.Context, body io.Reader) error {
	in := bufio.NewReader(body)
	for first := true; ; first = false {
		line, err := readLine(in)
		if err != nil && err != io.EOF {
			return wire.ReadFailed(err)
		}
		ended := err == nil
		if first {
			line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
		}
		line = bytes.TrimSpace(line)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		// A last line without its end counts if it is whole, and if it never was one of an answer; else it was cut.
		if len(line) > 0 && (ended || json.Valid(line) || first && line[0] != '{') {
			if done, err := d.line(line); done || err != nil {
				return err
			}
		}
		if !ended {
			return &llm.Error{Code: llm.ProviderTruncated, Message: "the stream ended without a line that is done"}
		}
	}
}

// readLine reads a line with its end, or what is left of it at the end of in: then with [io.EOF].
func readLine(in *bufio.Reader) ([]byte, error) {
	var long []byte
	for {
		part, err := in.ReadSlice('\n')
		if long == nil && err != bufio.ErrBufferFull {
			return part, err
		}
		if long = append(long, part...); len(long) > wire.MaxEvent {
			return nil, bufio.ErrTooLong
		}
		if err != bufio.ErrBufferFull {
			return long, err
		}
	}
}

// fail is the error of an answer that is none.
func (d *decoder) fail(what, text string) *llm.Error { return wire.NoAnswer(what, text, d.secret) }

// line takes one line and says whether it was the last.
func (d *decoder) line(line []byte) (done bool, err error) {
	var a answer
	err = json.Unmarshal(line, &a)
	if message, ok := wire.ErrorIn(a.Error); ok {
		return false, &llm.Error{Code: llm.ProviderError, Message: message}
	}
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax) && line[0] == '<':
		return false, d.fail("HTML instead of an answer: ", string(line))
	case errors.As(err, &syntax):
		return false, d.fail("not JSON: ", string(line))
	case err != nil: // text of the wrong type must not go missing unnoticed
		return false, d.fail("not a line of a chat: ", string(line))
	}
	if err := d.text(llm.Reasoning, a.Message.Thinking); err != nil {
		return false, err
	}
	if err := d.text(llm.Text, a.Message.Content); err != nil {
		return false, err
	}
	for i := range a.Message.ToolCalls {
		if err := d.call(&a.Message.ToolCalls[i]); err != nil {
			return false, err
		}
	}
	if !a.Done {
		return false, nil
	}
	return true, d.end(&a)
}

func (d *decoder) text(kind llm.Kind, text string) error {
	if text == "" {
		return nil
	}
	return d.emit(llm.Item{Kind: kind, Text: text})
}

// call takes a tool call, which comes whole. No arguments are none: an empty object.
func (d *decoder) call(c *toolCall) error {
	arguments := string(c.Function.Arguments)
	_ = json.Unmarshal(c.Function.Arguments, &arguments) // some write the object into a text, as other dialects do
	if arguments == "" || arguments == "null" {
		arguments = "{}"
	}
	switch {
	case c.Function.Name == "":
		return &llm.Error{Code: llm.ProviderError, Message: fmt.Sprintf("tool call %d has no name", d.calls)}
	case d.calls == maxToolCalls:
		return &llm.Error{Code: llm.ProviderError, Message: fmt.Sprintf("more than %d tool calls", maxToolCalls)}
	}
	if d.arguments += len(arguments); d.arguments > maxArguments {
		return &llm.Error{Code: llm.ProviderError, Message: "tool call arguments are larger than 1 MiB"}
	}
	at := d.calls
	d.calls++
	if err := d.emit(llm.Item{Kind: llm.ToolCallOpened, Index: at, Call: llm.ToolCall{ID: d.ids.For(c.ID), Name: c.Function.Name}}); err != nil {
		return err
	}
	return d.emit(llm.Item{Kind: llm.ToolCallArguments, Index: at, Text: arguments})
}

// end takes what the last line says of the whole answer.
func (d *decoder) end(a *answer) error {
	reason := a.DoneReason
	if d.calls > 0 && (reason == "" || reason == "stop") {
		reason = "tool_calls"
	}
	if err := d.text(llm.Finished, reason); err != nil {
		return err
	}
	if a.Prompt == nil && a.Completion == nil {
		return nil
	}
	var u llm.Usage
	if a.Prompt != nil {
		u.Prompt = *a.Prompt
	}
	if a.Completion != nil {
		u.Completion = *a.Completion
	}
	u.Total = u.Prompt + u.Completion
	return d.emit(llm.Item{Kind: llm.UsageReported, Usage: u})
}
