package gemini

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

// Any cut before the first finish reason is a truncation, and so is any after it that the body does not end well with;
// what was whole before it has been passed on.
func TestDecodeAtEveryCut(t *testing.T) {
	reset := errors.New("connection reset by peer")
	finish := strings.Index(full, `"finishReason":"STOP","index":0`)
	finish += strings.Index(full[finish:], "\n\n") + 2
	for at := range len(full) {
		items, err := read(strings.NewReader(full[:at]))
		if at < finish {
			requireCode(t, llm.ProviderTruncated, err)
		} else {
			require.NoError(t, err, "clean end at %d", at)
			items = items[:len(items)-1] // usage, as far as it was told
		}
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

// An item is passed on when its event ends, without waiting for another byte; the end is the body's.
func TestDecodeDoesNotWaitForTheNextByte(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r", "\r\n\r\n"} {
		t.Run(fmt.Sprintf("%q", end), func(t *testing.T) {
			r, w := io.Pipe()
			items, result := make(chan llm.Item), make(chan error)
			go func() {
				d := decoder{ids: wire.NewIDs(nil), emit: func(i llm.Item) error { items <- i; return nil }}
				result <- d.decode(t.Context(), "text/event-stream", r)
			}()
			for _, want := range []string{"a", "b"} {
				_, err := io.WriteString(w, strings.TrimSpace(chunk(`{"text":"`+want+`"}`))+end)
				require.NoError(t, err)
				require.Equal(t, text(want), <-items)
			}
			_, err := io.WriteString(w, strings.TrimSpace(stop("STOP"))+end)
			require.NoError(t, err)
			require.Equal(t, finished("stop"), <-items)
			require.NoError(t, w.Close())
			require.NoError(t, <-result)
		})
	}
}

func TestDecodeStreams(t *testing.T) {
	tests := []struct {
		name string
		body string
		want []llm.Item
	}{
		{"empty parts, counts and unknown fields are no items", chunk("") + chunk(`{"text":""}`) + chunk(`{"inlineData":{"data":"x"},"future":[1]}`) +
			`data: {"usageMetadata":{"totalTokenCount":1}}` + "\n\ndata: null\n\n" + `data: {"candidates":[{}]}` + "\n\n" + stop("STOP"), []llm.Item{finished("stop"), usageOf(0, 0, 1)}},
		{"events without data are no items", "event: ping\n\ndata:\n\nid: 1\n\n" + stop("STOP"), []llm.Item{finished("stop")}},
		{"a null or empty error is none", `data: {"error":null,"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}` + "\n\n", []llm.Item{text("a"), finished("stop")}},
		{"an unspecified finish reason is none", stop("FINISH_REASON_UNSPECIFIED") + stop("STOP"), []llm.Item{finished("stop")}},
		{"the limit", chunk(`{"text":"a"}`) + stop("MAX_TOKENS"), []llm.Item{text("a"), finished("length")}},
		{"the filter", chunk(`{"text":"a"}`) + stop("SAFETY"), []llm.Item{text("a"), finished("content_filter")}},
		{"a blocked prompt", `data: {"promptFeedback":{"blockReason":"OTHER"},"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}` + "\n\n", []llm.Item{finished("content_filter"), usageOf(4, 0, 4)}},
		{"a reason that others have no word for", stop("LANGUAGE"), []llm.Item{finished("LANGUAGE")}},
		{"a repeated finish reason counts once", stop("STOP") + stop("STOP"), []llm.Item{finished("stop")}},
		{"output may follow a finish reason", stop("STOP") + chunk(`{"text":"a"}`) + stop("MAX_TOKENS"), []llm.Item{finished("stop"), text("a"), finished("length")}},
		{"the last usage counts, and a chunk without one takes nothing back",
			`data: {"usageMetadata":{"promptTokenCount":1,"totalTokenCount":1}}` + "\n\n" + `data: {"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"totalTokenCount":3}}` + "\n\n" + stop("STOP"),
			[]llm.Item{finished("stop"), usageOf(1, 2, 3)}},
		{"arguments that are null are none", chunk(`{"functionCall":{"name":"f","args":null}}`) + stop("STOP"), []llm.Item{opened(0, "call-0", "f"), arguments(0, "{}"), finished("tool_calls")}},
		{"arguments that are no object stay as they are", chunk(`{"functionCall":{"name":"f","args":"{"}}`) + stop("STOP"), []llm.Item{opened(0, "call-0", "f"), arguments(0, `"{"`), finished("tool_calls")}},
		{"a call before the limit stays", chunk(`{"functionCall":{"name":"f"}}`) + stop("MAX_TOKENS"), []llm.Item{opened(0, "call-0", "f"), arguments(0, "{}"), finished("length")}},
		{"a long line is whole", chunk(`{"text":"`+strings.Repeat("x", 3<<20)+`"}`) + stop("STOP"), []llm.Item{text(strings.Repeat("x", 3<<20)), finished("stop")}},
		{"invalid UTF-8 is replaced", chunk("{\"text\":\"a\xff\"}") + stop("STOP"), []llm.Item{text("a\uFFFD"), finished("stop")}},
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
	big := chunk(`{"functionCall":{"name":"f","args":{"x":"` + strings.Repeat("x", 1<<19) + `"}}}`)
	tests := []struct {
		name    string
		as      string
		body    string
		code    llm.Code
		message string
	}{
		{"an error chunk", "text/event-stream", chunk(`{"text":"a"}`) + `data: {"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}` + "\n\n", llm.ProviderError, "overloaded"},
		{"an error chunk after the finish reason", "text/event-stream", stop("STOP") + `data: {"error":{"code":503,"message":"overloaded"}}` + "\n\n", llm.ProviderError, "overloaded"},
		{"an error without a message", "text/event-stream", `data: {"error":{"code":7}}` + "\n\n", llm.ProviderError, `{"code":7}`},
		{"an error beside candidates of a wrong type", "text/event-stream", `data: {"error":{"message":"no"},"candidates":""}` + "\n\n", llm.ProviderError, "no"},
		{"a flat error", "text/event-stream", `data: {"code":503,"message":"no","status":"UNAVAILABLE"}` + "\n\n", llm.ProviderError, "no"},
		{"a flat error without a message", "text/event-stream", `data: {"code":503,"status":"UNAVAILABLE"}` + "\n\n", llm.ProviderError, "UNAVAILABLE"},
		{"a call that the model could not write", "text/event-stream", `data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"f(","index":0}]}` + "\n\n", llm.ProviderError, "the provider ended the answer with MALFORMED_FUNCTION_CALL: f("},
		{"calls that were not allowed", "text/event-stream", stop("UNEXPECTED_TOOL_CALL"), llm.ProviderError, "the provider ended the answer with UNEXPECTED_TOOL_CALL"},
		{"a line that is not JSON", "text/event-stream", "data: {\"a\":\t" + long + "\n\n", llm.ProviderError, `not JSON: "{\"a\":\t` + long[:194] + `"`},
		{"a text of the wrong type", "text/event-stream", chunk(`{"text":7}`), llm.ProviderError, `not a response of generateContent: "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":7}],\"role\":\"model\"},\"index\":0}]}"`},
		{"no finish reason", "text/event-stream", chunk(`{"text":"a"}`), llm.ProviderTruncated, "the stream ended without a finish reason"},
		{"an unfinished last event", "text/event-stream", strings.TrimSuffix(stop("STOP"), "\n"), llm.ProviderTruncated, "the stream ended without a finish reason"},
		{"an event stream without an event", "text/event-stream; charset=utf-8", "", llm.ProviderTruncated, "the stream ended without a finish reason"},
		{"an empty body", "application/json", "", llm.ProviderError, `neither events nor JSON, but content type "application/json"`},
		{"HTML", "text/html", "<html>sorry</html>", llm.ProviderError, `HTML instead of an answer: "<html>sorry</html>"`},
		{"HTML that says it is a stream", "text/event-stream", "\n <html>", llm.ProviderError, `HTML instead of an answer: "\n <html>"`},
		{"a JSON error", "application/json", `{"error":{"message":"no"}}`, llm.ProviderError, "no"},
		{"a JSON error that says it is a stream", "text/event-stream", "\xEF\xBB\xBF {\"error\":{\"message\":\"no\"}}", llm.ProviderError, "no"},
		{"an array with an error", "application/json", `[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}` + "\n,\r\n" + `{"error":{"message":"no"}}` + "\n]", llm.ProviderError, "no"},
		{"an array that is not closed", "application/json", `[{"candidates":[{"finishReason":"STOP"}]}` + "\n", llm.ProviderTruncated, "the array of chunks is not closed"},
		{"an array of something else", "application/json", `[7]`, llm.ProviderError, `not a response of generateContent: "7"`},
		{"an empty array", "application/json", `[]`, llm.ProviderError, `neither an answer nor an error: "[]"`},
		{"another JSON object", "application/json", `{"a":1}`, llm.ProviderError, `neither an answer nor an error: "{\"a\":1}"`},
		{"half a JSON object", "application/json", `{"a":`, llm.ProviderError, `not JSON: "{\"a\":"`},
		{"an answer that is not finished", "application/json", `{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, llm.ProviderTruncated, "the stream ended without a finish reason"},
		{"a tool call without a name", "text/event-stream", chunk(`{"functionCall":{"args":{}}}`) + stop("STOP"), llm.ProviderError,
			`tool call 0 has no name: "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"args\":{}}}],\"role\":\"model\"},\"index\":0}]}"`},
		{"too many arguments", "text/event-stream", big + big + stop("STOP"), llm.ProviderError, "tool call arguments are larger than 1 MiB"},
		{"too many tool calls", "text/event-stream", chunk(strings.TrimSuffix(strings.Repeat(`{"functionCall":{"name":"f"}},`, 257), ",")), llm.ProviderError, "more than 256 tool calls"},
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
	_, err := read(io.MultiReader(strings.NewReader("data: "), repeating('x')))
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

func TestDecodeAcceptsAnArrayAndAWholeAnswer(t *testing.T) {
	first := `{"candidates":[{"content":{"parts":[{"text":"r","thought":true},{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":1,"totalTokenCount":1}}`
	last := `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"totalTokenCount":3}}`
	want := []llm.Item{{Kind: llm.Reasoning, Text: "r"}, text("a"), opened(0, "call-0", "f"), arguments(0, "{}"), finished("tool_calls"), usageOf(1, 2, 3)}
	for _, as := range []string{"application/json", "text/event-stream", ""} {
		items, err := readAs(as, strings.NewReader("["+first+"\n,\r\n"+last+"\n]"))
		require.NoError(t, err)
		require.Equal(t, want, items)
		items, err = readAs(as, strings.NewReader(last))
		require.NoError(t, err)
		require.Equal(t, want[2:], items)
	}
	_, err := readAs("application/json", io.MultiReader(strings.NewReader("["+first), iotest.ErrReader(io.ErrUnexpectedEOF)))
	requireCode(t, llm.ProviderTruncated, err)
}

func FuzzDecode(f *testing.F) {
	for _, way := range endings {
		f.Add([]byte(way(full)), uint16(7))
	}
	f.Add([]byte(`{"error":{"message":"no"}}`), uint16(1))
	f.Add([]byte(`[{"candidates":[{"finishReason":"STOP"}]}]`), uint16(3))
	f.Add([]byte("<html>"), uint16(0))
	f.Add([]byte(chunk(`{"functionCall":null},null`)), uint16(1))
	f.Fuzz(func(t *testing.T, body []byte, split uint16) {
		at := min(int(split), len(body))
		items, err := read(bytes.NewReader(body))
		again, errAgain := read(io.MultiReader(bytes.NewReader(body[:at]), iotest.OneByteReader(bytes.NewReader(body[at:]))))
		require.Equal(t, items, again)
		require.Equal(t, err, errAgain)
	})
}
