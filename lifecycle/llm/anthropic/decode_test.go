package anthropic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

func TestDecodeAtEverySplit(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(endings)) {
		t.Run(name, func(t *testing.T) {
			s := endings[name](full)
			step := 1
			if name == "CRLF" || strings.HasPrefix(name, "no ") { // the others hold what is special in these
				step = 13
			}
			for at := 0; at <= len(s); at += step {
				items, err := read(io.MultiReader(strings.NewReader(s[:at]), strings.NewReader(s[at:])))
				if err != nil || !slices.Equal(fullItems, items) { // thousands of times, so not by require
					t.Fatalf("split at %d: %v %v", at, items, err)
				}
			}
			items, err := read(iotest.OneByteReader(strings.NewReader(s)))
			require.NoError(t, err)
			require.Equal(t, fullItems, items, "single bytes")
		})
	}
}

// Any cut before message_stop is a truncation; what was whole before it has been passed on.
func TestDecodeAtEveryCut(t *testing.T) {
	reset := errors.New("connection reset by peer")
	for at := range len(full) {
		items, err := read(strings.NewReader(full[:at]))
		requireCode(t, llm.ProviderTruncated, err)
		require.True(t, slices.Equal(fullItems[:len(items)], items))

		items, err = read(io.MultiReader(strings.NewReader(full[:at]), iotest.ErrReader(reset)))
		requireCode(t, llm.ProviderTruncated, err)
		require.ErrorIs(t, err, reset)
		require.True(t, slices.Equal(fullItems[:len(items)], items))
	}
}

func requireCode(t *testing.T, code llm.Code, err error) {
	t.Helper()
	var failure *llm.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, code, failure.Code, failure.Message)
}

// An item is passed on when its event ends, without waiting for another byte.
func TestDecodeDoesNotWaitForTheNextByte(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r", "\r\n\r\n", "\n\r"} {
		t.Run(fmt.Sprintf("%q", end), func(t *testing.T) {
			r, w := io.Pipe()
			items, result := make(chan llm.Item), make(chan error)
			go func() {
				d := decoder{calls: make(map[int64]*call), ids: wire.NewIDs(nil), emit: func(i llm.Item) error { items <- i; return nil }}
				result <- d.decode(t.Context(), "text/event-stream", r)
			}()
			for _, want := range []string{"a", "b"} {
				_, err := io.WriteString(w, strings.TrimSpace(says(want))+end)
				require.NoError(t, err)
				require.Equal(t, text(want), <-items)
			}
			_, err := io.WriteString(w, strings.TrimSpace(done)+end)
			require.NoError(t, err)
			require.NoError(t, <-result, "message_stop ends the answer while the body is open")
		})
	}
}

func TestDecodeStreams(t *testing.T) {
	start := eventOf("message_start", `,"message":{"usage":{"input_tokens":9,"cache_read_input_tokens":1,"output_tokens":1}}`)
	call := blockOf("1", `{"type":"tool_use","id":"a","name":"f","input":{}}`)
	tests := []struct {
		name string
		body string
		want []llm.Item
	}{
		{"what is no output is no item", eventOf("message_start", `,"message":{"id":"m"}`) + eventOf("ping", "") + ": c\n\n" + blockOf("0", `{"type":"text","text":""}`) + says("") + deltaOf("0", `{"type":"signature_delta","signature":"s"}`) + eventOf("content_block_stop", `,"index":0`) + done, nil},
		{"events without data are no items", "event: ping\n\ndata:\n\nid: 1\n\n" + done, nil},
		{"omitted and redacted reasoning are no items", blockOf("0", `{"type":"thinking","thinking":"","signature":""}`) + blockOf("1", `{"type":"redacted_thinking","data":"x"}`) + done, nil},
		{"a block may begin with its text", blockOf("0", `{"type":"thinking","thinking":"r"}`) + blockOf("1", `{"type":"text","text":"a"}`) + done, []llm.Item{thought("r"), text("a")}},
		{"unknown events, blocks, deltas and members are left out", eventOf("future", `,"delta":"a","content":1`) + blockOf("0", `{"type":"future","x":1}`) + deltaOf("0", `{"type":"future_delta","x":1}`) + says("a") + done, []llm.Item{text("a")}},
		{"a text of a type that does not exist yet is text", deltaOf("0", `{"type":"future_delta","text":"a"}`) + done, []llm.Item{text("a")}},
		{"an event that names its type in the name only", "event: message_stop\ndata: {}\n\n", nil},
		{"a null error is none", "data: {\"type\":\"ping\",\"error\":null}\n\n" + done, nil},
		{"what comes after message_stop is ignored", done + "data: garbage\n\n", nil},
		{"no stop reason, but the end", says("a") + done, []llm.Item{text("a")}},
		{"later counts overwrite", start + eventOf("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}`) + eventOf("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":20,"output_tokens":7}`) + done,
			[]llm.Item{finished("stop"), usageOf(10, 5, 15), usageOf(21, 7, 28)}},
		{"counts that say the same count once", eventOf("message_delta", `,"delta":{},"usage":{"output_tokens":5}`) + eventOf("message_delta", `,"delta":{},"usage":{"output_tokens":5}`) + done, []llm.Item{usageOf(0, 5, 5)}},
		{"counts of nothing are counts", eventOf("message_delta", `,"delta":{},"usage":{"output_tokens":0}`) + done, []llm.Item{usageOf(0, 0, 0)}},
		{"counts of the start are passed on at the end when there are no others", start + says("a") + done, []llm.Item{text("a"), usageOf(10, 1, 11)}},
		{"a limit of tokens is length", stopped("max_tokens") + done, []llm.Item{finished("length")}},
		{"a full context is length", stopped("model_context_window_exceeded") + done, []llm.Item{finished("length")}},
		{"a stop sequence is stop", stopped("stop_sequence") + done, []llm.Item{finished("stop")}},
		{"a refusal is content_filter", eventOf("message_delta", `,"delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":null,"explanation":"no"}}`) + done, []llm.Item{finished("content_filter")}},
		{"another reason stays", stopped("pause_turn") + done, []llm.Item{finished("pause_turn")}},
		{"a call without arguments has those of its block", call + deltaOf("1", `{"type":"input_json_delta","partial_json":""}`) + stopped("tool_use") + done, []llm.Item{opened(0, "a", "f"), arguments(0, "{}"), finished("tool_calls")}},
		{"a call cut before its arguments has none", call + deltaOf("1", `{"type":"input_json_delta","partial_json":""}`) + stopped("max_tokens") + done, []llm.Item{opened(0, "a", "f"), finished("length")}},
		{"cut arguments stay as they are", call + deltaOf("1", `{"type":"input_json_delta","partial_json":"{\"x"}`) + stopped("max_tokens") + done, []llm.Item{opened(0, "a", "f"), arguments(0, `{"x`), finished("length")}},
		{"a whole input at the start is passed on once", blockOf("0", `{"type":"tool_use","id":"a","name":"f","input":{"x":1}}`) + stopped("tool_use") + stopped("tool_use") + done, []llm.Item{opened(0, "a", "f"), arguments(0, `{"x":1}`), finished("tool_calls")}},
		{"overlapping calls do not run together", call + blockOf("4", `{"type":"tool_use","id":"b","name":"f"}`) + deltaOf("1", `{"partial_json":"1"}`) + deltaOf("4", `{"partial_json":"2"}`) + deltaOf("1", `{"partial_json":"3"}`) + done,
			[]llm.Item{opened(0, "a", "f"), opened(1, "b", "f"), arguments(0, "1"), arguments(1, "2"), arguments(0, "3")}},
		{"a block said again is the same call", call + call + deltaOf("1", `{"partial_json":"1"}`) + done, []llm.Item{opened(0, "a", "f"), arguments(0, "1")}},
		{"another block at the same index is another call", call + blockOf("1", `{"type":"tool_use","id":"b","name":"f"}`) + deltaOf("1", `{"partial_json":"1"}`) + stopped("tool_use") + done,
			[]llm.Item{opened(0, "a", "f"), opened(1, "b", "f"), arguments(1, "1"), arguments(0, "{}"), finished("tool_calls")}},
		{"arguments before the block wait for it", deltaOf("1", `{"partial_json":"{"}`) + call + deltaOf("1", `{"partial_json":"}"}`) + done, []llm.Item{opened(0, "a", "f"), arguments(0, "{"), arguments(0, "}")}},
		{"a call without an id gets one", blockOf("0", `{"type":"tool_use","id":null,"name":"f"}`) + done, []llm.Item{opened(0, "call-0", "f")}},
		{"a null fragment is none", call + deltaOf("1", `{"partial_json":null}`) + done, []llm.Item{opened(0, "a", "f")}},
		{"a tool of the server is not called", blockOf("0", `{"type":"server_tool_use","id":"a","name":"f","input":{}}`) + done, nil},
		{"what a tool of the server is asked belongs to no call", blockOf("1", `{"type":"server_tool_use","id":"s","name":"s","input":{}}`) + deltaOf("1", `{"partial_json":"{}"}`) + call + deltaOf("1", `{"partial_json":"1"}`) +
			blockOf("1", `{"type":"mcp_tool_use"}`) + deltaOf("1", `{"partial_json":"2"}`) + eventOf("content_block_stop", `,"index":1`) + deltaOf("1", `{"partial_json":"3"}`) + done, []llm.Item{opened(0, "a", "f"), arguments(0, "1"), arguments(0, "3")}},
		{"a long line is whole", says(strings.Repeat("x", 3<<20)) + done, []llm.Item{text(strings.Repeat("x", 3<<20))}},
		{"invalid UTF-8 is replaced", says("a\xff") + done, []llm.Item{text("a\uFFFD")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items, err := read(strings.NewReader(tt.body))
			require.NoError(t, err)
			require.Equal(t, tt.want, items)
		})
	}
}

func TestDecodeFailures(t *testing.T) {
	big := strings.Repeat("x", 1<<19)
	part := deltaOf("1", `{"partial_json":"`+big+`"}`)
	var many strings.Builder
	for i := range 300 {
		fmt.Fprint(&many, blockOf(fmt.Sprint(i), `{"type":"tool_use","id":"a","name":"f"}`))
	}
	var foreign strings.Builder
	for i := range 1100 {
		fmt.Fprint(&foreign, blockOf(fmt.Sprint(i), `{"type":"server_tool_use"}`))
	}
	const cut = "the stream ended without message_stop"
	tests := []struct {
		name    string
		as      string
		body    string
		code    llm.Code
		message string
	}{
		{"an error event", "text/event-stream", says("a") + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"},\"request_id\":\"req_1\"}\n\n" + done, llm.ProviderError, "Overloaded"},
		{"an error event without a name", "text/event-stream", "data: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"no\"}}\n\n", llm.ProviderError, "no"},
		{"a flat error", "text/event-stream", "event: error\ndata: {\"type\":\"overloaded_error\",\"message\":\"no\"}\n\n", llm.ProviderError, "no"},
		{"an error without a message", "text/event-stream", "event: error\ndata: {\"type\":\"error\"}\n\n", llm.ProviderError, `{"type":"error"}`},
		{"an error beside a member of a wrong type", "text/event-stream", "data: {\"type\":\"error\",\"error\":{\"message\":\"no\"},\"delta\":1}\n\n", llm.ProviderError, "no"},
		{"a line that is not JSON", "text/event-stream", "data: {\"a\":\tx\n\n", llm.ProviderError, `not JSON: "{\"a\":\tx"`},
		{"a text of the wrong type", "text/event-stream", deltaOf("0", `{"text":1}`), llm.ProviderError, `not a message: "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"text\":1}}"`},
		{"counts of the wrong type", "text/event-stream", eventOf("message_start", `,"message":7`), llm.ProviderError, `not a message: "{\"type\":\"message_start\",\"message\":7}"`},
		{"no terminator", "text/event-stream", says("a"), llm.ProviderTruncated, cut},
		{"a stop reason without a terminator", "text/event-stream", says("a") + stopped("end_turn"), llm.ProviderTruncated, cut},
		{"an unfinished last event", "text/event-stream", strings.TrimSpace(done) + "\n", llm.ProviderTruncated, cut},
		{"an event stream without an event", "text/event-stream; charset=utf-8", "", llm.ProviderTruncated, cut},
		{"an empty body", "application/json", "", llm.ProviderError, `neither events nor JSON, but content type "application/json"`},
		{"HTML that says it is a stream", "text/event-stream", "\n <html>", llm.ProviderError, `HTML instead of an answer: "\n <html>"`},
		{"a JSON error", "application/json", `{"type":"error","error":{"type":"api_error","message":"no"},"request_id":null}`, llm.ProviderError, "no"},
		{"a JSON error that says it is a stream", "text/event-stream", "\xEF\xBB\xBF {\"error\":{\"message\":\"no\"}}", llm.ProviderError, "no"},
		{"another JSON object", "application/json", `{"a":1}`, llm.ProviderError, `neither a message nor an error: "{\"a\":1}"`},
		{"half a JSON object", "application/json", `{"a":`, llm.ProviderError, `not JSON: "{\"a\":"`},
		{"a call that never begins", "text/event-stream", deltaOf("0", `{"partial_json":"{}"}`) + done, llm.ProviderError, "tool call 0 has no name"},
		{"a call without a name", "text/event-stream", blockOf("0", `{"type":"tool_use","id":"a"}`) + done, llm.ProviderError, "tool call 0 has no name"},
		{"too many arguments", "text/event-stream", part + part + deltaOf("2", `{"partial_json":"x"}`) + done, llm.ProviderError, "tool call arguments are larger than 1 MiB"},
		{"too many tool calls", "text/event-stream", many.String(), llm.ProviderError, "more than 256 tool calls"},
		{"too many open blocks", "text/event-stream", foreign.String(), llm.ProviderError, "more than 1024 open blocks"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readAs(tt.as, strings.NewReader(tt.body))
			var failure *llm.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, tt.code, failure.Code)
			require.Equal(t, tt.message, failure.Message)
		})
	}
}

func TestDecodeAcceptsAWholeAnswer(t *testing.T) {
	body := `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"r","signature":"s"},{"type":"text","text":"a"},
		{"type":"tool_use","id":"1","name":"f","input":{"x":1},"caller":{"type":"direct"}},{"type":"tool_use","id":"2","name":"f","input":{}}],
		"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":1,"output_tokens":2}}`
	for _, as := range []string{"application/json", "text/event-stream", ""} {
		items, err := readAs(as, strings.NewReader(body))
		require.NoError(t, err)
		require.Equal(t, []llm.Item{
			thought("r"), text("a"), opened(0, "1", "f"), arguments(0, `{"x":1}`), opened(1, "2", "f"), arguments(1, "{}"), finished("tool_calls"), usageOf(1, 2, 3),
		}, items)
	}
	_, err := readAs("application/json", io.MultiReader(strings.NewReader(body[:40]), iotest.ErrReader(io.ErrUnexpectedEOF)))
	requireCode(t, llm.ProviderTruncated, err)
}

func FuzzDecode(f *testing.F) {
	for _, way := range endings {
		f.Add([]byte(way(full)), uint16(7))
	}
	f.Add([]byte(`{"type":"error","error":{"message":"no"}}`), uint16(1))
	f.Add([]byte(`{"type":"message","content":[{"type":"tool_use","input":null},null]}`), uint16(3))
	f.Add([]byte(blockOf("-1", "null")+deltaOf("-1", `{"partial_json":"1"}`)), uint16(1))
	f.Fuzz(func(t *testing.T, body []byte, split uint16) {
		at := min(int(split), len(body))
		items, err := read(bytes.NewReader(body))
		again, errAgain := read(io.MultiReader(bytes.NewReader(body[:at]), iotest.OneByteReader(bytes.NewReader(body[at:]))))
		require.Equal(t, items, again)
		require.Equal(t, err, errAgain)
	})
}

func BenchmarkStream(b *testing.B) {
	s := strings.Repeat(says("some words "), 1000) + stopped("end_turn") + done
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		d := decoder{calls: make(map[int64]*call), ids: wire.NewIDs(nil), emit: func(llm.Item) error { return nil }}
		if err := d.decode(b.Context(), "text/event-stream", strings.NewReader(s)); err != nil {
			b.Fatal(err)
		}
	}
}
