package gemini

import (
	"context"
	"io"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

// full is a stream with everything a provider sends, in LF lines. The shapes are those of the public API.
const full = `data: {"candidates":[{"content":{"parts":[{"text":"**Plan**\n\nhmm, ü","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9,"thoughtsTokenCount":3,"totalTokenCount":12,"promptTokensDetails":[{"modality":"TEXT","tokenCount":9}]},"modelVersion":"gemini-x","responseId":"r1"}` + "\n\n" +
	`data: {"candidates":[{"content":{"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9}}` + "\n\n" +
	`data: {"candidates":[{"content":{"parts":[{"text":"Grüße 🦉"},{"text":""}],"role":"model"},"index":0},{"content":{"parts":[{"text":"other"}]},"finishReason":"STOP","index":1}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1,"thoughtsTokenCount":3,"totalTokenCount":13}}` + "\n\n" +
	": no keepalive of the API, but of a gateway\n\n" +
	"event: message\nid: 7\nretry: 10\n" + `data: {"candidates":[{"content":{"parts":[{"text":"\u00e9!"},` + "\n" + `data: {"executableCode":{"language":"PYTHON","code":"1"}}]},"finishReason":"STOP","index":0}]}` + "\n\n" +
	`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"x":1}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"c2","name":"g"}}],"role":"model"},"index":0}]}` + "\n\n\n" +
	`data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"toolUsePromptTokenCount":1,"candidatesTokenCount":4,"thoughtsTokenCount":3,"totalTokenCount":17}}` + "\n\n"

var fullItems = []llm.Item{
	{Kind: llm.Reasoning, Text: "**Plan**\n\nhmm, ü"},
	text("Grüße 🦉"),
	text("é!"),
	finished("stop"),
	opened(0, "call-0", "f"),
	arguments(0, `{"x":1}`),
	opened(1, "c2", "g"),
	arguments(1, "{}"),
	finished("tool_calls"),
	usageOf(10, 7, 17),
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
	"no space": func(s string) string { return strings.ReplaceAll(s, "data: ", "data:") },
}

// read decodes body as a 200 answer of an event stream.
func read(body io.Reader) ([]llm.Item, error) { return readAs("text/event-stream", body) }

func readAs(contentType string, body io.Reader) ([]llm.Item, error) {
	var items []llm.Item
	d := decoder{ids: wire.NewIDs(nil), emit: func(i llm.Item) error {
		items = append(items, i)
		return nil
	}}
	err := d.decode(context.Background(), contentType, body)
	return items, err
}

// chunk is one that has these parts.
func chunk(parts string) string {
	return `data: {"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},"index":0}]}` + "\n\n"
}

// stop is a chunk that finishes.
func stop(reason string) string {
	return `data: {"candidates":[{"finishReason":"` + reason + `","index":0}]}` + "\n\n"
}
