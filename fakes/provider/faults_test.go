package provider_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	. "github.com/stallwright/stallwright/fakes/script"
)

func TestShapedFramesAreRecorded(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Program{Steps: []Step{
			Headers{}, fault.Split{At: []int{5}}, Text{Chunks: []string{"a", "b"}}, fault.Split{}, Text{Chunks: []string{"c"}},
			fault.Drip{Bytes: 100, Every: time.Second}, Text{Chunks: []string{"d"}}, Done{},
		}})
		_, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, []string{
			"#1 " + asked, "#1 headers 200", "#1 split", "#1 text a", "#1 text b", "#1 text c", "#1 drip", "#1 text d", "#1 done", "#1 end",
		}, w.events())
		require.Equal(t, seconds(0, 0, 0, 2), w.at("text"))
		require.Equal(t, seconds(3), w.at("done"), "a drip keeps its pace over frames")
		require.Equal(t, 5, strings.Count(body, "data: "))
	})
}

func TestGarbleBreaksTheNextJSON(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Program{Steps: []Step{fault.Garble{}, Comment{Text: "not JSON"}, Text{Chunks: []string{"a", "b"}}, Done{}}})
		_, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, []string{
			"#1 " + asked, "#1 headers 200", "#1 comment not JSON", "#1 garble text", "#1 text b", "#1 done", "#1 end",
		}, w.events())
		events := strings.Split(body, "\n\n")
		require.False(t, json.Valid([]byte(strings.TrimPrefix(events[1], "data: "))), events[1])
		require.True(t, json.Valid([]byte(strings.TrimPrefix(events[2], "data: "))), events[2])
	})
}

func TestStatusInPlaceOfAnAnswer(t *testing.T) {
	for _, body := range []string{streaming, whole} {
		inBubble(t, func(w *world) {
			w.open(
				Program{Steps: []Step{Pause{For: time.Second}, fault.Status{Code: 429}}},
				Program{Steps: []Step{fault.Status{Code: 502, ContentType: "text/html", Body: "<html>"}}},
			)
			resp, got, err := w.ask(body)
			require.NoError(t, err)
			require.Equal(t, 429, resp.StatusCode)
			require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
			require.Contains(t, got, `"code":"rate_limit_exceeded"`)
			require.Equal(t, seconds(1), w.at("status"))
			resp, got, err = w.ask(body)
			require.NoError(t, err)
			require.Equal(t, 502, resp.StatusCode)
			require.Equal(t, "text/html", resp.Header.Get("Content-Type"))
			require.Equal(t, "<html>", got)
		})
	}
}

func TestHeadersAreAsTheScriptSays(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(
			Program{Steps: []Step{Headers{Status: 503, Header: map[string]string{"Retry-After": "7", "Content-Type": "text/html"}}, Raw{Bytes: "<html>"}, End{}}},
			Program{Steps: []Step{Headers{Header: map[string]string{"Content-Length": "100"}}, Raw{Bytes: "short"}, End{}}},
			Answer("next"),
		)
		resp, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, 503, resp.StatusCode)
		require.Equal(t, "7", resp.Header.Get("Retry-After"))
		require.Equal(t, "text/html", resp.Header.Get("Content-Type"))
		require.Equal(t, "<html>", body)
		_, body, err = w.ask(streaming)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, "short", body)
		_, _, err = w.ask(streaming)
		require.NoError(t, err)
	})
}

// keeping is an answer in one piece that is kept alive by blank lines.
const keeping = "\n\n\n"

func TestBlankLinesBeforeAnAnswerInOnePiece(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		head  string // what the head says of the body's length
		body  string // what it begins with
		want  []string
	}{
		{"behind a silence", []Step{Keepalive{Form: BlankForm, Every: time.Second}, fault.Stall{For: 3500 * time.Millisecond}, Text{Chunks: []string{"one"}}, Done{}, Pause{For: time.Minute}, End{Close: true}},
			"Transfer-Encoding: chunked\r\n", keeping + `{"id":`,
			[]string{"#1 stall 3.5s", "#1 headers 200", "#1 keepalive blank", "#1 keepalive blank", "#1 keepalive blank", "#1 text one", "#1 done", "#1 end"}},
		{"between what is said", []Step{Keepalive{Form: BlankForm, Every: 2 * time.Second}, Text{Chunks: []string{"one", "two", "three"}, Every: 3500 * time.Millisecond}, End{Close: true}},
			"Transfer-Encoding: chunked\r\n", keeping + `{"id":`,
			[]string{"#1 headers 200", "#1 keepalive blank", "#1 keepalive blank", "#1 keepalive blank", "#1 text one", "#1 text two", "#1 text three", "#1 end"}},
		{"of which half is left by a cut", []Step{Keepalive{Form: BlankForm, Every: time.Second}, Text{Chunks: []string{"one"}}, Pause{For: 3500 * time.Millisecond}, fault.Cut{}},
			"Transfer-Encoding: chunked\r\n", keeping + `{"id":`, []string{"#1 headers 200", "#1 keepalive blank", "#1 keepalive blank", "#1 keepalive blank", "#1 cut"}},
		{"are left out by a dialect without a ping", []Step{Keepalive{Form: PingForm, Every: time.Second}, Ping{}, fault.Stall{For: 3500 * time.Millisecond}, Text{Chunks: []string{"one"}}, Done{}, End{Close: true}},
			"Content-Length: ", `{"id":`, []string{"#1 stall 3.5s", "#1 headers 200", "#1 text one", "#1 done", "#1 end"}},
		{"are what forms of a stream are not", []Step{Keepalive{Form: EmptyForm, Every: time.Second}, Comment{Text: "x"}, fault.Stall{For: 3500 * time.Millisecond}, Text{Chunks: []string{"one"}}, Done{}, End{Close: true}},
			"Content-Length: ", `{"id":`, []string{"#1 violation keepalive empty does nothing on openai: before an answer in one piece only blanks can stand: use blank", "#1 stall 3.5s", "#1 headers 200", "#1 text one", "#1 done", "#1 end"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.open(Program{Steps: test.steps})
				raw, err := w.raw(whole)
				require.NoError(t, err)
				require.Contains(t, raw, test.head)
				body := ""
				if strings.Contains(raw, "chunked") {
					body = strings.Join(chunks(t, raw+"0\r\n"), "") // a cut has no last one
				} else {
					_, body, _ = strings.Cut(raw, "\r\n\r\n")
				}
				require.True(t, strings.HasPrefix(body, test.body), body)
				require.Equal(t, append([]string{"#1 " + askedWhole}, test.want...), w.events())
			})
		})
	}
}

func TestPingOfADialectBeforeAnAnswerInOnePiece(t *testing.T) {
	inBubble(t, func(w *world) {
		w.p.Dialects[0] = openai.Dialect{Flavour: openai.DeepSeek}
		w.open(Program{Steps: []Step{Headers{Gzip: true}, Ping{}, Pause{For: time.Second}, Keepalive{Form: PingForm, Every: time.Second}, Pause{For: 2500 * time.Millisecond}, Text{Chunks: []string{"one"}}, Done{}, End{}}})
		_, body, err := w.ask(whole)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(body, keeping+"{"), body)
		require.True(t, json.Valid([]byte(body)))
		require.Equal(t, seconds(0), w.at("ping"))
		require.Equal(t, seconds(2, 3), w.at("keepalive"))
		e := w.await("end")
		require.Contains(t, e.Detail, "frames=4")
	})
}

func TestStatusKeepsTheDialectsOwnType(t *testing.T) {
	tests := []struct {
		name string
		d    provider.Dialect
		code int
		want string
	}{
		{"JSON", openai.Dialect{}, 400, "application/json"},
		{"DeepSeek's of a bad request", openai.Dialect{Flavour: openai.DeepSeek}, 400, "application/octet-stream"},
		{"DeepSeek's of another", openai.Dialect{Flavour: openai.DeepSeek}, 402, "application/json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.p.Dialects[0] = test.d
				w.open(
					Program{Steps: []Step{fault.Status{Code: test.code}}},
					Program{Steps: []Step{fault.Status{Code: test.code, ContentType: "text/html"}}},
					Program{Steps: []Step{fault.Status{Code: test.code, Header: map[string]string{"Content-Type": "text/plain"}}}},
				)
				for _, want := range []string{test.want, "text/html", "text/plain"} {
					resp, _, err := w.ask(streaming)
					require.NoError(t, err)
					require.Equal(t, want, resp.Header.Get("Content-Type"))
				}
			})
		})
	}
}

const askedWhole = "request POST /v1/chat/completions model=gpt-x stream=false attempt=0"

func TestAnswerInOnePieceTakesItsTime(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Program{Steps: []Step{
			Role{}, Keepalive{Form: CommentForm, Every: time.Second}, Text{Chunks: []string{"one ", "two"}, Every: 3 * time.Second},
			Pause{For: time.Second}, Await{Gate: "go"}, fault.Stall{For: time.Second},
			Finish{Reason: "stop"}, Usage{Prompt: 1, Completion: 2}, Done{}, Pause{For: time.Second}, End{},
		}})
		time.AfterFunc(10*time.Second, func() { w.gates.Open("go") })
		resp, body, err := w.ask(whole)
		require.NoError(t, err)
		require.Equal(t, 11*time.Second, w.tl.Now())
		require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
		require.Equal(t, int64(len(body)), resp.ContentLength)
		require.Contains(t, body, `"content":"one two"`)
		w.await("end")
		require.Equal(t, []string{
			"#1 " + askedWhole, "#1 violation keepalive comment does nothing on openai: before an answer in one piece only blanks can stand: use blank", "#1 await go", "#1 stall 1s",
			"#1 headers 200", "#1 text one ", "#1 text two", "#1 finish stop", "#1 usage 1 2", "#1 done", "#1 end",
		}, w.events())
		require.Equal(t, seconds(11, 11), w.at("text"))
		require.Equal(t, seconds(12), w.at("end"))
		// The next request came in the pause before the end, had it come: the connection is fit for it.
		w.p.Release("case")
		w.open(Answer("again"))
		_, body, err = w.ask(whole)
		require.NoError(t, err)
		require.Contains(t, body, "again")
	})
}

func TestNextRequestBeforeTheEndOfTheProgram(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Program{Steps: []Step{Text{Chunks: []string{"one"}}, Done{}, Pause{For: time.Minute}, End{}}}, Answer("two"))
		w.client.Transport.(interface{ CloseIdleConnections() }).CloseIdleConnections()
		for _, want := range []string{"one", "two"} {
			_, body, err := w.ask(whole)
			require.NoError(t, err)
			require.Contains(t, body, want)
		}
		require.Equal(t, time.Minute, w.tl.Now(), "the connection was busy until then")
	})
}

func TestFaultsOfAnAnswerInOnePiece(t *testing.T) {
	said := Text{Chunks: []string{"one"}}
	tests := []struct {
		name   string
		steps  []Step
		err    bool // no answer at all
		cut    bool // the body ends early
		want   string
		events []string
	}{
		{"a cut before the head", []Step{said, fault.Cut{}}, true, false, "", []string{"#1 cut"}},
		{"a reset before the head", []Step{said, fault.Reset{}}, true, false, "", []string{"#1 reset"}},
		{"a cut after the head leaves half of the body", []Step{Headers{}, said, fault.Cut{}}, false, true, `{"id":`, []string{"#1 headers 200", "#1 cut"}},
		{"a reset after the head", []Step{Headers{}, said, Pause{For: time.Second}, fault.Reset{}}, false, true, "", []string{"#1 headers 200", "#1 reset"}},
		{"a garbled body", []Step{fault.Garble{}, said, Done{}}, false, false, `"finish_reason":null}]`, []string{"#1 headers 200", "#1 garble body", "#1 done", "#1 end"}},
		{"raw bytes in place of the body", []Step{Raw{Bytes: "<html>"}, Raw{Bytes: "</html>"}}, false, false, "<html></html>",
			[]string{"#1 headers 200", "#1 raw <html>", "#1 raw </html>", "#1 end"}},
		{"an error with status 200", []Step{Error{Type: "t", Message: "m"}}, false, false, `{"error":{"message":"m","type":"t","param":null,"code":null}}`,
			[]string{"#1 headers 200", "#1 error t  m", "#1 end"}},
		{"an error status from headers", []Step{Headers{Status: 500}, Done{}}, false, false, `"type":"server_error"`, []string{"#1 headers 500", "#1 done", "#1 end"}},
		{"a dripped body", []Step{fault.Drip{Bytes: 200, Every: time.Second}, said, End{}}, false, false, `"content":"one"`,
			[]string{"#1 drip", "#1 headers 200", "#1 text one", "#1 end"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.open(Program{Steps: test.steps})
				_, body, err := w.ask(whole)
				switch {
				case test.err:
					require.Error(t, err)
				case test.cut:
					require.Error(t, err)
					require.Contains(t, body, test.want)
					require.False(t, json.Valid([]byte(body)))
				default:
					require.NoError(t, err)
					require.Contains(t, body, test.want)
				}
				kind := strings.Fields(test.events[len(test.events)-1])[1]
				w.await(kind)
				require.Equal(t, append([]string{"#1 " + askedWhole}, test.events...), w.events())
			})
		})
	}
}
