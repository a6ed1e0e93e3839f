package provider_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

func TestSessionsAreSeparate(t *testing.T) {
	inBubble(t, func(w *world) {
		timelines := map[string]*timeline.Timeline{"a": timeline.New(), "b/c@d": timeline.New()}
		done := make(chan string)
		for marker, tl := range timelines {
			s := &provider.Session{Script: Script{Program{Times: 2, Steps: []Step{
				Text{Chunks: []string{marker + ",", marker}, Every: time.Second}, Done{}}}}, Timeline: tl}
			require.NoError(t, w.p.Open(marker, s))
			for range 2 {
				go func() {
					_, body, err := w.ask(strings.Replace(streaming, "sw:case", "sw:"+marker, 1))
					if err != nil || strings.Count(body, `"`+marker) != 2 {
						body = fmt.Sprint("wrong: ", body, err)
					} else {
						body = ""
					}
					done <- body
				}()
			}
		}
		for range 4 {
			require.Empty(t, <-done)
		}
		for marker, tl := range timelines {
			texts := 0
			for _, e := range tl.Events() {
				if e.Kind == "text" {
					texts++
					require.Contains(t, e.Detail, marker)
				}
			}
			require.Equal(t, 4, texts)
			require.Empty(t, w.p.Release(marker))
		}
		require.Equal(t, time.Second, timelines["a"].Now())
	})
}

func TestProgramIsChosen(t *testing.T) {
	inBubble(t, func(w *world) {
		one := func(name string, when When, times int) Program {
			p := Answer(name)
			p.When, p.Times = when, times
			return p
		}
		w.open(
			one("by path", When{Path: "/other/chat/completions"}, 0),
			one("by model", When{Model: "gpt-y"}, 2),
			one("by text", When{Contains: "tool_call_id"}, Any),
			one("by attempt", When{Attempt: 2}, 0),
			one("first", When{}, 0),
			one("second", When{}, 0),
		)
		ask := func(path, body, retry, want string) {
			t.Helper()
			r, err := http.NewRequest("POST", "http://"+address+path, strings.NewReader(body))
			require.NoError(t, err)
			if retry != "" {
				r.Header.Set("X-Stainless-Retry-Count", retry)
			}
			resp, err := w.client.Do(r)
			require.NoError(t, err)
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Contains(t, string(b), want)
		}
		const path = "/v1/chat/completions"
		y := strings.Replace(streaming, "gpt-x", "gpt-y", 1)
		tool := strings.Replace(streaming, "hello", "tool_call_id", 1)
		ask(path, streaming, "", "first")
		ask(path, y, "", "by model")
		ask(path, streaming, "1", "by attempt")
		ask(path, y, "", "by model")
		for range 3 {
			ask(path, tool, "", "by text")
		}
		ask(path, y, "", "second")
		ask("/other"+path, streaming, "", "no program left")
		ask("/other/chat/completions", streaming, "0", "by path")
		ask(path, streaming, "3", "no program left")
		require.Len(t, w.at("violation"), 2)
	})
}

func TestViolations(t *testing.T) {
	inBubble(t, func(w *world) {
		w.open(Answer("one"))
		_, _, err := w.ask(streaming)
		require.NoError(t, err)
		resp, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.JSONEq(t, `{"error":{"message":"stallwright: no program left for POST /v1/chat/completions (model \"gpt-x\", attempt 0); expected no further request"}}`, body)
		resp, body, err = w.ask(`{ "broken": [[sw:case]]`)
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.Contains(t, body, "no dialect recognises POST /v1/chat/completions")
		events := w.events()
		require.Equal(t, []string{
			"#2 " + asked,
			`#2 violation no program left for POST /v1/chat/completions (model "gpt-x", attempt 0); expected no further request`,
			"#3 request POST /v1/chat/completions model= stream=false attempt=0",
			"#3 violation no dialect recognises POST /v1/chat/completions with a body of 23 bytes",
		}, events[len(events)-4:])
		require.Zero(t, w.p.Strays())
		require.NotContains(t, strings.Join(events, "\n"), "secret")

		resp, body, err = w.ask(strings.Replace(streaming, "sw:case", "sw:other", 1))
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.Contains(t, body, `no session \"other\"`)
		resp, _, err = w.ask(`{}`)
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.Equal(t, 2, w.p.Strays())
		require.Len(t, w.events(), len(events))
	})
}

func TestExpectedProgramsAreNamed(t *testing.T) {
	inBubble(t, func(w *world) {
		p := Answer("x")
		p.When = When{Path: "/p", Model: "m", Contains: "c", Attempt: 2}
		w.open(p)
		_, body, err := w.ask(streaming)
		require.NoError(t, err)
		require.Contains(t, body, `expected program 1 (path \"/p\", model \"m\", contains \"c\", attempt 2)`)
		require.Equal(t, []string{`program 1 (path "/p", model "m", contains "c", attempt 2) was taken by 0 of 1 requests`}, w.p.Release("case"))
	})
}

func TestFallbackAnswersRequestsWithoutMarker(t *testing.T) {
	inBubble(t, func(w *world) {
		w.p.Fallback = &provider.Session{Script: Script{Answer("fallback")}, Timeline: w.tl}
		require.Error(t, w.p.Open("", &provider.Session{}))
		_, body, err := w.ask(`{"stream":true}`)
		require.NoError(t, err)
		require.Contains(t, body, "fallback")
		resp, _, err := w.ask(`{"stream":true}`)
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.Len(t, w.at("violation"), 1)
		_, _, err = w.ask(strings.Replace(streaming, "sw:case", "sw:unknown", 1))
		require.NoError(t, err)
		require.Equal(t, 1, w.p.Strays(), "a marker is never the fallback's")
		require.Empty(t, w.p.Release(""))
		_, _, err = w.ask(`{}`)
		require.NoError(t, err)
		require.Equal(t, 2, w.p.Strays())
	})
}

func TestOpenRefuses(t *testing.T) {
	p := &provider.Provider{Dialects: []provider.Dialect{openai.Dialect{}}}
	require.NoError(t, p.Open("taken", &provider.Session{}))
	tests := []struct {
		name, marker string
		script       Script
		want         string
	}{
		{"a marker that is taken", "taken", nil, "open already"},
		{"a marker that JSON escapes", `a"b`, nil, `has '"'`},
		{"a marker with a bracket", "a]]", nil, `has ']'`},
		{"a long marker", strings.Repeat("x", 201), nil, "at most 200"},
		{"an invalid script", "x", Script{{}}, "program 1 has no steps"},
		{"a dialect that is not there", "x", Script{{When: When{Dialect: "opanai"}, Steps: []Step{Done{}}}}, `program 1: when: dialect "opanai": want openai`},
		{"a step of another fake", "x", Script{{Steps: []Step{&Done{}}}}, "a provider has no step *script.Done"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.ErrorContains(t, p.Open(test.marker, &provider.Session{Script: test.script}), test.want)
		})
	}
}

func TestRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(memnet.Network)
		l, err := n.Listen(address)
		require.NoError(t, err)
		serve(t, &provider.Provider{MaxBody: 200, MaxConns: 2}, l, n.DialContext, func(w *world) {
			w.open(Answer("one"))
			resp, body, err := w.ask(streaming + strings.Repeat(" ", 200))
			require.NoError(t, err)
			require.Equal(t, 413, resp.StatusCode)
			require.Contains(t, body, "a body above 200 bytes")
			require.Len(t, w.at("violation"), 1)
			synctest.Wait()

			var conns []net.Conn
			for range 3 {
				c, err := n.DialContext(context.Background(), "tcp", address)
				require.NoError(t, err)
				defer c.Close()
				conns = append(conns, c)
			}
			synctest.Wait()
			start := time.Now()
			_, err = conns[2].Read(make([]byte, 1))
			require.Error(t, err)
			require.Zero(t, time.Since(start), "the third is closed at once")
			fmt.Fprint(conns[0], "POST / HTTP/1.1\r\n")
			io.ReadAll(conns[0])
			require.Equal(t, 10*time.Second, time.Since(start), "the head did not come")
			fmt.Fprint(conns[1], "x") // closed too
			start = time.Now()

			c, err := n.DialContext(context.Background(), "tcp", address)
			require.NoError(t, err)
			defer c.Close()
			fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: m\r\nContent-Length: 100\r\n\r\nhalf")
			io.ReadAll(c)
			require.Equal(t, 30*time.Second, time.Since(start), "the body did not come")
		})
	})
}

func TestOtherHandlerAnswersWhatNoDialectRecognises(t *testing.T) {
	inBubble(t, func(w *world) {
		w.p.Other = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { io.Copy(rw, r.Body) })
		resp, err := w.client.Post("http://"+address+"/_admin", "", strings.NewReader("echo"))
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, "echo", string(b))
		require.Zero(t, w.p.Strays())
	})
}

func TestAModelThatIsNotThere(t *testing.T) {
	inBubble(t, func(w *world) {
		w.p.Dialects = []provider.Dialect{openai.Dialect{}, openai.Dialect{Models: []string{"other"}}}
		for _, test := range []struct {
			path   string
			status int
			want   string
		}{
			{"/v1/models/none", 404, `"code":"model_not_found"`},
			{"/v1/models/other", 200, `{"id":"other"`}, // a dialect further down knows it
		} {
			resp, err := w.client.Get("http://" + address + test.path)
			require.NoError(t, err)
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, test.status, resp.StatusCode)
			require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
			require.Contains(t, string(b), test.want)
		}
		require.Zero(t, w.p.Strays())
	})
}

func TestModelsNeedNoProgram(t *testing.T) {
	inBubble(t, func(w *world) {
		resp, err := w.client.Get("http://" + address + "/v1/models")
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.JSONEq(t, `{"object":"list","data":[{"id":"gpt-x","object":"model","created":1700000000,"owned_by":"stallwright"}]}`, string(b))
		require.Zero(t, w.p.Strays())
	})
}
