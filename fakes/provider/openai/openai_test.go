package openai_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	. "github.com/stallwright/stallwright/fakes/script"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

// fixtures are the programs that answer the requests in testdata. The first line of each file says what it proves.
var fixtures = []struct {
	name    string
	dialect openai.Dialect
	steps   []Step
}{
	{"text", openai.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Hel", "lo \"you\"\n"}}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 2}, Done{}}},
	{"usage", openai.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Hi"}}, Finish{Reason: "length"}, Usage{Prompt: 9, Completion: 1}, Done{}}},
	{"reasoning", openai.Dialect{}, []Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Done{}}},
	{"reasoning-field", openai.Dialect{Reasoning: "reasoning"}, []Step{Role{}, Think{Chunks: []string{"hm"}}, Finish{Reason: "stop"}, Done{}}},
	{"tool", openai.Dialect{}, []Step{Tool{ID: "call_1", Name: "f", Args: []string{`{"x"`, `:1}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tools", openai.Dialect{}, []Step{Role{}, Tool{ID: "call_1", Name: "f", Args: []string{`{}`}},
		Tool{Index: 1, ID: "call_2", Name: "g", Args: []string{`{"y"`, `:2}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"error", openai.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Hel"}}, Error{Type: "server_error", Message: "The server had an error"}, End{}}},
	{"no-output", openai.Dialect{}, []Step{Role{}, Comment{Text: "one\ntwo"}, Empty{}, Role{}, Done{}}},
}

func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.Len(t, files, len(fixtures), "every file has its program")
	for _, fixture := range fixtures {
		t.Run(fixture.name, func(t *testing.T) {
			file := filepath.Join("testdata", fixture.name+".txtar")
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			require.NotEmpty(t, strings.TrimSpace(string(archive.Comment)), "the first line says what it proves")
			require.Equal(t, "request", archive.Files[0].Name)
			request := archive.Files[0].Data
			streaming, whole := play(t, fixture.dialect, fixture.steps, request)
			got := &txtar.Archive{Comment: archive.Comment, Files: []txtar.File{
				archive.Files[0], {Name: "streaming", Data: streaming}, {Name: "non-streaming", Data: append(whole, '\n')},
			}}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			if *update {
				require.NoError(t, os.WriteFile(file, txtar.Format(got), 0o644))
				return
			}
			require.Equal(t, string(want), string(txtar.Format(got)))
		})
	}
}

// play sends the request as it is and then without a stream, in virtual time, so that created is always the same.
func play(t *testing.T, d openai.Dialect, steps []Step, request []byte) (streaming, whole []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &provider.Provider{
			Dialects: []provider.Dialect{d},
			Fallback: &provider.Session{Script: Script{{Times: 2, Steps: steps}}},
		}
		n := new(memnet.Network)
		l, err := n.Listen("model.test:80")
		require.NoError(t, err)
		served := make(chan error)
		go func() { served <- p.Serve(l) }()
		client := &http.Client{Transport: &http.Transport{DialContext: n.DialContext}}
		ask := func(body string) []byte {
			resp, err := client.Post("http://model.test:80/v1/chat/completions", "application/json", strings.NewReader(body))
			require.NoError(t, err)
			defer resp.Body.Close()
			require.Equal(t, 200, resp.StatusCode)
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			return b
		}
		streaming = ask(string(request))
		whole = ask(strings.Replace(string(request), `"stream":true`, `"stream":false`, 1))
		require.True(t, json.Valid(whole), string(whole))
		client.CloseIdleConnections()
		require.NoError(t, p.Close())
		require.NoError(t, <-served)
	})
	return streaming, whole
}

// A client that reads the stream by hand gets what the script says.
func TestRoundTrip(t *testing.T) {
	p := &provider.Provider{Dialects: []provider.Dialect{openai.Dialect{}}, Fallback: &provider.Session{Script: Script{{Steps: []Step{
		Role{}, Think{Chunks: []string{"hm"}}, Comment{Text: "x"}, Text{Chunks: []string{"a\u2028\x01", "é\\"}},
		Tool{ID: "c", Name: "f", Args: []string{`{"a":`, `"\""}`}}, Finish{Reason: "tool_calls"}, Usage{Prompt: 3, Completion: 4}, Done{},
	}}}}}
	defer p.Close()
	s := httptest.NewServer(p)
	defer s.Close()
	req, err := http.NewRequestWithContext(context.Background(), "POST", s.URL+"/v1/chat/completions",
		strings.NewReader(`{"model":"m\"","stream":true,"stream_options":{"include_usage":true}}`))
	require.NoError(t, err)
	resp, err := s.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Regexp(t, "^req_[0-9a-f]{32}$", resp.Header.Get("x-request-id"))
	require.Equal(t, "text/event-stream; charset=utf-8", resp.Header.Get("content-type"))
	for _, name := range []string{"openai-processing-ms", "openai-version", "x-ratelimit-remaining-requests", "x-ratelimit-reset-tokens"} {
		require.NotEmpty(t, resp.Header.Get(name), name)
	}

	var text, thought, args, finish, id string
	var tokens, roles int
	done := false
	for in := bufio.NewScanner(resp.Body); in.Scan(); {
		data, found := strings.CutPrefix(in.Text(), "data: ")
		if !found {
			continue
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var chunk struct {
			ID, Object, Model string
			Created           int64
			Choices           []struct {
				Delta struct {
					Role             string
					Content          string
					ReasoningContent string `json:"reasoning_content"`
					ToolCalls        []struct {
						Index    int
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
				FinishReason string `json:"finish_reason"`
			}
			Usage *struct {
				TotalTokens int `json:"total_tokens"`
			}
		}
		require.NoError(t, json.Unmarshal([]byte(data), &chunk), data)
		require.NotContains(t, data, `"error"`)
		require.Contains(t, data, `"usage":`)
		require.Equal(t, `m"`, chunk.Model)
		require.Equal(t, "chat.completion.chunk", chunk.Object)
		if id == "" {
			id = chunk.ID
		}
		require.Equal(t, id, chunk.ID)
		if chunk.Usage != nil {
			require.Empty(t, chunk.Choices)
			tokens = chunk.Usage.TotalTokens
			continue
		}
		choice := chunk.Choices[0]
		if choice.Delta.Role != "" {
			roles++
		}
		text += choice.Delta.Content
		thought += choice.Delta.ReasoningContent
		for _, call := range choice.Delta.ToolCalls {
			args += call.Function.Arguments
		}
		finish += choice.FinishReason
	}
	require.True(t, done)
	require.Equal(t, []any{"a\u2028\x01é\\", "hm", `{"a":"\""}`, "tool_calls", 7, 1}, []any{text, thought, args, finish, tokens, roles})
}

func TestRecognise(t *testing.T) {
	tests := []struct {
		name, method, path, body, retry string
		want                            provider.Request
		known                           bool
	}{
		{"a stream", "POST", "/v1/chat/completions", `{"model":"m","stream":true}`, "", provider.Request{Model: "m", Stream: true}, true},
		{"no stream, when it does not say", "POST", "/chat/completions", `{"model":"m"}`, "", provider.Request{Model: "m"}, true},
		{"the second attempt", "POST", "/chat/completions", `{}`, "1", provider.Request{Attempt: 2}, true},
		{"a retry count that is none", "POST", "/chat/completions", `{}`, "-1", provider.Request{}, true},
		{"another path", "POST", "/v1/messages", `{}`, "", provider.Request{}, false},
		{"another method", "GET", "/chat/completions", ``, "", provider.Request{}, false},
		{"a body that does not parse", "POST", "/chat/completions", `{`, "", provider.Request{}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, test.path, nil)
			if test.retry != "" {
				r.Header.Set("X-Stainless-Retry-Count", test.retry)
			}
			got, answer := openai.Dialect{}.Recognise(r, []byte(test.body))
			require.Equal(t, test.want, got)
			require.Equal(t, test.known, answer != nil)
		})
	}
	models, answer := openai.Dialect{Models: []string{"a", "b"}}.Recognise(httptest.NewRequest("GET", "/v1/models", nil), nil)
	require.Nil(t, answer)
	require.True(t, json.Valid(models.Fixed))
	require.Contains(t, string(models.Fixed), `"id":"b"`)
}

func TestErrorBodies(t *testing.T) {
	tests := []struct {
		status     int
		kind, code string
	}{
		{400, "invalid_request_error", ""}, {401, "invalid_request_error", "invalid_api_key"},
		{403, "request_forbidden", "unsupported_country_region_territory"}, {404, "invalid_request_error", "model_not_found"},
		{422, "invalid_request_error", ""}, {429, "requests", "rate_limit_exceeded"},
		{500, "server_error", ""}, {503, "server_error", "overloaded"}, {529, "server_error", ""},
	}
	for _, test := range tests {
		t.Run(strconv.Itoa(test.status), func(t *testing.T) {
			_, answer := openai.Dialect{}.Recognise(httptest.NewRequest("POST", "/chat/completions", nil), []byte(`{"model":"m"}`))
			var got map[string]map[string]any
			require.NoError(t, json.Unmarshal(answer.Body(test.status, nil), &got))
			e := got["error"]
			require.Len(t, e, 4)
			require.NotEmpty(t, e["message"])
			require.Equal(t, test.kind, e["type"])
			require.Nil(t, e["param"])
			if test.code == "" {
				require.Nil(t, e["code"])
			} else {
				require.Equal(t, test.code, e["code"])
			}
		})
	}
}

func TestFramesAllocateNothing(t *testing.T) {
	_, answer := openai.Dialect{}.Recognise(httptest.NewRequest("POST", "/chat/completions", nil), []byte(`{"model":"m"}`))
	var step Step = Text{Chunks: []string{"some text"}}
	b := answer.Append(nil, step, 0)
	require.Zero(t, testing.AllocsPerRun(100, func() { b = answer.Append(b[:0], step, 0) }))
}
