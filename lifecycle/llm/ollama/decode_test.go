package ollama

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

func TestDecodeAtEverySplit(t *testing.T) {
	for _, way := range []struct{ name, body string }{
		{"LF", full},
		{"CRLF", strings.ReplaceAll(full, "\n", "\r\n")},
		{"BOM", "\xEF\xBB\xBF" + full},
		{"blank lines", "\n" + strings.ReplaceAll(full, "\n", "\n \n\n")},
		{"no last line end", strings.TrimSuffix(full, "\n")},
	} {
		t.Run(way.name, func(t *testing.T) {
			for at := range len(way.body) + 1 {
				items, err := read(io.MultiReader(strings.NewReader(way.body[:at]), strings.NewReader(way.body[at:])))
				require.NoError(t, err, "split at %d", at)
				require.Equal(t, fullItems, items, "split at %d", at)
			}
			items, err := read(iotest.OneByteReader(strings.NewReader(way.body)))
			require.NoError(t, err)
			require.Equal(t, fullItems, items, "single bytes")
		})
	}
}

// Any cut before the end of the last line is a truncation; what was whole before it has been passed on.
func TestDecodeAtEveryCut(t *testing.T) {
	reset := errors.New("connection reset by peer")
	for at := range len(full) {
		items, err := read(strings.NewReader(full[:at]))
		if at < len(full)-1 {
			requireCode(t, llm.ProviderTruncated, err)
		} else {
			require.NoError(t, err, "only the line end is missing")
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

// An item is passed on when its line ends, and the last line ends the answer while the body is open.
func TestDecodeDoesNotWaitForTheNextByte(t *testing.T) {
	r, w := io.Pipe()
	items, result := make(chan llm.Item), make(chan error)
	go func() {
		d := decoder{ids: wire.NewIDs(nil), emit: func(i llm.Item) error { items <- i; return nil }}
		result <- d.decode(t.Context(), r)
	}()
	for _, want := range []string{"a", "b"} {
		_, err := io.WriteString(w, said(`{"content":"`+want+`"}`))
		require.NoError(t, err)
		require.Equal(t, text(want), <-items)
	}
	_, err := io.WriteString(w, done)
	require.NoError(t, err)
	require.Equal(t, finished("stop"), <-items)
	require.NoError(t, <-result)
}

func TestDecodeStreams(t *testing.T) {
	tests := []struct {
		name string
		body string
		want []llm.Item
	}{
		{"empty contents and unknown fields are no items", said(`{"role":"assistant","content":""}`) + said(`null`) + `{"future":[1]}` + "\nnull\n" + done, []llm.Item{finished("stop")}},
		{"a null or empty error is none", `{"error":null,"message":{"content":"a"}}` + "\n" + `{"error":"","message":{"content":"b"}}` + "\n" + done, []llm.Item{text("a"), text("b"), finished("stop")}},
		{"what comes after the last line is not read", done + "garbage\n", []llm.Item{finished("stop")}},
		{"the last line may hold everything", `{"message":{"content":"a","thinking":"r","tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":true,"done_reason":"stop","eval_count":2}`,
			[]llm.Item{{Kind: llm.Reasoning, Text: "r"}, text("a"), opened(0, "call-0", "f"), arguments(0, "{}"), finished("tool_calls"), usageOf(0, 2, 2)}},
		{"the limit", said(`{"content":"a"}`) + `{"done":true,"done_reason":"length","prompt_eval_count":3}` + "\n", []llm.Item{text("a"), finished("length"), usageOf(3, 0, 3)}},
		{"a call before the limit stays", said(`{"tool_calls":[{"function":{"name":"f"}}]}`) + `{"done":true,"done_reason":"length"}` + "\n", []llm.Item{opened(0, "call-0", "f"), arguments(0, "{}"), finished("length")}},
		{"no reason", `{"done":true}` + "\n", nil},
		{"no reason after a call", said(`{"tool_calls":[{"id":"1","function":{"name":"f"}}]}`) + `{"done":true}` + "\n", []llm.Item{opened(0, "1", "f"), arguments(0, "{}"), finished("tool_calls")}},
		{"several calls in one line", said(`{"tool_calls":[{"id":"1","function":{"name":"f","arguments":{"a": 1}}},{"id":"2","function":{"name":"f","arguments":null}}]}`) + done,
			[]llm.Item{opened(0, "1", "f"), arguments(0, `{"a": 1}`), opened(1, "2", "f"), arguments(1, "{}"), finished("tool_calls")}},
		{"arguments in a text", said(`{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":"}}]}`) + done, []llm.Item{opened(0, "1", "f"), arguments(0, `{"a":`), finished("tool_calls")}},
		{"arguments in an empty text", said(`{"tool_calls":[{"id":"1","function":{"name":"f","arguments":""}}]}`) + done, []llm.Item{opened(0, "1", "f"), arguments(0, `{}`), finished("tool_calls")}},
		{"a long line is whole", said(`{"content":"`+strings.Repeat("x", 3<<20)+`"}`) + done, []llm.Item{text(strings.Repeat("x", 3<<20)), finished("stop")}},
		{"invalid UTF-8 is replaced", said("{\"content\":\"a\xff\"}") + done, []llm.Item{text("a\uFFFD"), finished("stop")}},
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
	big := said(`{"tool_calls":[{"function":{"name":"f","arguments":{"x":"` + strings.Repeat("x", 1<<19) + `"}}}]}`)
	tests := []struct {
		name    string
		body    string
		code    llm.Code
		message string
	}{
		{"an error line", said(`{"content":"a"}`) + `{"error":"model runner has stopped"}` + "\n" + done, llm.ProviderError, "model runner has stopped"},
		{"an error without a line end", `{"error":"no"}`, llm.ProviderError, "no"},
		{"an error that is an object", `{"error":{"message":"no"}}` + "\n", llm.ProviderError, "no"},
		{"an error beside a message of a wrong type", `{"error":"no","message":7}` + "\n", llm.ProviderError, "no"},
		{"an error beside the end", `{"error":"no","done":true}` + "\n", llm.ProviderError, "no"},
		{"a line that is not JSON", said(`{"content":"a"}`) + "{\"a\":\t" + long + "\n", llm.ProviderError, `not JSON: "{\"a\":\t` + long[:194] + `"`},
		{"a text of the wrong type", said(`{"content":7}`), llm.ProviderError, `not a line of a chat: "{\"message\":{\"content\":7},\"done\":false}"`},
		{"no last line", said(`{"content":"a"}`), llm.ProviderTruncated, "the stream ended without a line that is done"},
		{"a cut last line", said(`{"content":"a"}`) + `{"done":true`, llm.ProviderTruncated, "the stream ended without a line that is done"},
		{"an empty body", "", llm.ProviderTruncated, "the stream ended without a line that is done"},
		{"words", "try later", llm.ProviderError, `not JSON: "try later"`},
		{"HTML", "<html>\n<body>", llm.ProviderError, `HTML instead of an answer: "<html>"`},
		{"HTML on one line", "<html>", llm.ProviderError, `HTML instead of an answer: "<html>"`},
		{"events", "data: {}\n\n", llm.ProviderError, `not JSON: "data: {}"`},
		{"a tool call without a name", said(`{"tool_calls":[{"id":"1","function":{"arguments":{}}}]}`), llm.ProviderError, "tool call 0 has no name"},
		{"too many arguments", big + big + done, llm.ProviderError, "tool call arguments are larger than 1 MiB"},
		{"too many tool calls", strings.Repeat(said(`{"tool_calls":[{"function":{"name":"f"}}]}`), 257) + done, llm.ProviderError, "more than 256 tool calls"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(strings.NewReader(tt.body))
			var failure *llm.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, tt.code, failure.Code)
			require.Equal(t, tt.message, failure.Message)
		})
	}
}

func TestDecodeRefusesALineAboveTheLimit(t *testing.T) {
	_, err := read(repeating('x'))
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

func FuzzDecode(f *testing.F) {
	f.Add([]byte(full), uint16(7))
	f.Add([]byte(strings.ReplaceAll(full, "\n", "\r\n")), uint16(300))
	f.Add([]byte(`{"error":"no"}`), uint16(1))
	f.Add([]byte("<html>"), uint16(0))
	f.Add([]byte("\n\r\n\xEF\xBB\xBF{"), uint16(2))
	f.Add([]byte(said(`{"tool_calls":[{"function":null},null]}`)), uint16(1))
	f.Fuzz(func(t *testing.T, body []byte, split uint16) {
		at := min(int(split), len(body))
		items, err := read(bytes.NewReader(body))
		again, errAgain := read(io.MultiReader(bytes.NewReader(body[:at]), iotest.OneByteReader(bytes.NewReader(body[at:]))))
		require.Equal(t, items, again)
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(errAgain))
	})
}
