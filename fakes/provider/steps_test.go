package provider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/provider"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

func TestEveryStepIsSentAndRecorded(t *testing.T) {
	inBubble(t, func(w *world) {
		w.speakPlain()
		w.open(Program{Steps: []Step{
			Role{}, Refusal{Chunks: []string{"I ", "cannot"}, Every: time.Second}, Flood{Frames: 2, Bytes: 3, Every: time.Second},
			ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Null(), Args: Is("{")}, {Name: Is("")}}},
			Message{}, Ping{}, Open{Gate: "g"}, Done{},
		}})
		_, body, err := w.askPlain(events, true)
		require.NoError(t, err)
		require.Equal(t, []string{
			"#1 request POST /events model=m stream=true attempt=0", "#1 headers 200", "#1 role",
			"#1 refusal I ", "#1 refusal cannot", "#1 flood frame 1 of 2, 3 bytes", "#1 flood frame 2 of 2, 3 bytes",
			"#1 tool-chunk index=0 id=null args={; name=", "#1 message", "#1 ping", "#1 open g", "#1 done", "#1 end",
		}, w.events())
		require.Equal(t, seconds(0, 1), w.at("refusal"))
		require.Equal(t, seconds(1, 2), w.at("flood"))
		require.Equal(t, 2, strings.Count(body, `event: text`+"\n"), "a flood is text on the wire")
		require.Contains(t, body, `"n":8`)
		select {
		case <-w.gates.Opened("g"):
		default:
			t.Error("the gate is closed")
		}
	})
}

func TestAnswerInOnePieceHoldsWhatWasSaid(t *testing.T) {
	inBubble(t, func(w *world) {
		w.speakPlain()
		w.open(Program{Steps: []Step{
			Refusal{Chunks: []string{"no"}}, Flood{Frames: 3, Bytes: 4, Every: time.Second}, ToolChunk{Parts: []ToolPart{{}}}, Ping{}, Message{},
			Repeat{Times: 2, Steps: []Step{Text{Chunks: []string{"a"}}, Pause{For: time.Second}}}, Done{},
		}})
		_, body, err := w.askPlain(events, false)
		require.NoError(t, err)
		require.JSONEq(t, `{"said":["refusal","text floofloofloo","tool-chunk","message","text a","text a"]}`, body)
		require.Equal(t, seconds(4), w.at("done"))
		require.Len(t, w.at("flood"), 3)
	})
}

func TestLongFloodIsRecordedInPart(t *testing.T) {
	inBubble(t, func(w *world) {
		w.speakPlain()
		const frames = 5000
		w.open(Program{Steps: []Step{Flood{Frames: frames, Bytes: 10}}})
		_, body, err := w.askPlain(events, true)
		require.NoError(t, err)
		require.Equal(t, frames, strings.Count(body, "event: text\n"))
		require.Less(t, len(w.at("flood")), 1002)
		require.Contains(t, w.events(), "#1 flood frame 5000 of 5000, 10 bytes")
		require.Contains(t, w.await("end").Detail, "frames=5000")
	})
}

func TestJitterReplays(t *testing.T) {
	const limit = 100 * time.Millisecond
	program := Program{Times: Any, Steps: []Step{
		Text{Chunks: []string{"a", "b", "c"}, Every: time.Second, Jitter: limit},
		Pause{For: time.Second, Jitter: limit}, Think{Chunks: []string{"d"}},
		Repeat{Times: 2, Steps: []Step{Pause{Jitter: limit}, Comment{Text: "e"}}}, Done{},
	}}
	// gaps asks twice and lists when frames came, for each request.
	gaps := func(seed uint64) (list [2][]time.Duration, recorded string) {
		inBubble(t, func(w *world) {
			require.NoError(t, w.p.Open("case", &provider.Session{Script: Script{program}, Timeline: w.tl, Seed: seed}))
			for i := range list {
				began := w.tl.Now()
				_, _, err := w.ask([]string{streaming, streaming}[i])
				require.NoError(t, err)
				w.settle()
				for _, e := range w.tl.Events() {
					if e.Ref == fmt.Sprintf("#%d", i+1) && (e.Kind == "text" || e.Kind == "think" || e.Kind == "comment") {
						list[i] = append(list[i], e.At-began)
					}
				}
			}
			require.Len(t, w.at("seed"), 1)
			recorded = w.await("seed").Detail
		})
		return list, recorded
	}
	first, seed := gaps(7)
	require.Equal(t, "7", seed)
	require.NotEqual(t, first[0], first[1], "each request draws for itself")
	require.Len(t, first[0], 6)
	for i, whole := range []time.Duration{0, 1, 2, 3, 3, 3} {
		require.GreaterOrEqual(t, first[0][i], whole*time.Second)
		require.LessOrEqual(t, first[0][i], whole*time.Second+5*limit)
	}
	again, _ := gaps(7)
	require.Equal(t, first, again)
	other, _ := gaps(8)
	require.NotEqual(t, first, other)

	random, chosen := gaps(0)
	n, err := strconv.ParseUint(chosen, 10, 64)
	require.NoError(t, err)
	require.NotZero(t, n)
	again, _ = gaps(n)
	require.Equal(t, random, again, "the recorded seed replays")
}

func TestRepeatsNest(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Program{Steps: []Step{
			Repeat{Times: 2, Steps: []Step{
				Text{Chunks: []string{"a"}},
				Repeat{Times: 3, Steps: []Step{Pause{For: time.Second}, Think{Chunks: []string{"b"}}}},
				fault.Stall{For: 10 * time.Second},
			}}, Done{},
		}})
		_, _, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, seconds(0, 13), w.at("text"))
		require.Equal(t, seconds(1, 2, 3, 14, 15, 16), w.at("think"))
		require.Equal(t, seconds(3, 16), w.at("stall"))
		require.Equal(t, seconds(26), w.at("done"))
	})
}

func TestRepeatWithoutEnd(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		want  string // kind of the event that shows it goes on, or does not
		times int
	}{
		{"lasts until the peer leaves", []Step{Text{Chunks: []string{"a"}}, Pause{For: time.Second}}, "text", 10},
		{"one that takes no time waits", []Step{Text{Chunks: []string{"a"}}, Await{Gate: "open"}}, "violation", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.gates.Open("open")
				w.open(Program{Steps: []Step{Repeat{Steps: test.steps}}})
				ctx, cancel := context.WithTimeout(context.Background(), 9500*time.Millisecond)
				defer cancel()
				resp, err := w.post(ctx, streaming)
				require.NoError(t, err)
				_, err = io.ReadAll(resp.Body)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				resp.Body.Close()
				require.Equal(t, 9500*time.Millisecond, w.await("left").At)
				require.Len(t, w.at(test.want), test.times)
			})
		})
	}
}

func TestStreamsMeet(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Program{Times: Any, Steps: []Step{
			Headers{}, Repeat{Times: 2, Steps: []Step{Meet{Barrier: "b", Streams: 2}, Text{Chunks: []string{"a"}}}}, Done{},
		}})
		ctx, cancel := context.WithCancel(context.Background())
		gone, err := w.post(ctx, streaming) // it comes and leaves
		require.NoError(t, err)
		w.await("meet")
		cancel()
		gone.Body.Close()
		w.await("left")

		first, err := w.post(context.Background(), streaming)
		require.NoError(t, err)
		defer first.Body.Close()
		<-time.After(5 * time.Second)
		require.Empty(t, w.at("text"), "who has left does not count")
		_, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, 2, strings.Count(body, `"content":"a"`))
		_, err = io.ReadAll(first.Body)
		require.NoError(t, err)
		require.Equal(t, seconds(5, 5, 5, 5), w.at("text"), "the barrier is there anew")
	})
}

func TestOpenLetsAnotherStreamGoOn(t *testing.T) {
	inBubble(t, func(w *world) {
		waits := Program{When: When{Ordinal: 1}, Steps: []Step{Headers{}, Await{Gate: "g"}, Text{Chunks: []string{"on"}}, Done{}}}
		opens := Program{Steps: []Step{Pause{For: 3 * time.Second}, Open{Gate: "g"}, Done{}}}
		require.NoError(t, w.p.Open("case", &provider.Session{Script: Script{waits, opens}, Timeline: w.tl})) // without gates
		first, err := w.post(context.Background(), streaming)
		require.NoError(t, err)
		defer first.Body.Close()
		_, _, err = w.ask(streaming)
		require.NoError(t, err)
		_, err = io.ReadAll(first.Body)
		require.NoError(t, err)
		require.Equal(t, seconds(3), w.at("text"))
	})
}

func TestKeepaliveForms(t *testing.T) {
	tests := []struct {
		name string
		d    plain
		form Form
		want string // one of them
	}{
		{"a comment", events, CommentForm, ": ping\n\n"},
		{"the dialect's ping", events, PingForm, "event: ping\ndata: {\"n\":1,\"text\":\"\"}\n\n"},
		{"an empty delta", events, EmptyForm, "event: empty\n"},
		{"an empty data line", events, EmptyDataForm, "data:\n\n"},
		{"the role again", events, RoleForm, "event: role\n"},
		{"a ping of lines", ndjson, PingForm, "{\"n\":1,\"text\":\"\"}\n"},
		{"a comment, where there is none", ndjson, CommentForm, ""},
		{"an empty data line, where there is none", ndjson, EmptyDataForm, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.speakPlain()
				w.open(Program{Steps: []Step{
					Keepalive{Form: test.form, Every: 5 * time.Second, For: 10 * time.Second}, Pause{For: 12 * time.Second}, Text{Chunks: []string{"a"}},
					fault.Stall{For: time.Minute}, Done{},
				}})
				_, body, err := w.askPlain(test.d, true)
				require.NoError(t, err)
				if test.want == "" {
					require.Empty(t, w.at("keepalive"))
					return
				}
				require.Equal(t, seconds(5, 10), w.at("keepalive"))
				require.True(t, strings.HasPrefix(body, test.want), body)
			})
		})
	}
}

func TestKeepaliveShorterThanItsInterval(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Program{Steps: []Step{Keepalive{Form: CommentForm, Every: 5 * time.Second, For: time.Second}, Pause{For: time.Minute}, Done{}}})
		_, _, err := w.ask(streaming)
		require.NoError(t, err)
		require.Empty(t, w.at("keepalive"))
	})
}

func TestGzip(t *testing.T) {
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprintf("stream %t", stream), func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.speakPlain()
				w.open(Program{Steps: []Step{
					Headers{Gzip: true}, Keepalive{Form: CommentForm, Every: 700 * time.Millisecond},
					Text{Chunks: []string{"a", "b"}, Every: time.Second}, fault.Drip{Bytes: 30, Every: time.Second},
					Text{Chunks: []string{"c"}}, Done{},
				}})
				resp, err := w.postPlain(context.Background(), events, stream)
				require.NoError(t, err)
				defer resp.Body.Close()
				require.True(t, resp.Uncompressed)
				if stream {
					b := make([]byte, 1000)
					n, err := resp.Body.Read(b)
					require.NoError(t, err)
					require.Contains(t, string(b[:n]), `"text":"a"`)
					require.Zero(t, w.tl.Now(), "a frame is readable when it has left")
				}
				b, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				if stream {
					require.NotEmpty(t, w.at("keepalive"))
					require.Equal(t, len(w.at("keepalive")), strings.Count(string(b), ": ping"))
					require.Contains(t, string(b), `"text":"c"`)
					require.True(t, strings.HasSuffix(string(b), "data: [DONE]\n\n"))
				} else {
					require.JSONEq(t, `{"said":["text ab","text c"]}`, string(b))
				}
			})
		})
	}
}

func TestProgramIsChosenByEverythingElse(t *testing.T) {
	yes, no := true, false
	named := func(name string, when When) Program {
		p := Answer(name)
		p.When = when
		return p
	}
	inBubble(t, func(w *world) {
		w.speakPlain()
		w.open(
			named("fourth", When{Ordinal: 4}),
			named("lines", When{Dialect: "lines"}),
			named("whole", When{Stream: &no}),
			named("header", When{Header: map[string]string{"x-side": "tit"}}),
			named("stream", When{Stream: &yes, Dialect: "events"}),
			named("openai", When{}),
			named("none left", When{Ordinal: 100, Dialect: "lines", Stream: &yes, Header: map[string]string{"Authorization": "secret"}}),
		)
		ask := func(d plain, stream bool, want string) {
			t.Helper()
			_, body, err := w.askPlain(d, stream)
			require.NoError(t, err)
			require.Contains(t, body, want)
		}
		ask(events, true, "stream")
		ask(ndjson, true, "lines")
		ask(events, false, "whole")
		ask(events, true, "fourth")
		r, err := http.NewRequest("POST", w.url, strings.NewReader(streaming))
		require.NoError(t, err)
		r.Header.Set("X-Side", "a title")
		resp, err := w.client.Do(r)
		require.NoError(t, err)
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Contains(t, string(b), "header")
		_, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Contains(t, body, "chat.completion.chunk", "dialects share the port")
		_, body, err = w.ask(streaming)
		require.NoError(t, err)
		require.Contains(t, body, `program 7 (request 100, dialect \"lines\", stream true, header \"Authorization\")`)
		require.NotContains(t, body, "secret")
	})
}

func TestStrictSessionRefuses(t *testing.T) {
	inBubble(t, func(w *world) {
		w.speakPlain()
		s := &provider.Session{Script: Script{Answer("good"), Answer("openai")}, Timeline: w.tl, Strict: true}
		require.NoError(t, w.p.Open("case", s))
		resp, body, err := w.askPlain(events, true, "bad")
		require.NoError(t, err)
		require.Equal(t, 422, resp.StatusCode)
		require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
		require.JSONEq(t, `{"type":"error","error":{"code":422,"message":"this is \"bad\""}}`, body)
		_, body, err = w.askPlain(events, true)
		require.NoError(t, err)
		require.Contains(t, body, "good")
		require.Equal(t, `422 this is "bad"`, w.await("refused").Detail)
		require.Empty(t, w.at("violation"))
		_, body, err = w.ask(streaming) // its dialect has no opinion
		require.NoError(t, err)
		require.Contains(t, body, "openai")
		require.Empty(t, w.p.Release("case"), "the refused request took no program")
	})
}

func TestWhatWasSentIsCounted(t *testing.T) {
	inBubble(t, func(w *world) {
		w.speakPlain()
		w.open(
			Program{Steps: []Step{
				Text{Chunks: []string{"a"}}, Pause{For: 2 * time.Second}, Role{}, Pause{For: 3 * time.Second}, Comment{Text: "c"}, fault.Stall{},
			}},
			Program{Steps: []Step{Headers{}, Pause{For: time.Second}, End{}}},
			Program{Steps: []Step{fault.Stall{}}},
		)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		resp, err := w.postPlain(ctx, events, true)
		require.NoError(t, err)
		_, body, err := w.askPlain(events, true) // meanwhile
		require.NoError(t, err)
		require.Empty(t, body)
		io.ReadAll(resp.Body)
		resp.Body.Close()
		left := w.await("left")
		_, counts, _ := strings.Cut(left.Detail, " ")
		require.Regexp(t, `^bytes=\d+ frames=3 byte=5.000s event=8.000s progress=10.000s$`, counts)
		require.Regexp(t, `^bytes=\d+ frames=0 byte=0.000s event=never progress=never$`, w.await("end").Detail)
		var requests []timeline.Event
		for _, e := range w.tl.Events() {
			if e.Kind == "request" {
				requests = append(requests, e)
			}
		}
		require.Contains(t, requests[0].Detail, " open=1")
		require.Contains(t, requests[1].Detail, " open=2")

		c, err := w.dial(context.Background(), "tcp", w.addr)
		require.NoError(t, err)
		const asks = `{"stream":true,"prompt":"[[sw:case]]"}`
		fmt.Fprintf(c, "POST /events HTTP/1.1\r\nHost: m\r\nContent-Length: %d\r\n\r\n%s stray", len(asks), asks)
		w.await("stall")
		w.settle()
		require.Empty(t, w.p.Release("case"))
		require.Equal(t, "bytes=0 frames=0 byte=never event=never progress=never unread=6", w.await("closed").Detail)
		c.Close()
	})
}
