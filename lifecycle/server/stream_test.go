package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

// masked makes what differs from run to run the same.
func masked(body string) string {
	body = regexp.MustCompile(`chatcmpl-[0-9a-f]{32}`).ReplaceAllString(body, "ID")
	body = regexp.MustCompile(`cs_[0-9a-f]{32}`).ReplaceAllString(body, "SESSION")
	return regexp.MustCompile(`"created":\d+`).ReplaceAllString(body, `"created":0`)
}

const head = `data: {"id":"ID","object":"chat.completion.chunk","created":0,"model":"openai/gpt","choices":[{"index":0,"delta":`

func TestAStreamHasTheShapeOfTheContract(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := items(llm.Item{Kind: llm.Reasoning, Text: "hm"}, says("a<b"), says("c"), llm.Item{Kind: llm.Finished, Text: "length"},
			llm.Item{Kind: llm.UsageReported, Usage: llm.Usage{Prompt: 1, Completion: 2, Total: 3}})
		f := serve(t, answer, func(c *Config) {
			c.Settings.CustomEvents = true
			c.Settings.EmitReasoning = true
		})
		resp := f.ask(streaming)
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
		require.Equal(t, "no-cache", resp.Header.Get("Cache-Control"))
		require.Equal(t, "no", resp.Header.Get("X-Accel-Buffering"))
		want := `event: aura.session_info
data: {"model":"openai/gpt","session_id":"SESSION"}

event: aura.reasoning
data: {"content":"hm","agent_id":"main","agent_name":"helper","session_id":"SESSION"}

` + head + `{"role":"assistant","content":"a<b"}}]}

` + head + `{"content":"c"}}]}

event: aura.usage
data: {"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"session_id":"SESSION"}

` + head + `{},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}

data: [DONE]

`
		require.Equal(t, want, masked(text(t, resp)))
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}

func TestCustomEventsAreOffByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, items(llm.Item{Kind: llm.Reasoning, Text: "hm"}, llm.Item{Kind: llm.Finished, Text: "stop"}), nil)
		require.Equal(t, head+`{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n", masked(text(t, f.ask(streaming))))
		f.end()
	})
}

func TestHowAStreamEnds(t *testing.T) {
	failure := func(kind, code, message string) string {
		return head + `{},"finish_reason":"error"}],"error":{"message":"` + message + `","type":"` + kind + `","code":"` + code + `"}}` + "\n\ndata: [DONE]\n\n"
	}
	tests := []struct {
		name  string
		model model
		want  string // the tail of the body
		after time.Duration
	}{
		{"a silent model is given up at the first-chunk window", silent, failure("timeout_error", "first_chunk_timeout", "first chunk: no output from the model within 1m30s"), 90 * time.Second},
		{"a model that stalls after text is given up at the inactivity window", func(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
			_ = emit(says("so"))
			return silent(ctx, r, emit)
		}, failure("timeout_error", "stream_inactivity_timeout", "inactivity: no progress from the model for 40s"), 40 * time.Second},
		{"a model that never ends is given up at the stream window", func(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
			for ctx.Err() == nil {
				_ = late(7*time.Second)(ctx, r, emit)
			}
			return context.Cause(ctx)
		}, failure("timeout_error", "stream_timeout", "stream: the run did not end within 15m0s"), 15 * time.Minute},
		{"a provider's error is a terminal frame", func(context.Context, llm.Request, func(llm.Item) error) error {
			return &llm.Error{Code: llm.ProviderError, Status: 500, Message: "boom"}
		}, failure("provider_error", "provider_error", "boom"), 0},
		{"a truncated answer is no success", func(_ context.Context, _ llm.Request, emit func(llm.Item) error) error {
			_ = emit(says("half"))
			return &llm.Error{Code: llm.ProviderTruncated, Message: "cut"}
		}, failure("provider_error", "provider_truncated", "cut"), 0},
		{"a panic is an internal error", func(context.Context, llm.Request, func(llm.Item) error) error {
			panic("secret")
		}, failure("internal_error", "internal_error", "internal error"), 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := serve(t, test.model, func(c *Config) { c.Settings.Inactivity = 40 * time.Second })
				body := masked(text(t, f.ask(streaming)))
				require.Equal(t, test.after, f.elapsed())
				require.True(t, strings.HasSuffix(body, test.want), body)
				require.Equal(t, 1, strings.Count(body, "finish_reason"))
				require.Equal(t, Exit{Clean: true}, f.end())
				require.Equal(t, test.after, f.elapsed(), "idle exits at once")
				require.Equal(t, 1, strings.Count(f.log.String(), "run ended"))
			})
		})
	}
}

func TestHeartbeatsComeAtWholeIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, late(61*time.Second), nil)
		body := text(t, f.ask(streaming))
		require.Equal(t, 4, strings.Count(body, ": heartbeat\n\n"))
		require.True(t, strings.HasPrefix(body, ": heartbeat"))
		f.end()
	})
}

func TestHeartbeatSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		h := newHeartbeat(start, 10*time.Second)
		defer h.stop()
		<-h.due()
		require.Equal(t, 10*time.Second, time.Since(start))
		time.Sleep(25 * time.Second) // a write that blocks over the ticks at 20 and 30
		h.skipMissed(time.Now())
		h.skipMissed(time.Now())
		<-h.due()
		require.Equal(t, 40*time.Second, time.Since(start))
		off := newHeartbeat(start, 0)
		off.skipMissed(time.Now())
		require.Nil(t, off.due())
		off.stop()
	})
}

func TestADisconnectCancelsTheModelAndWritesNothing(t *testing.T) {
	for _, body := range []string{streaming, plain} {
		synctest.Test(t, func(t *testing.T) {
			cancelled := make(chan time.Duration, 1)
			var f *fixture
			f = serve(t, func(ctx context.Context, _ llm.Request, _ func(llm.Item) error) error {
				<-ctx.Done()
				cancelled <- f.elapsed()
				return context.Cause(ctx)
			}, nil)
			ctx, leave := context.WithTimeout(context.Background(), 4*time.Second)
			defer leave()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server.test/v1/chat/completions", strings.NewReader(body))
			require.NoError(t, err)
			if resp, err := f.client.Do(r); err == nil {
				_, err = io.ReadAll(resp.Body)
				require.Error(t, err)
			}
			require.Equal(t, 4*time.Second, <-cancelled)
			synctest.Wait()
			require.Contains(t, f.log.String(), "ending=disconnected")
			require.Empty(t, f.server.registry.Running())
			require.Equal(t, Exit{Clean: true}, f.end())
		})
	}
}

// flood says more than any buffer holds.
func flood(ctx context.Context, _ llm.Request, emit func(llm.Item) error) error {
	for i := range 10_000 {
		if err := emit(says(fmt.Sprint(i))); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

func TestAReaderThatStopsIsCutAfterTheStreamWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, flood, func(c *Config) { c.Settings.Inactivity = 20 * time.Second })
		conn, _ := f.raw()
		defer conn.Close()
		time.Sleep(15*time.Minute + 5*time.Second - time.Nanosecond)
		synctest.Wait()
		require.Len(t, f.server.registry.Running(), 1)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Empty(t, f.server.registry.Running())
		require.Contains(t, f.log.String(), "code=stream_timeout")
		f.end()
	})
}

func TestASlowReaderGetsACompleteAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []llm.Item
		for range 50 {
			all = append(all, says("x"))
		}
		f := serve(t, items(all...), func(c *Config) { c.Settings.Inactivity = 20 * time.Second })
		conn, reader := f.raw()
		defer conn.Close()
		frames := 0
		for {
			line, err := reader.ReadString('\n')
			require.NoError(t, err)
			if strings.HasPrefix(line, "data: [DONE]") {
				break
			}
			if strings.HasPrefix(line, "data: ") {
				frames++
				time.Sleep(time.Second)
			}
		}
		require.Equal(t, 51, frames)
		f.end()
		require.Contains(t, f.log.String(), "ending=completed")
	})
}

func TestAPanicHarmsNoOtherRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, late(10*time.Second), func(c *Config) {
			c.Hooks.Turn = func(_ context.Context, prompt string) {
				if prompt == "break" {
					panic("hook")
				}
			}
		})
		other := f.ask(streaming)
		broken := text(t, f.ask(`{"stream":true,"messages":[{"role":"user","content":"break"}]}`))
		require.Contains(t, broken, `"code":"internal_error"`)
		require.NotContains(t, broken, "hook")
		require.Len(t, f.server.registry.Running(), 1)
		require.Contains(t, text(t, other), "late")
		require.Contains(t, f.log.String(), "recoverProducer")
		f.end()
	})
}

// The HTTP server writes the end of the body when the handler has returned, which waits for what the run still has.
func TestAnAnswerIsWholeHoweverLongTheRunIsInEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, silent, func(c *Config) {
			c.Settings.Stream = time.Second
			c.Hooks.Turn = func(context.Context, string) { time.Sleep(2 * c.Settings.LastWrite) } // deaf
		})
		body := text(t, f.ask(streaming)) // fails on a body that is cut off
		require.True(t, strings.HasSuffix(body, "data: [DONE]\n\n"), body)
		require.Equal(t, 10*time.Second, f.elapsed())
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}
