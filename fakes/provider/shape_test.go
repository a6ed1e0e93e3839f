package provider_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	. "github.com/stallwright/stallwright/fakes/script"
)

func TestLines(t *testing.T) {
	text := Text{Chunks: []string{"a,\\\" b"}} // a comma, a backslash and a quote inside the string
	const frame = "event: text\ndata: {\"n\":1,\"text\":\"a,\\\\\\\" b\"}\n\n"
	tests := []struct {
		name  string
		d     plain
		lines fault.Lines
		step  Step
		want  string
	}{
		{"crlf", events, fault.Lines{End: "crlf"}, text, strings.ReplaceAll(frame, "\n", "\r\n")},
		{"cr", events, fault.Lines{End: "cr"}, text, strings.ReplaceAll(frame, "\n", "\r")},
		{"a byte order mark", events, fault.Lines{BOM: true}, text, "\ufeff" + frame},
		{"no space", events, fault.Lines{NoSpace: true}, text, strings.ReplaceAll(frame, ": ", ":")},
		{"several data lines", events, fault.Lines{Several: true}, text, strings.Replace(frame, "1,", "1,\ndata: ", 1)},
		{"all of it", events, fault.Lines{End: "crlf", BOM: true, NoSpace: true, Several: true}, text,
			"\ufeffevent:text\r\ndata:{\"n\":1,\r\ndata:\"text\":\"a,\\\\\\\" b\"}\r\n\r\n"},
		{"a comment", events, fault.Lines{End: "cr", NoSpace: true}, Comment{Text: "c d"}, ":c d\r\r"},
		{"raw bytes stay", events, fault.Lines{End: "cr", BOM: true, NoSpace: true}, Raw{Bytes: "data: a\n\n"}, "\ufeffdata: a\n\n"},
		{"lines of JSON end so", ndjson, fault.Lines{End: "crlf", BOM: true, NoSpace: true, Several: true}, text, "{\"n\":1,\"text\":\"a,\\\\\\\" b\"}\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.speakPlain()
				w.open(Program{Steps: []Step{test.lines, test.step, End{}}})
				_, body, err := w.askPlain(test.d, true)
				require.NoError(t, err)
				require.Equal(t, test.want, body)
				require.Len(t, w.at("lines"), 1)
			})
		})
	}
}

func TestLinesWhereTheyChangeNothing(t *testing.T) {
	binary := plain{"binary", "application/vnd.amazon.eventstream"}
	tests := []struct {
		name   string
		d      plain
		stream bool
		steps  []Step
	}{
		{"in messages with lengths", binary, true, []Step{fault.Lines{End: "cr"}, Text{Chunks: []string{"a"}}}},
		{"in one piece", events, false, []Step{fault.Lines{End: "cr"}, Text{Chunks: []string{"a"}}}},
		{"a byte order mark behind a frame", events, true, []Step{Ping{}, fault.Lines{BOM: true}, Text{Chunks: []string{"a"}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.speakPlain()
				w.p.Dialects = append(w.p.Dialects, binary)
				w.open(Program{Steps: append(test.steps, End{})})
				_, body, err := w.askPlain(test.d, test.stream)
				require.NoError(t, err)
				require.NotContains(t, body, "\r")
				require.Empty(t, w.at("lines"), "it never struck")
			})
		})
	}
}

func TestGarbles(t *testing.T) {
	const frame = "event: text\ndata: {\"n\":2,\"text\":\"say \\\"a\\\"\"}\n\n"
	tests := []struct {
		name, how string
		d         plain
		want      string
	}{
		{"by default", "", events, strings.Replace(frame, "}", "", 1)},
		{"brace", "brace", events, strings.Replace(frame, "}", "", 1)},
		{"plain", "plain", events, "event: text\ndata: Internal Server Error\n\n"},
		{"doubled", "doubled", events, strings.Replace(frame, "data: ", "data: data: ", 1)},
		{"no blank line", "no-blank", events, strings.TrimSuffix(frame, "\n")},
		{"no event name", "no-event", events, strings.TrimPrefix(frame, "event: text\n")},
		{"no data", "no-data", events, "event: text\ndata:\n\n"},
		{"no UTF-8", "utf-8", events, strings.Replace(frame, "say", "\xffsay", 1)},
		{"plain, of a line", "plain", ndjson, "Internal Server Error\n"},
		{"no UTF-8, of a line", "utf-8", ndjson, "{\"n\":2,\"text\":\"\xffsay \\\"a\\\"\"}\n"},
	}
	require.Equal(t, len(fault.Garbles())+1, len(tests), "those of checksums have a test with their dialect")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.speakPlain()
				w.open(Program{Steps: []Step{
					Role{}, fault.Garble{How: test.how}, Comment{Text: "cannot be broken"}, Text{Chunks: []string{`say "a"`, "b"}}, End{},
				}})
				_, body, err := w.askPlain(test.d, true)
				require.NoError(t, err)
				require.Contains(t, body, test.want)
				require.Contains(t, body, `"text":"b"}`)
				require.Contains(t, w.events(), strings.TrimSpace("#1 garble text "+test.how))
				require.Len(t, w.at("garble"), 1)
			})
		})
	}
}

func TestGarblesOfAnAnswerInOnePiece(t *testing.T) {
	for how, want := range map[string]string{
		"plain": "Internal Server Error", "utf-8": "{\"said\":[\"text \xffa\"]}", "no-event": `{"said":["text a"]}`,
	} {
		inBubble(t, func(w *world) {
			w.speakPlain()
			w.open(Program{Steps: []Step{fault.Garble{How: how}, Text{Chunks: []string{"a"}}, Done{}}})
			_, body, err := w.askPlain(events, false)
			require.NoError(t, err)
			require.Equal(t, want, body)
			require.Len(t, w.at("garble"), map[bool]int{true: 0, false: 1}[how == "no-event"])
		})
	}
}

// chunks are the chunks of a body of HTTP/1.1 as they stand on the wire.
func chunks(t *testing.T, raw string) []string {
	t.Helper()
	_, body, found := strings.Cut(raw, "\r\n\r\n")
	require.True(t, found)
	var list []string
	for {
		var size int
		line, rest, _ := strings.Cut(body, "\r\n")
		_, err := fmt.Sscanf(line, "%x", &size)
		require.NoError(t, err)
		if size == 0 {
			return list
		}
		list, body = append(list, rest[:size]), rest[size+2:]
	}
}

func TestBatchPutsFramesIntoOneWrite(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		want  []string // the texts of each write
		batch string   // the event's detail
	}{
		{"so many, and the rest at the end", []Step{fault.Batch{Frames: 3}, Text{Chunks: []string{"a", "b", "c", "d", "e"}}}, []string{"abc", "de"}, "3 frames"},
		{"over steps", []Step{fault.Batch{Frames: 2}, Text{Chunks: []string{"a"}}, Think{Chunks: []string{"b"}}, Text{Chunks: []string{"c"}}}, []string{"ab", "c"}, "2 frames"},
		{"not over a pause", []Step{fault.Batch{Frames: 2}, Text{Chunks: []string{"a", "b", "c"}}, Pause{For: time.Second}, Text{Chunks: []string{"d"}}}, []string{"ab", "c", "d"}, "2 frames"},
		{"not at a pace", []Step{fault.Batch{Frames: 2}, Text{Chunks: []string{"a", "b"}, Every: time.Second}}, []string{"a", "b"}, ""},
		{"not over a fault", []Step{fault.Batch{Frames: 5}, Text{Chunks: []string{"a", "b"}}, fault.Stall{For: time.Second}, Text{Chunks: []string{"c"}}}, []string{"ab", "c"}, "2 frames"},
		{"less when a stall for ever comes", []Step{fault.Batch{Frames: 5}, Text{Chunks: []string{"a", "b"}}, Open{Gate: "g"}, Text{Chunks: []string{"c"}}}, []string{"ab", "c"}, "2 frames"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.speakPlain()
				w.open(Program{Steps: append(test.steps, End{Close: true})})
				c, err := w.dial(context.Background(), "tcp", w.addr)
				require.NoError(t, err)
				defer c.Close()
				const asks = `{"stream":true,"prompt":"[[sw:case]]"}`
				fmt.Fprintf(c, "POST /lines HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s", len(asks), asks)
				raw, err := io.ReadAll(c)
				require.NoError(t, err)
				var got []string
				for _, chunk := range chunks(t, string(raw)) {
					texts := ""
					for line := range strings.Lines(chunk) {
						_, text, _ := strings.Cut(line, `"text":"`)
						texts += strings.TrimSuffix(text, "\"}\n")
					}
					got = append(got, texts)
				}
				require.Equal(t, test.want, got)
				detail := ""
				for _, e := range w.tl.Events() {
					if e.Kind == "batch" {
						detail += e.Detail
					}
				}
				require.Equal(t, test.batch, detail)
			})
		})
	}
}

func TestBatchedFramesAreRecordedWhenTheyLeave(t *testing.T) {
	inBubble(t, func(w *world) {
		w.speakPlain()
		w.open(Program{Steps: []Step{
			fault.Batch{Frames: 3}, fault.Lines{End: "crlf"}, Text{Chunks: []string{"a", "b"}}, Keepalive{Form: CommentForm, Every: time.Second},
			Text{Chunks: []string{"c"}}, Pause{For: 1500 * time.Millisecond}, Text{Chunks: []string{"d"}}, Done{},
		}})
		_, body, err := w.askPlain(events, true)
		require.NoError(t, err)
		require.Equal(t, []string{"#1 headers 200", "#1 batch 2 frames", "#1 lines", "#1 text a", "#1 text b", "#1 text c", "#1 keepalive comment", "#1 text d", "#1 done", "#1 end"}, w.events()[1:])
		require.Contains(t, body, ": ping\r\n\r\n", "keepalives have the same lines")
	})
}

func TestStatusSaysWhatTheScriptSays(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(
			Program{Steps: []Step{fault.Status{Code: 503, Header: map[string]string{"Retry-After": "7"}, Blank: true}}},
			Program{Steps: []Step{fault.Status{Code: 500, Body: "five", Header: map[string]string{"Content-Length": "9"}}}},
			Answer("next"),
		)
		resp, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, 503, resp.StatusCode)
		require.Equal(t, "7", resp.Header.Get("Retry-After"))
		require.Empty(t, body)
		require.Zero(t, resp.ContentLength)
		_, body, err = w.ask(streaming)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, "five", body)
		_, body, err = w.ask(streaming)
		require.NoError(t, err)
		require.Contains(t, body, "next")
		require.Len(t, w.at("status"), 2)
	})
}

func TestFaultsOfHTTP2CannotStrikeOverHTTP1(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Program{Steps: []Step{fault.GoAway{}, Text{Chunks: []string{"a"}}, Pause{For: time.Second}, fault.StreamReset{}}})
		_, body, err := w.ask(streaming)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Contains(t, body, `"a"`)
		require.Equal(t, []string{
			"#1 " + asked, "#1 violation go-away needs HTTP/2: the request came by HTTP/1.1", "#1 headers 200", "#1 text a",
			"#1 violation stream-reset needs HTTP/2: the request came by HTTP/1.1", "#1 closed",
		}, w.events())
	})
}
