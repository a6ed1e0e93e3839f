package responses

import (
	"context"
	"io"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

// full is a stream with everything a provider sends, in LF lines. The shapes are those of the public API.
const full = ": warming up\n\n" +
	"event: response.created\n" + `data: {"type":"response.created","response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","error":null,"incomplete_details":null,"model":"m","output":[],"usage":null}}` + "\n\n" +
	"event: response.in_progress\n" + `data: {"type":"response.in_progress","response":{"id":"resp_1","object":"response","status":"in_progress","output":[],"usage":null}}` + "\n\n" +
	"event: response.output_item.added\n" + `data: {"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}` + "\n\n" +
	"event: keepalive\n" + `data: {"type":"keepalive"}` + "\n\n" +
	"event: response.reasoning_summary_part.added\n" + `data: {"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}` + "\n\n" +
	"event: response.reasoning_summary_text.delta\n" + `data: {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"hmm, ü","obfuscation":"x"}` + "\n\n" +
	"event: response.reasoning_summary_text.done\n" + `data: {"type":"response.reasoning_summary_text.done","item_id":"rs_1","output_index":0,"summary_index":0,"text":"hmm, ü"}` + "\n\n" +
	"event: response.output_item.done\n" + `data: {"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hmm, ü"}]}}` + "\n\n" +
	"event: response.output_item.added\n" + `data: {"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}` + "\n\n" +
	"event: response.content_part.added\n" + `data: {"type":"response.content_part.added","item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}}` + "\n\n" +
	"id: 7\nretry: 10\nevent: response.output_text.delta\n" + `data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":1,` + "\n" + `data: "content_index":0,"delta":"Grüße 🦉","logprobs":[]}` + "\n\n" +
	"event: response.output_text.done\n" + `data: {"type":"response.output_text.done","item_id":"msg_1","output_index":1,"content_index":0,"text":"Grüße 🦉","logprobs":[]}` + "\n\n" +
	"event: response.output_item.done\n" + `data: {"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Grüße 🦉","annotations":[]}]}}` + "\n\n\n" +
	"event: response.output_item.added\n" + `data: {"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","status":"in_progress","call_id":"call_1","name":"f","arguments":""}}` + "\n\n" +
	"event: response.function_call_arguments.delta\n" + `data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{\"x\":"}` + "\n\n" +
	"event: response.function_call_arguments.delta\n" + `data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"1}"}` + "\n\n" +
	"event: response.function_call_arguments.done\n" + `data: {"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":2,"arguments":"{\"x\":1}"}` + "\n\n" +
	"event: response.output_item.done\n" + `data: {"type":"response.output_item.done","output_index":2,"item":{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}}` + "\n\n" +
	"event: response.output_item.added\n" + `data: {"type":"response.output_item.added","output_index":3,"item":{"id":"fc_2","type":"function_call","status":"in_progress","call_id":"call_2","name":"g","arguments":""}}` + "\n\n" +
	"event: response.output_item.done\n" + `data: {"type":"response.output_item.done","output_index":3,"item":{"id":"fc_2","type":"function_call","status":"completed","call_id":"call_2","name":"g","arguments":"{}"}}` + "\n\n" +
	"event: response.completed\n" + `data: {"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Grüße 🦉"}]}],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":0},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":1},"total_tokens":13}}}` + "\n\n"

var fullItems = []llm.Item{
	thought("hmm, ü"),
	text("Grüße 🦉"),
	opened(0, "call_1", "f"),
	arguments(0, `{"x":`),
	arguments(0, "1}"),
	opened(1, "call_2", "g"),
	arguments(1, "{}"),
	finished("tool_calls"),
	usageOf(9, 4, 13),
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
	"no names": unnamed,
	"BOM, CRLF, no space": func(s string) string {
		return "\xEF\xBB\xBF" + strings.NewReplacer(": ", ":", "\n", "\r\n").Replace(s)
	},
}

// unnamed is a stream without its event lines.
func unnamed(s string) string {
	var out strings.Builder
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(line, "event: ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// read200 decodes body as a 200 answer of an event stream.
func read200(body io.Reader) ([]llm.Item, error) { return readAs("text/event-stream", body) }

func readAs(contentType string, body io.Reader) ([]llm.Item, error) {
	var items []llm.Item
	d := newDecoder("", wire.NewIDs(nil), func(i llm.Item) error {
		items = append(items, i)
		return nil
	})
	err := d.decode(context.Background(), contentType, body)
	return items, err
}

// eventOf is one event of the stream, with what follows its type.
func eventOf(kind, members string) string {
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + `"` + members + "}\n\n"
}

func says(s string) string {
	return eventOf("response.output_text.delta", `,"output_index":0,"delta":"`+s+`"`)
}

func added(index, item string) string {
	return eventOf("response.output_item.added", `,"output_index":`+index+`,"item":`+item)
}

func whole(index, item string) string {
	return eventOf("response.output_item.done", `,"output_index":`+index+`,"item":`+item)
}

func fragment(index, args string) string {
	return eventOf("response.function_call_arguments.delta", `,"output_index":`+index+`,"delta":`+args)
}

const done = "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"status\":\"completed\",\"output\":[],\"usage\":null}}\n\n"
