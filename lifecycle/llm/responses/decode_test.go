package responses

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

func requireCode(t *testing.T, code llm.Code, err error) {
	t.Helper()
	var failure *llm.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, code, failure.Code, failure.Message)
}

// Where lines end is what a split can hurt: two ways of it are tried at every byte, the rest in single bytes.
func TestDecodeAtEverySplit(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(endings)) {
		t.Run(name, func(t *testing.T) {
			s := endings[name](full)
			for at := 0; at <= len(s) && (name == "LF" || strings.HasPrefix(name, "BOM")); at++ {
				items, err := read200(io.MultiReader(strings.NewReader(s[:at]), strings.NewReader(s[at:])))
				require.NoError(t, err, "split at %d", at)
				require.Equal(t, fullItems, items, "split at %d", at)
			}
			items, err := read200(iotest.OneByteReader(strings.NewReader(s)))
			require.NoError(t, err)
			require.Equal(t, fullItems, items, "single bytes")
		})
	}
}

// Any cut is a truncation; what was whole before it has been passed on.
func TestDecodeAtEveryCut(t *testing.T) {
	reset := errors.New("connection reset by peer")
	for at := range len(full) {
		items, err := read200(strings.NewReader(full[:at]))
		requireCode(t, llm.ProviderTruncated, err)
		require.True(t, slices.Equal(fullItems[:len(items)], items))

		items, err = read200(io.MultiReader(strings.NewReader(full[:at]), iotest.ErrReader(reset)))
		requireCode(t, llm.ProviderTruncated, err)
		require.ErrorIs(t, err, reset)
		require.True(t, slices.Equal(fullItems[:len(items)], items))
	}
}

// An item is passed on when its event ends, without waiting for another byte.
func TestDecodeDoesNotWaitForTheNextByte(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r", "\r\n\r\n"} {
		t.Run(fmt.Sprintf("%q", end), func(t *testing.T) {
			r, w := io.Pipe()
			items, result := make(chan llm.Item), make(chan error)
			go func() {
				d := newDecoder("", wire.NewIDs(nil), func(i llm.Item) error { items <- i; return nil })
				result <- d.decode(t.Context(), "text/event-stream", r)
			}()
			for _, want := range []string{"a", "b"} {
				_, err := io.WriteString(w, strings.TrimSpace(unnamed(says(want)))+end)
				require.NoError(t, err)
				require.Equal(t, text(want), <-items)
			}
			_, err := io.WriteString(w, strings.TrimSpace(unnamed(done))+end)
			require.NoError(t, err)
			require.Equal(t, finished("stop"), <-items)
			require.NoError(t, <-result, "the terminal event ends the answer while the body is open")
		})
	}
}

const callF = `{"id":"fc_1","type":"function_call","call_id":"a","name":"f","arguments":"","status":"in_progress"}`

func TestDecodeStreams(t *testing.T) {
	incomplete := func(reason string) string {
		return eventOf("response.incomplete", `,"response":{"status":"incomplete","incomplete_details":`+reason+`,"output":[],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}`)
	}
	tests := []struct {
		name string
		body string
		want []llm.Item
	}{
		{"keepalives, lifecycle and empty deltas are no items", eventOf("response.created", `,"response":{}`) + eventOf("response.queued", ``) + eventOf("keepalive", `,"sequence_number":1`) +
			added("0", `{"type":"message","content":[]}`) + eventOf("response.content_part.added", `,"part":{}`) + says("") + added("1", `{"type":"reasoning","summary":[]}`) + "event: ping\n\ndata:\n\ndata: null\n\n" + done,
			[]llm.Item{finished("stop")}},
		{"what comes after the terminal event is ignored", done + "data: garbage\n\n", []llm.Item{finished("stop")}},
		{"events do not need names", unnamed(says("a") + done), []llm.Item{text("a"), finished("stop")}},
		{"a name stands in for a type", "event: response.output_text.delta\ndata: {\"delta\":\"a\"}\n\n" + done, []llm.Item{text("a"), finished("stop")}},
		{"[DONE] says nothing of the answer", "data: [DONE]\n\n" + done, []llm.Item{finished("stop")}},
		{"events that are not known are no items", eventOf("response.web_search_call.searching", `,"output_index":0`) + eventOf("response.audio.delta", `,"delta":{"x":1}`) +
			added("0", `{"type":"tool_search_call","arguments":{"q":"x"},"content":"c"}`) + whole("0", `{"type":"tool_search_call","arguments":{"q":"x"}}`) + done, []llm.Item{finished("stop")}},
		{"reasoning as it is counts", eventOf("response.reasoning_text.delta", `,"output_index":0,"content_index":0,"delta":"r"`) + done, []llm.Item{thought("r"), finished("stop")}},
		{"a refusal is text", eventOf("response.refusal.delta", `,"output_index":0,"content_index":0,"delta":"no"`) + eventOf("response.refusal.done", `,"refusal":"no"`) + done, []llm.Item{text("no"), finished("stop")}},
		{"the limit of tokens is length", incomplete(`{"reason":"max_output_tokens"}`), []llm.Item{finished("length"), usageOf(1, 2, 3)}},
		{"a filtered answer is content_filter", incomplete(`{"reason":"content_filter"}`), []llm.Item{finished("content_filter"), usageOf(1, 2, 3)}},
		{"another reason stays", incomplete(`{"reason":"some_word"}`), []llm.Item{finished("some_word"), usageOf(1, 2, 3)}},
		{"no reason is length", incomplete(`null`), []llm.Item{finished("length"), usageOf(1, 2, 3)}},
		{"cut arguments stay as they are", added("0", callF) + fragment("0", `"{\"x"`) + eventOf("response.function_call_arguments.done", `,"output_index":0,"arguments":"{\"x"`) +
			whole("0", `{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x","status":"incomplete"}`) + incomplete(`{"reason":"max_output_tokens"}`),
			[]llm.Item{opened(0, "a", "f"), arguments(0, `{"x`), finished("length"), usageOf(1, 2, 3)}},
		{"calls may be interleaved", added("0", callF) + added("1", `{"type":"function_call","call_id":"b","name":"g"}`) + fragment("0", `"1"`) + fragment("1", `"{}"`) + fragment("0", `"2"`) + done,
			[]llm.Item{opened(0, "a", "f"), opened(1, "b", "g"), arguments(0, "1"), arguments(1, "{}"), arguments(0, "2"), finished("tool_calls")}},
		{"a call that is added twice is one", added("0", callF) + added("0", callF) + fragment("0", `"1"`) + done, []llm.Item{opened(0, "a", "f"), arguments(0, "1"), finished("tool_calls")}},
		{"arguments before the call wait for it", fragment("0", `"1"`) + fragment("0", `null`) + added("0", callF) + fragment("0", `"2"`) + done, []llm.Item{opened(0, "a", "f"), arguments(0, "1"), arguments(0, "2"), finished("tool_calls")}},
		{"arguments that come at once at the end count once", added("0", callF) + eventOf("response.function_call_arguments.done", `,"output_index":0,"arguments":"{}"`) + whole("0", `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`) + done,
			[]llm.Item{opened(0, "a", "f"), arguments(0, "{}"), finished("tool_calls")}},
		{"what the fragments lack is completed", added("0", callF) + fragment("0", `"{\"x\":"`) + whole("0", `{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":1}"}`) + done,
			[]llm.Item{opened(0, "a", "f"), arguments(0, `{"x":`), arguments(0, "1}"), finished("tool_calls")}},
		{"fragments that differ from the whole stand", added("0", callF) + fragment("0", `"{}"`) + whole("0", `{"type":"function_call","call_id":"a","name":"f","arguments":"{ }"}`) + done,
			[]llm.Item{opened(0, "a", "f"), arguments(0, "{}"), finished("tool_calls")}},
		{"a call that is only done counts", whole("4", `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`) + done, []llm.Item{opened(0, "a", "f"), arguments(0, "{}"), finished("tool_calls")}},
		{"a call without an id gets one", whole("0", `{"type":"function_call","call_id":null,"name":"f","arguments":"{}"}`) + done, []llm.Item{opened(0, "call-0", "f"), arguments(0, "{}"), finished("tool_calls")}},
		{"a message that is only done counts", whole("0", `{"type":"reasoning","summary":[{"text":"r"}],"content":null}`) + whole("1", `{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"b"}]}`) + done,
			[]llm.Item{thought("r"), text("a"), text("b"), finished("stop")}},
		{"a message that is done after its deltas counts once", says("a") + whole("0", `{"type":"message","content":[{"type":"output_text","text":"a"}]}`) + done, []llm.Item{text("a"), finished("stop")}},
		{"an answer that is only in the terminal event counts", eventOf("response.completed", `,"response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}`),
			[]llm.Item{text("a"), opened(0, "a", "f"), arguments(0, "{}"), finished("tool_calls")}},
		{"output in the terminal event after other output does not count, whatever its ids", says("a") + eventOf("response.completed", `,"response":{"output":[{"type":"reasoning","id":"x"},{"type":"message","id":"y","content":[{"text":"a"}]}]}`),
			[]llm.Item{text("a"), finished("stop")}},
		{"output that goes on in a response in progress does not count", says("a") + eventOf("response.in_progress", `,"response":{"output":[{"type":"message","content":[{"text":"a"}]}]}`) + done, []llm.Item{text("a"), finished("stop")}},
		{"a long line is whole", says(strings.Repeat("x", 3<<20)) + done, []llm.Item{text(strings.Repeat("x", 3<<20)), finished("stop")}},
		{"invalid UTF-8 is replaced", says("a\xff") + done, []llm.Item{text("a\uFFFD"), finished("stop")}},
		{"an error that is null is none", unnamed(`data: {"error":null}` + "\n\n" + done), []llm.Item{finished("stop")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items, err := read200(strings.NewReader(tt.body))
			require.NoError(t, err)
			require.Equal(t, tt.want, items)
		})
	}
}

func TestDecodeFailures(t *testing.T) {
	const stream, cut = "text/event-stream", "the stream ended without its terminal event"
	big := fragment("0", `"`+strings.Repeat("x", 1<<19)+`"`)
	var many strings.Builder
	for i := range maxToolCalls + 1 {
		many.WriteString(added(fmt.Sprint(i), callF))
	}
	tests := []struct {
		name    string
		as      string
		body    string
		code    llm.Code
		message string
	}{
		{"an error as it is sent", stream, says("a") + eventOf("error", `,"sequence_number":2,"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"no quota","param":null}`) + done, llm.ProviderError, "no quota"},
		{"an error as it is documented", stream, eventOf("error", `,"code":"server_error","message":"no","param":null,"sequence_number":2`), llm.ProviderError, "no"},
		{"an error without a message", stream, eventOf("error", `,"code":"server_error"`), llm.ProviderError, `{"type":"error","code":"server_error"}`},
		{"an error without a name", stream, unnamed(eventOf("error", `,"error":{"message":"no"}`)), llm.ProviderError, "no"},
		{"an error without a type", stream, `data: {"error":{"message":"no","code":500}}` + "\n\n", llm.ProviderError, "no"},
		{"an error that only its name tells", stream, "event: error\ndata: {\"message\":\"no\"}\n\n", llm.ProviderError, "no"},
		{"a response that has failed", stream, says("a") + eventOf("response.failed", `,"response":{"status":"failed","error":{"code":"server_error","message":"no"}}`), llm.ProviderError, "no"},
		{"a response that has failed without a word", stream, eventOf("response.failed", ``), llm.ProviderError, "the provider ended the answer as failed"},
		{"a response that was cancelled", stream, eventOf("response.cancelled", `,"response":{"status":"cancelled","error":null}`), llm.ProviderError, "the provider ended the answer as cancelled"},
		{"no terminal event", stream, says("a"), llm.ProviderTruncated, cut},
		{"[DONE] in its place", stream, says("a") + "data: [DONE]\n\n", llm.ProviderTruncated, cut},
		{"an unfinished terminal event", stream, strings.TrimSuffix(done, "\n"), llm.ProviderTruncated, cut},
		{"an event stream without an event", stream, "", llm.ProviderTruncated, cut},
		{"a line that is not JSON", stream, "data: {\"a\":\n\n", llm.ProviderError, `not JSON: "{\"a\":"`},
		{"a delta of the wrong type", stream, eventOf("response.output_text.delta", `,"delta":{"a":1}`), llm.ProviderError, `not of the Responses API: "{\"type\":\"response.output_text.delta\",\"delta\":{\"a\":1}}"`},
		{"arguments of the wrong type", stream, whole("0", `{"type":"function_call","name":"f","arguments":{}}`), llm.ProviderError, `not of the Responses API: "{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"name\":\"f\",\"arguments\":{}}}"`},
		{"a data line that is a list", stream, "data: [1]\n\n", llm.ProviderError, `not of the Responses API: "[1]"`},
		{"an empty body", "application/json", "", llm.ProviderError, `neither events nor JSON, but content type "application/json"`},
		{"HTML", "text/html", "<html>sorry</html>", llm.ProviderError, `HTML instead of an answer: "<html>sorry</html>"`},
		{"a JSON error", "application/json", `{"error":{"message":"no","code":null}}`, llm.ProviderError, "no"},
		{"a JSON error that says it is a stream", stream, "\xEF\xBB\xBF {\"error\":{\"message\":\"no\"}}", llm.ProviderError, "no"},
		{"a JSON response that has failed", "application/json", `{"object":"response","status":"failed","error":{"code":"server_error","message":"no"},"output":[]}`, llm.ProviderError, "no"},
		{"another JSON object", "application/json", `{"a":1}`, llm.ProviderError, `neither an answer nor an error: "{\"a\":1}"`},
		{"a JSON response that is not there yet", "application/json", `{"status":"queued"}`, llm.ProviderError, `neither an answer nor an error: "{\"status\":\"queued\"}"`},
		{"a JSON response of the wrong type", "application/json", `{"status":"completed","output":[{"type":"message","content":"a"}]}`, llm.ProviderError, `not of the Responses API: "{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":\"a\"}]}"`},
		{"half a JSON object", "application/json", `{"a":`, llm.ProviderError, `not JSON: "{\"a\":"`},
		{"a call that never gets a name", stream, fragment("0", `"{}"`) + done, llm.ProviderError, "tool call 0 has no name"},
		{"too many arguments", stream, big + big + fragment("1", `"x"`), llm.ProviderError, "tool call arguments are larger than 1 MiB"},
		{"too many calls", stream, many.String(), llm.ProviderError, "more than 256 tool calls"},
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

func TestDecodeBoundsOutputItems(t *testing.T) {
	d := newDecoder("", wire.NewIDs(nil), func(llm.Item) error { return nil })
	for at := range int64(maxItems) {
		require.NoError(t, d.say(llm.Text, at, "a"))
	}
	requireCode(t, llm.ProviderError, d.say(llm.Text, maxItems, "a"))
}

func TestDecodeRefusesAnEventAboveTheLimit(t *testing.T) {
	_, err := read200(io.MultiReader(strings.NewReader("data: "), repeating('x')))
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

func TestDecodeAcceptsAWholeAnswer(t *testing.T) {
	body := `{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"r"}]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},
		{"type":"function_call","call_id":"2","name":"f","arguments":"{}"}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}`
	for _, as := range []string{"application/json", "text/event-stream", ""} {
		items, err := readAs(as, strings.NewReader(body))
		require.NoError(t, err)
		require.Equal(t, []llm.Item{
			thought("r"), text("a"), opened(0, "1", "f"), arguments(0, "{}"), opened(1, "2", "f"), arguments(1, "{}"), finished("tool_calls"), usageOf(1, 2, 3),
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
	f.Add([]byte(`{"status":"completed","output":[{"type":"message","content":[{"text":"a"}]}]}`), uint16(3))
	f.Add([]byte("<html>"), uint16(0))
	f.Add([]byte("\r\n\r\n\n\xEF\xBB\xBFdata"), uint16(2))
	f.Add([]byte(whole("-1", "null")+added("0", "[]")), uint16(1))
	f.Fuzz(func(t *testing.T, body []byte, split uint16) {
		at := min(int(split), len(body))
		items, err := read200(bytes.NewReader(body))
		again, errAgain := read200(io.MultiReader(bytes.NewReader(body[:at]), iotest.OneByteReader(bytes.NewReader(body[at:]))))
		require.Equal(t, items, again)
		require.Equal(t, err, errAgain)
	})
}

func BenchmarkStream(b *testing.B) {
	s := strings.Repeat(says("some words "), 1000) + done
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		d := newDecoder("", wire.NewIDs(nil), func(llm.Item) error { return nil })
		if err := d.decode(b.Context(), "text/event-stream", strings.NewReader(s)); err != nil {
			b.Fatal(err)
		}
	}
}
