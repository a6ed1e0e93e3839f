package ollama

import (
	"context"
	"io"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

// full is a stream with everything a provider sends. The shapes are those of the public API.
const full = line0 + line1 +
	`{"model":"m","created_at":"2026-08-05T08:10:57Z","message":{"role":"assistant","content":"Grüße 🦉"},"done":false}` + "\n" +
	`{"model":"m","created_at":"2026-08-05T08:10:57Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"index":2,"name":"f","arguments":{"x":1}}}]},"done":false}` + "\n" +
	`{"model":"m","created_at":"2026-08-05T08:10:57Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"g"}}]},"done":false}` + "\n" +
	last

const (
	line0 = `{"model":"m","created_at":"2026-08-05T08:10:56.372032Z","message":{"role":"assistant","content":""},"done":false}` + "\n"
	line1 = `{"model":"m","created_at":"2026-08-05T08:10:56.5Z","message":{"role":"assistant","content":"","thinking":"hmm, ü"},"done":false}` + "\n"
	last  = `{"model":"m","created_at":"2026-08-05T08:10:58Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":7577982042,"load_duration":58847000,"prompt_eval_count":9,"prompt_eval_duration":707514083,"eval_count":4,"eval_duration":6286536118}` + "\n"
)

var fullItems = []llm.Item{
	{Kind: llm.Reasoning, Text: "hmm, ü"},
	text("Grüße 🦉"),
	opened(0, "call_1", "f"),
	arguments(0, `{"x":1}`),
	opened(1, "call-0", "g"),
	arguments(1, "{}"),
	finished("tool_calls"),
	usageOf(9, 4, 13),
}

func text(s string) llm.Item     { return llm.Item{Kind: llm.Text, Text: s} }
func finished(s string) llm.Item { return llm.Item{Kind: llm.Finished, Text: s} }
func opened(i int, id, name string) llm.Item {
	return llm.Item{Kind: llm.ToolCallOpened, Index: i, Call: llm.ToolCall{ID: id, Name: name}}
}
func arguments(i int, s string) llm.Item {
	return llm.Item{Kind: llm.ToolCallArguments, Index: i, Text: s}
}
func usageOf(p, c, t int) llm.Item {
	return llm.Item{Kind: llm.UsageReported, Usage: llm.Usage{Prompt: p, Completion: c, Total: t}}
}

// read decodes body as a 200 answer.
func read(body io.Reader) ([]llm.Item, error) {
	var items []llm.Item
	d := decoder{ids: wire.NewIDs(nil), emit: func(i llm.Item) error {
		items = append(items, i)
		return nil
	}}
	err := d.decode(context.Background(), body)
	return items, err
}

// said is a line with this message.
func said(message string) string { return `{"message":` + message + `,"done":false}` + "\n" }

const done = `{"done":true,"done_reason":"stop"}` + "\n"
