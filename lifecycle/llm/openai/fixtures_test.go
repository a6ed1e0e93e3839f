package openai

import (
	"context"
	"io"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

// full is a stream with everything a provider sends, in LF lines. The shapes are those of the public API.
const full = ": warming up\n\n" +
	`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"aZ"}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{"reasoning_content":"hmm, ü"},"finish_reason":null}],"usage":null}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{"content":"Grüße 🦉"},"finish_reason":null},{"index":1,"delta":{"content":"other"}}]}` + "\n\n" +
	": ping\n\n" +
	"event: message\nid: 7\nretry: 10\n" + `data: {"choices":[{"index":0,` + "\n" + `data: "delta":{"content":"\u00e9!"}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"g","arguments":"{}"}}]}}]}` + "\n\n\n" +
	`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":"1}"}}]}}]}` + "\n\n" +
	`data: {"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}],"usage":null}` + "\n\n" +
	`data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}` + "\n\n" +
	"data: [DONE]\n\n"

var fullItems = []llm.Item{
	{Kind: llm.Reasoning, Text: "hmm, ü"},
	{Kind: llm.Text, Text: "Grüße 🦉"},
	{Kind: llm.Text, Text: "é!"},
	opened(0, "call_1", "f"),
	arguments(0, `{"x":`),
	opened(1, "call_2", "g"),
	arguments(1, "{}"),
	arguments(0, "1}"),
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

// ways of writing one and the same stream.
var endings = map[string]func(string) string{
	"LF":       func(s string) string { return s },
	"CRLF":     func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"CR":       func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
	"BOM":      func(s string) string { return "\xEF\xBB\xBF" + s },
	"no space": func(s string) string { return strings.ReplaceAll(s, ": ", ":") },
	"BOM, CRLF, no space": func(s string) string {
		return "\xEF\xBB\xBF" + strings.NewReplacer(": ", ":", "\n", "\r\n").Replace(s)
	},
}

// read decodes body as a 200 answer of an event stream.
func read(body io.Reader) ([]llm.Item, error) { return readAs("text/event-stream", body) }

func readAs(contentType string, body io.Reader) ([]llm.Item, error) {
	var items []llm.Item
	d := decoder{calls: make(map[int64]*call), ids: wire.NewIDs(nil), emit: func(i llm.Item) error {
		items = append(items, i)
		return nil
	}}
	err := d.decode(context.Background(), contentType, body)
	return items, err
}

func chunk(delta string) string {
	return `data: {"choices":[{"index":0,"delta":` + delta + "}]}\n\n"
}

const (
	stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done = "data: [DONE]\n\n"
)
