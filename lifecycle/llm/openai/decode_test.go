package openai

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
			for at := range len(s) + 1 {
				items, err := read(io.MultiReader(strings.NewReader(s[:at]), strings.NewReader(s[at:])))
				require.NoError(t, err, "split at %d", at)
				require.Equal(t, fullItems, items, "split at %d", at)
			}
			items, err := read(iotest.OneByteReader(strings.NewReader(s)))
			require.NoError(t, err)
			require.Equal(t, fullItems, items, "single bytes")
		})
	}
}

// Any cut before the finish reason is a truncation; what was whole before it has been passed on.
func TestDecodeAtEveryCut(t *testing.T) {
	reset := errors.New("connection reset by peer")
	end := strings.Index(full, "data: [DONE]\n\n") + len("data: [DONE]\n\n")
	finish := strings.Index(full, `"finish_reason":"tool_calls"`)
	finish += strings.Index(full[finish:], "\n\n") + 2
	for at := range len(full) {
		items, err := read(strings.NewReader(full[:at]))
		if at < finish {
			requireCode(t, llm.ProviderTruncated, err)
		} else {
			require.NoError(t, err, "clean end at %d", at)
		}
		require.True(t, slices.Equal(fullItems[:len(items)], items))

		items, err = read(io.MultiReader(strings.NewReader(full[:at]), iotest.ErrReader(reset)))
		require.Less(t, at, end)
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
				_, err := io.WriteString(w, strings.TrimSpace(chunk(`{"content":"`+want+`"}`))+end)
				require.NoError(t, err)
				require.Equal(t, text(want), <-items)
			}
			_, err := io.WriteString(w, "data: [DONE]"+end)
			require.NoError(t, err)
			require.NoError(t, <-result, "[DONE] ends the answer while the body is open")
		})
	}
}

func TestDecodeStreams(t *testing.T) {
	tests := []struct {
		name string
		body string
		want []llm.Item
	}{
		{"role-only frames, empty deltas and unknown fields are no items", chunk(`{"role":"assistant","content":null}`) + chunk(`{}`) + chunk(`{"content":"","future":[1]}`) + `data: {"x":1}` + "\n\ndata: null\n\n" + done, nil},
		{"events without data are no items", "event: ping\n\ndata:\n\nid: 1\n\n" + done, nil},
		{"a null or empty error is none", `data: {"error":null,"choices":[{"delta":{"content":"a"}}]}` + "\n\n" + `data: {"error":"","choices":[{"delta":{"content":"b"}}]}` + "\n\n" + done, []llm.Item{text("a"), text("b")}},
		{"a clean end after a finish reason is complete", chunk(`{"content":"a"}`) + stop, []llm.Item{text("a"), finished("stop")}},
		{"what comes after [DONE] is ignored", stop + done + "data: garbage\n\n", []llm.Item{finished("stop")}},
		{"a reasoning field counts as reasoning", chunk(`{"reasoning":"a"}`) + done, []llm.Item{{Kind: llm.Reasoning, Text: "a"}}},
		{"reasoning sent in both fields counts once", chunk(`{"reasoning":"a","reasoning_content":"a"}`) + done, []llm.Item{{Kind: llm.Reasoning, Text: "a"}}},
		{"reasoning in details alone counts", chunk(`{"content":"","reasoning_details":[{"type":"reasoning.summary","summary":"a"},{"type":"reasoning.text","text":"b"},{"type":"reasoning.encrypted","data":"x"}]}`) + done,
			[]llm.Item{{Kind: llm.Reasoning, Text: "ab"}}},
		{"reasoning in details and beside them counts once", chunk(`{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a"}]}`) + done, []llm.Item{{Kind: llm.Reasoning, Text: "a"}}},
		{"encrypted reasoning is no item", chunk(`{"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`) + done, nil},
		{"details that are no list are no item", chunk(`{"reasoning_details":{"a":1}}`) + done, nil},
		{"content may be a list of parts", chunk(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"a"},{"type":"reference","reference_ids":[1]}]}`) + done,
			[]llm.Item{{Kind: llm.Reasoning, Text: "t"}, text("a")}},
		{"a refusal is text", chunk(`{"role":"assistant","content":null,"refusal":""}`) + chunk(`{"refusal":"no"}`) + stop + done, []llm.Item{text("no"), finished("stop")}},
		{"comments and filter results are no items", ": OPENROUTER PROCESSING\n\n: keep-alive\n\n" + `data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}` + "\n\n" +
			`data: {"object":"","choices":[{"index":0,"finish_reason":null,"content_filter_offsets":{"check_offset":1},"content_filter_results":{}}]}` + "\n\n" + done, nil},
		{"the whole message after its deltas counts once", chunk(`{"content":"ab"}`) + `data: {"choices":[{"index":0,"message":{"role":"assistant","content":"ab"},"finish_reason":"stop"}]}` + "\n\n" + done, []llm.Item{text("ab"), finished("stop")}},
		{"the message so far beside its delta counts once", `data: {"choices":[{"delta":{"content":"a"},"message":{"content":"a"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"b"},"message":{"content":"ab"}}]}` + "\n\n" + done, []llm.Item{text("a"), text("b")}},
		{"a whole message without deltas counts", chunk(`{"role":"assistant"}`) + `data: {"choices":[{"message":{"content":"a","tool_calls":[{"id":"1","function":{"name":"f"}},{"id":"2","function":{"name":"f"}}]},"finish_reason":"tool_calls"}]}` + "\n\n" + done,
			[]llm.Item{text("a"), opened(0, "1", "f"), opened(1, "2", "f"), finished("tool_calls")}},
		{"a running count of usage is no output", `data: {"choices":[{"delta":{"role":"assistant"}}],"usage":{"prompt_tokens":5,"completion_tokens":0,"total_tokens":5}}` + "\n\n" +
			`data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}` + "\n\n" + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}` + "\n\n" + done,
			[]llm.Item{text("a"), finished("stop"), usageOf(5, 2, 7)}},
		{"a running count that never finishes is passed on at the end", `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"total_tokens":6}}` + "\n\n" + done, []llm.Item{text("a"), usageOf(0, 0, 6)}},
		{"a whole call in one chunk, its index last", chunk(`{"role":"assistant","content":"","tool_calls":[{"id":"D681PevKs","function":{"name":"f","arguments":"{}"},"index":0}]}`) + done,
			[]llm.Item{opened(0, "D681PevKs", "f"), arguments(0, "{}")}},
		{"reasoning that is no text is no item", chunk(`{"reasoning":{"effort":"low"}}`) + done, nil},
		{"one chunk may hold everything", `data: {"choices":[{"delta":{"content":"a","reasoning":"r"},"finish_reason":"stop"}],"usage":{"total_tokens":1}}` + "\n\n" + done,
			[]llm.Item{{Kind: llm.Reasoning, Text: "r"}, text("a"), finished("stop"), usageOf(0, 0, 1)}},
		{"a repeated finish reason counts once", stop + stop + done, []llm.Item{finished("stop")}},
		{"each usage is passed on", `data: {"usage":{"total_tokens":1}}` + "\n\n" + `data: {"choices":[],"usage":{"total_tokens":2}}` + "\n\n" + done, []llm.Item{usageOf(0, 0, 1), usageOf(0, 0, 2)}},
		{"a repeated id and name are the same call", chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1"}}]}`) + chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"2"}}]}`) + done,
			[]llm.Item{opened(0, "a", "f"), arguments(0, "1"), arguments(0, "2")}},
		{"another id without a name is the same call", chunk(`{"tool_calls":[{"id":"a","function":{"name":"f"}}]}`) + chunk(`{"tool_calls":[{"id":"b","function":{"arguments":"2"}}]}`) + done,
			[]llm.Item{opened(0, "a", "f"), arguments(0, "2")}},
		{"whole calls without an index do not run together", chunk(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{}"}}]}`) + chunk(`{"tool_calls":[{"function":{"name":"g","arguments":"{}"}}]}`) + done,
			[]llm.Item{opened(0, "a", "f"), arguments(0, "{}"), opened(1, "b", "f"), arguments(1, "{}"), opened(2, "call-0", "g"), arguments(2, "{}")}},
		{"arguments before the name wait for it", chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{"}}]}`) + chunk(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"}"}}]}`) + done,
			[]llm.Item{opened(0, "a", "f"), arguments(0, "{}")}},
		{"a gap in the indexes is closed", chunk(`{"tool_calls":[{"index":3,"id":"a","function":{"name":"f"}}]}`) + done, []llm.Item{opened(0, "a", "f")}},
		{"a long line is whole", "data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("x", 3<<20) + "\"}}]}\n\n" + done, []llm.Item{text(strings.Repeat("x", 3<<20))}},
		{"invalid UTF-8 is replaced", chunk("{\"content\":\"a\xff\"}") + done, []llm.Item{text("a\uFFFD")}},
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
	long := strings.Repeat("x", 300)
	big := strings.Repeat("x", 1<<19)
	part := chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"` + big + `"}}]}`)
	tests := []struct {
		name    string
		as      string
		body    string
		code    llm.Code
		message string
	}{
		{"an error frame", "text/event-stream", chunk(`{"content":"a"}`) + `data: {"error":{"message":"overloaded","type":"server_error","param":null,"code":null}}` + "\n\n" + done, llm.ProviderError, "overloaded"},
		{"an error frame with a text", "text/event-stream", `data: {"error":"no"}` + "\n\n", llm.ProviderError, "no"},
		{"an error frame without a message", "text/event-stream", `data: {"error":{"code":7}}` + "\n\n", llm.ProviderError, `{"code":7}`},
		{"an error beside choices of a wrong type", "text/event-stream", `data: {"error":{"message":"no"},"choices":""}` + "\n\n", llm.ProviderError, "no"},
		{"an event named error", "text/event-stream", "event: error\ndata: {\"message\":\"no\"}\n\n", llm.ProviderError, "no"},
		{"the finish reason error", "text/event-stream", `data: {"choices":[{"finish_reason":"error"}]}` + "\n\n" + done, llm.ProviderError, `the provider ended the answer with finish reason "error"`},
		{"a line that is not JSON", "text/event-stream", "data: {\"a\":\t" + long + "\n\n", llm.ProviderError, `not JSON: "{\"a\":\t` + long[:194] + `"`},
		{"a text of the wrong type", "text/event-stream", chunk(`{"content":{"text":"a"}}`), llm.ProviderError, `not a chat completion: "{\"choices\":[{\"index\":0,\"delta\":{\"content\":{\"text\":\"a\"}}}]}"`},
		{"a part of the wrong type", "text/event-stream", chunk(`{"content":[{"type":"text","text":1}]}`), llm.ProviderError, `not a chat completion: "{\"choices\":[{\"index\":0,\"delta\":{\"content\":[{\"type\":\"text\",\"text\":1}]}}]}"`},
		{"an error beside a choice, with a number for a code", "text/event-stream", ": OPENROUTER PROCESSING\n\n" + chunk(`{"role":"assistant","content":"a"}`) +
			`data: {"id":"gen-1","object":"chat.completion.chunk","error":{"code":502,"message":"Provider disconnected","metadata":{"error_type":"provider_unavailable"}},` +
			`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"error","native_finish_reason":null}]}` + "\n\n", llm.ProviderError, "Provider disconnected"},
		{"an error with a number for a code and then [DONE]", "text/event-stream", `data: {"error":{"message":"no","type":"InternalServerError","param":null,"code":500}}` + "\n\n" + done, llm.ProviderError, "no"},
		{"a flat error with a number for a code", "text/event-stream", `data: {"object":"error","message":"no","type":"BadRequestError","param":null,"code":400}` + "\n\n" + done, llm.ProviderError, "no"},
		{"an error that is a text beside its code", "text/event-stream", `data: {"code":"The service is unavailable","error":"no"}` + "\n\n", llm.ProviderError, "no"},
		{"an event named error with an error object", "text/event-stream", "event: error\ndata: {\"error\":{\"message\":\"no\",\"type\":\"server_error\"}}\n\n", llm.ProviderError, "no"},
		{"no terminator", "text/event-stream", chunk(`{"content":"a"}`), llm.ProviderTruncated, "the stream ended without [DONE] or a finish reason"},
		{"an unfinished last event", "text/event-stream", "data: [DONE]\n", llm.ProviderTruncated, "the stream ended without [DONE] or a finish reason"},
		{"an event stream without an event", "text/event-stream; charset=utf-8", "", llm.ProviderTruncated, "the stream ended without [DONE] or a finish reason"},
		{"an empty body", "application/json", "", llm.ProviderError, `neither events nor JSON, but content type "application/json"`},
		{"a body of words", "", "try later\n", llm.ProviderError, `neither events nor JSON, but content type ""`},
		{"HTML", "text/html", "<html>sorry</html>", llm.ProviderError, `HTML instead of an answer: "<html>sorry</html>"`},
		{"HTML that says it is a stream", "text/event-stream", "\n <html>", llm.ProviderError, `HTML instead of an answer: "\n <html>"`},
		{"a JSON error", "application/json", `{"error":{"message":"no"}}`, llm.ProviderError, "no"},
		{"a JSON error that says it is a stream", "text/event-stream", "\xEF\xBB\xBF {\"error\":{\"message\":\"no\"}}", llm.ProviderError, "no"},
		{"a JSON error without an error object", "application/json", `{"object":"error","message":"no"}`, llm.ProviderError, "no"},
		{"another JSON object", "application/json", `{"a":1}`, llm.ProviderError, `neither an answer nor an error: "{\"a\":1}"`},
		{"half a JSON object", "application/json", `{"a":`, llm.ProviderError, `not JSON: "{\"a\":"`},
		{"a tool call that never gets a name", "text/event-stream", chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`) + done, llm.ProviderError, "tool call 0 has no name"},
		{"too many arguments", "text/event-stream", part + part + chunk(`{"tool_calls":[{"index":1,"function":{"arguments":"x"}}]}`) + done, llm.ProviderError, "tool call arguments are larger than 1 MiB"},
		{"too many tool calls", "text/event-stream", chunk(`{"tool_calls":[` + strings.TrimSuffix(strings.Repeat(`{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"g"}},`, 200), ",") + `]}`), llm.ProviderError, "more than 256 tool calls"},
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

func TestDecodeRefusesAnEventAboveTheLimit(t *testing.T) {
	endless := iotest.DataErrReader(io.MultiReader(strings.NewReader("data: "), repeating('x')))
	_, err := read(endless)
	requireCode(t, llm.ProviderError, err)
	require.ErrorContains(t, err, "an event is larger than 32 MiB")
}

type repeating byte

func (b repeating) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

// Dripped bytes must not make the reader look through a long event again and again.
func TestDecodeReadsADrippedLongEvent(t *testing.T) {
	s := chunk(`{"content":"`+strings.Repeat("x", 1<<20)+`"}`) + done
	items, err := read(iotest.OneByteReader(strings.NewReader(s)))
	require.NoError(t, err)
	require.Len(t, items[0].Text, 1<<20)
}

func TestDecodeAcceptsAWholeAnswer(t *testing.T) {
	body := `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"a","reasoning_content":"r","tool_calls":[
		{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],
		"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`
	for _, as := range []string{"application/json", "text/event-stream", ""} {
		items, err := readAs(as, strings.NewReader(body))
		require.NoError(t, err)
		require.Equal(t, []llm.Item{
			{Kind: llm.Reasoning, Text: "r"}, text("a"), opened(0, "1", "f"), arguments(0, "{}"), opened(1, "2", "f"), arguments(1, "{}"), finished("tool_calls"), usageOf(1, 2, 3),
		}, items)
	}
	_, err := readAs("application/json", io.MultiReader(strings.NewReader(body[:40]), iotest.ErrReader(io.ErrUnexpectedEOF)))
	requireCode(t, llm.ProviderTruncated, err)
}

func FuzzDecode(f *testing.F) {
	for _, way := range endings {
		f.Add([]byte(way(full)), uint16(7))
	}
	f.Add([]byte(`{"error":{"message":"no"}}`), uint16(1))
	f.Add([]byte(`{"choices":[{"message":{"content":"a"}}]}`), uint16(3))
	f.Add([]byte("<html>"), uint16(0))
	f.Add([]byte("\r\n\r\n\n\xEF\xBB\xBFdata"), uint16(2))
	f.Add([]byte(chunk(`{"tool_calls":[{"index":-1,"function":null},null]}`)), uint16(1))
	f.Fuzz(func(t *testing.T, body []byte, split uint16) {
		at := min(int(split), len(body))
		items, err := read(bytes.NewReader(body))
		again, errAgain := read(io.MultiReader(bytes.NewReader(body[:at]), iotest.OneByteReader(bytes.NewReader(body[at:]))))
		require.Equal(t, items, again)
		require.Equal(t, err, errAgain)
	})
}

func BenchmarkStream(b *testing.B) {
	s := strings.Repeat(chunk(`{"content":"some words "}`), 1000) + stop + done
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		d := decoder{calls: make(map[int64]*call), ids: wire.NewIDs(nil), emit: func(llm.Item) error { return nil }}
		if err := d.decode(b.Context(), "text/event-stream", strings.NewReader(s)); err != nil {
			b.Fatal(err)
		}
	}
}
