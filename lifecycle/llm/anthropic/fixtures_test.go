package anthropic

import (
	"context"
	"io"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

// full is a stream with everything a provider sends, in LF lines. The shapes are those of the public API.
const full = ": warming up\n\n" +
	"event: message_start\n" + `data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":9,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":1,"service_tier":"standard"}}}` + "\n\n" +
	"event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}` + "\n\n" +
	"event: ping\n" + `data: {"type":"ping"}` + "\n\n" +
	"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hmm, ü"}}` + "\n\n" +
	"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}` + "\n\n" +
	"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
	"event: content_block_start\n" + `data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"c2VhbGVk"}}` + "\n\n" +
	"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":1}` + "\n\n" +
	"event: content_block_start\n" + `data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}` + "\n\n" +
	"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Grüße 🦉"}}` + "\n\n" +
	"event: content_block_delta\nid: 7\nretry: 10\n" + `data: {"type":"content_block_delta","index":2,` + "\n" + `data: "delta":{"type":"text_delta","text":"\u00e9!"}}` + "\n\n" +
	"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":2}` + "\n\n" +
	"event: content_block_start\n" + `data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{},"caller":{"type":"direct"}}}` + "\n\n" +
	"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}` + "\n\n" +
	"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}` + "\n\n\n" +
	"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"1}"}}` + "\n\n" +
	"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":3}` + "\n\n" +
	"event: content_block_start\n" + `data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"g","input":{},"caller":{"type":"direct"}}}` + "\n\n" +
	"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":""}}` + "\n\n" +
	"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":4}` + "\n\n" +
	"event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":9,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":4,"output_tokens_details":{"thinking_tokens":2}}}` + "\n\n" +
	"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n"

var fullItems = []llm.Item{
	thought("hmm, ü"),
	text("Grüße 🦉"),
	text("é!"),
	opened(0, "toolu_1", "f"),
	arguments(0, `{"x":`),
	arguments(0, "1}"),
	opened(1, "toolu_2", "g"),
	arguments(1, "{}"),
	finished("tool_calls"),
	usageOf(14, 4, 18),
}

func text(s string) llm.Item     { return llm.Item{Kind: llm.Text, Text: s} }
func thought(s string) llm.Item  { return llm.Item{Kind: llm.Reasoning, Text: s} }
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
	"no space": func(s string) string { return strings.ReplaceAll(s, ": ", ":") },
	"no names": func(s string) string {
		var out strings.Builder
		for line := range strings.Lines(s) {
			if !strings.HasPrefix(line, "event: ") {
				out.WriteString(line)
			}
		}
		return out.String()
	},
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

// eventOf is one event of the stream, with what follows its type.
func eventOf(kind, members string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + `"` + members + "}\n\n"
}

func blockOf(index, content string) string {
	return eventOf("content_block_start", `,"index":`+index+`,"content_block":`+content)
}
func deltaOf(index, delta string) string {
	return eventOf("content_block_delta", `,"index":`+index+`,"delta":`+delta)
}
func says(s string) string { return deltaOf("0", `{"type":"text_delta","text":"`+s+`"}`) }
func stopped(reason string) string {
	return eventOf("message_delta", `,"delta":{"stop_reason":"`+reason+`"}`)
}

const done = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
