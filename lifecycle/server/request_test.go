package server

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

func TestRefusedRequests(t *testing.T) {
	tests := []struct {
		name    string
		method  string
		path    string
		body    string
		status  int
		message string
	}{
		{"no path", "GET", "/nowhere", "", 404, "no such path"},
		{"a wrong method", "GET", "/v1/chat/completions", "", 405, "use POST here"},
		{"a wrong method on models", "POST", "/v1/models", "", 405, "use GET here"},
		{"an empty body", "POST", "/v1/chat/completions", "", 400, "the request body is not a JSON object"},
		{"null", "POST", "/v1/chat/completions", "null", 400, "the request body is not a JSON object"},
		{"broken JSON", "POST", "/v1/chat/completions", `{"messages":[`, 400, "the request body is not valid: unexpected end of JSON input"},
		{"no messages", "POST", "/v1/chat/completions", `{}`, 400, "No messages provided"},
		{"empty messages", "POST", "/v1/chat/completions", `{"messages":[]}`, 400, "No messages provided"},
		{"messages of a wrong type", "POST", "/v1/chat/completions", `{"messages":"hi"}`, 400, "messages cannot be a JSON string"},
		{"the last message is not from the user", "POST", "/v1/chat/completions", `{"messages":[{"role":"assistant","content":"x"}]}`, 400, "Last message must be from user, got: assistant"},
		{"an unknown role is not repeated", "POST", "/v1/chat/completions", `{"messages":[{"role":"<x>","content":"x"}]}`, 400, "Last message must be from user, got: unknown"},
		{"content of a wrong type", "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":1}]}`, 400, "the request body is not valid: messages.content must be a string or an array of text parts"},
		{"a part that is no text", "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "the request body is not valid: messages.content may hold parts of type text only"},
		{"a body that is too long", "POST", "/v1/chat/completions", `{"x":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "the request body is longer than 2097152 bytes"},
	}
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, silent, nil)
		for _, test := range tests {
			resp := f.do(test.method, test.path, test.body)
			require.Equal(t, test.status, resp.StatusCode, test.name)
			require.Equal(t, "application/json", resp.Header.Get("Content-Type"), test.name)
			body := text(t, resp)
			require.Contains(t, body, `"message":"`+test.message+`"`, test.name)
			require.Contains(t, body, `"type":"invalid_request_error","param":`, test.name)
		}
		synctest.Wait() // a run is released behind its answer
		require.Empty(t, f.server.registry.Running())
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}

func TestConversation(t *testing.T) {
	q, p := parse([]byte(`{"n":3,"stream":null,"messages":[
		{"role":"system","content":"obey"},
		{"role":"user","content":"one"},
		{"role":"assistant","content":null,"tool_calls":[]},
		{"role":"tool","content":"result"},
		{"role":"wizard","content":"abracadabra"},
		{"role":"assistant","content":"two"},
		{"role":"user","content":"  "},
		{"role":"user","content":[{"type":"text","text":"th"},{"type":"text","text":"ree"}]}]}`))
	require.Nil(t, p)
	require.Nil(t, q.check())
	require.False(t, q.Stream)
	require.Equal(t, []llm.Message{{Role: "user", Content: "one"}, {Role: "assistant", Content: "two"}, {Role: "user", Content: "three"}}, q.conversation())
	empty := chatRequest{Messages: []message{{Role: "user"}}}
	require.Equal(t, []llm.Message{{Role: "user"}}, empty.conversation())
}

func TestSession(t *testing.T) {
	tests := []struct {
		name               string
		metadata, id, webu string
		want               string // empty is a fresh one
	}{
		{"metadata comes first", "meta", "head", "ui", "meta"},
		{"then the header", "", "head", "ui", "head"},
		{"then the other header", "", "", "ui", "ui"},
		{"none is fresh", "", "", "", ""},
		{"a line break is replaced", "a\r\nSet-Cookie: x", "head", "", ""},
		{"other alphabets are replaced", "ü", "", "", ""},
		{"128 bytes are kept", strings.Repeat("x", 128), "", "", strings.Repeat("x", 128)},
		{"129 bytes are replaced", strings.Repeat("x", 129), "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			q := chatRequest{Metadata: map[string]string{"chat_session_id": test.metadata}}
			h := http.Header{}
			h.Set("X-Chat-Session-Id", test.id)
			h.Set("x-openwebui-chat-id", test.webu)
			got := q.session(h)
			if test.want == "" {
				require.Regexp(t, "^cs_[0-9a-f]{32}$", got)
				return
			}
			require.Equal(t, test.want, got)
		})
	}
}

func TestABodyThatDoesNotArriveIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, silent, nil)
		conn, err := f.pipes.dial(t.Context(), "", "")
		require.NoError(t, err)
		defer conn.Close()
		_, err = conn.Write([]byte("POST /v1/chat/completions HTTP/1.1\r\nHost: server.test\r\nContent-Length: 100\r\n\r\n{"))
		require.NoError(t, err)
		buf := make([]byte, 1<<10)
		n, err := conn.Read(buf)
		require.NoError(t, err)
		require.Contains(t, string(buf[:n]), "408 Request Timeout")
		require.Equal(t, bodyWindow, f.elapsed())
		f.end()
	})
}

func TestAClientThatLeavesWhileItSendsIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, silent, nil)
		conn, err := f.pipes.dial(t.Context(), "", "")
		require.NoError(t, err)
		_, err = conn.Write([]byte("POST /v1/chat/completions HTTP/1.1\r\nHost: server.test\r\nContent-Length: 100\r\n\r\n{"))
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, conn.Close())
		synctest.Wait()
		require.Contains(t, f.log.String(), "ending=disconnected")
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}

func TestABodyOfBrokenChunksIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, silent, nil)
		conn, err := f.pipes.dial(t.Context(), "", "")
		require.NoError(t, err)
		defer conn.Close()
		_, err = conn.Write([]byte("POST /v1/chat/completions HTTP/1.1\r\nHost: server.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"))
		require.NoError(t, err)
		buf := make([]byte, 1<<10)
		n, err := conn.Read(buf)
		require.NoError(t, err)
		require.Contains(t, string(buf[:n]), "400 Bad Request")
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}

func TestModelsAndHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, silent, nil)
		require.JSONEq(t, `{"object":"list","data":[{"id":"helper","object":"model","created":946684800,"owned_by":"openai"}]}`,
			text(t, f.do("GET", "/v1/models", "")))
		require.JSONEq(t, `{"status":"healthy","timestamp":"2000-01-01T00:00:00Z","version":"1.2.3"}`, text(t, f.do("GET", "/health", "")))
		f.end()
	})
}

func TestNewRefusesWhatCannotServe(t *testing.T) {
	tests := []struct {
		name string
		edit func(c *Config)
		want string
	}{
		{"a provider nobody speaks", func(c *Config) { c.File.Agent.LLM.Provider = "x" }, `server: there is no provider "x"`},
		{"no turns", func(c *Config) { c.File.Agent.TurnDepth = 0 }, "server: turn depth 0, want at least 1"},
		{"no buffer", func(c *Config) { c.Settings.Buffer = 0 }, "server: buffer of 0 events, want at least 1"},
		{"no bound for the last write", func(c *Config) { c.Settings.LastWrite = 0 }, "server: the last write needs a bound above 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := valid()
			test.edit(&c)
			_, err := New(c)
			require.EqualError(t, err, test.want)
		})
	}
}

func TestWholeAnswers(t *testing.T) {
	tests := []struct {
		name   string
		model  model
		status int
		want   string
		after  time.Duration
	}{
		{"a complete answer", items(says("a"), says("b"), llm.Item{Kind: llm.UsageReported, Usage: llm.Usage{Prompt: 1, Completion: 2, Total: 3}}, llm.Item{Kind: llm.Finished, Text: "length"}), 200,
			`{"id":"ID","object":"chat.completion","created":0,"model":"openai/gpt","choices":[{"index":0,"message":{"role":"assistant","content":"ab"},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},"metadata":{"chat_session_id":"SESSION"}}`, 0},
		{"an empty answer", items(), 200,
			`{"id":"ID","object":"chat.completion","created":0,"model":"openai/gpt","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"stop"}],"metadata":{"chat_session_id":"SESSION"}}`, 0},
		{"only the stream clock bounds it", silent, 504,
			`{"error":{"message":"stream: the run did not end within 15m0s","type":"timeout_error","param":null,"code":"stream_timeout"}}`, 15 * time.Minute},
		{"a slow model is waited for", late(14 * time.Minute), 200,
			`{"id":"ID","object":"chat.completion","created":0,"model":"openai/gpt","choices":[{"index":0,"message":{"role":"assistant","content":"late"},"finish_reason":"stop"}],"metadata":{"chat_session_id":"SESSION"}}`, 14 * time.Minute},
		{"a panic", nil, 500, `{"error":{"message":"internal error","type":"internal_error","param":null,"code":"internal_error"}}`, 0},
		{"an answer without end", func(_ context.Context, _ llm.Request, emit func(llm.Item) error) error {
			for {
				if err := emit(says(strings.Repeat("x", 1<<20))); err != nil {
					return err
				}
			}
		}, 502, `{"error":{"message":"the model's answer is too long to be sent as a whole","type":"provider_error","param":null,"code":"provider_error"}}`, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := serve(t, test.model, func(c *Config) { c.Settings.Inactivity = time.Second })
				resp := f.ask(plain)
				require.Equal(t, test.status, resp.StatusCode)
				require.Equal(t, test.want, masked(text(t, resp)))
				require.Equal(t, test.after, f.elapsed())
				f.end()
			})
		})
	}
}
