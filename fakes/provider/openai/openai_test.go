package openai_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/fixture"
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
	{"usage-details", openai.Dialect{}, []Step{Role{}, Finish{Reason: "length"}, Usage{Prompt: 9, Completion: 5, Reasoning: 5, Cached: 4}, Done{}}},
	{"obfuscation", openai.Dialect{}, []Step{Role{}, Text{Chunks: []string{"a", "b"}}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 2}, Done{}}},
	{"reasoning", openai.Dialect{}, []Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Done{}}},
	{"reasoning-field", openai.Dialect{Reasoning: "reasoning"}, []Step{Role{}, Think{Chunks: []string{"hm"}}, Finish{Reason: "stop"}, Done{}}},
	{"tool", openai.Dialect{}, []Step{Tool{ID: "call_1", Name: "f", Args: []string{`{"x"`, `:1}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tools", openai.Dialect{}, []Step{Role{}, Tool{ID: "call_1", Name: "f", Args: []string{`{}`}},
		Tool{Index: 1, ID: "call_2", Name: "g", Args: []string{`{"y"`, `:2}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tool-chunks", openai.Dialect{}, oddCalls},
	{"tool-length", openai.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Let me look."}}, Tool{ID: "call_1", Name: "f", Args: []string{`{"x`}}, Finish{Reason: "length"}, Done{}}},
	{"refusal", openai.Dialect{}, []Step{Refusal{Chunks: []string{"I'm", " sorry"}}, Finish{Reason: "refusal"}, Done{}}},
	{"content-filter", openai.Dialect{}, []Step{Role{}, Text{Chunks: []string{"How"}}, Finish{Reason: "content_filter"}, Done{}}},
	{"finish-empty", openai.Dialect{}, []Step{Role{}, Finish{Empty: true}, Finish{}, Finish{Reason: "some_word"}, Done{}}},
	{"message", openai.Dialect{}, []Step{Role{}, Text{Chunks: []string{"a", "b"}}, Finish{Reason: "stop"}, Message{}, Done{}}},
	{"error", openai.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Hel"}}, Error{Type: "server_error", Message: "The server had an error"}, End{}}},
	{"error-choices", openai.Dialect{}, []Step{Role{}, Error{Code: "boom", Message: "no", Form: ChoicesForm}, Done{}}},
	{"error-flat", openai.Dialect{}, []Step{Role{}, Error{Message: "no", Form: FlatForm}}},
	{"no-output", openai.Dialect{}, []Step{Role{}, Comment{Text: "one\ntwo"}, Empty{}, Ping{}, Role{}, Done{}}},

	{"keepalive", openai.Dialect{Flavour: openai.OpenRouter}, []Step{Keepalive{Form: PingForm, Every: 10 * time.Second}, Pause{For: 25 * time.Second}, Role{},
		Pause{For: 10 * time.Second}, Keepalive{}, Text{Chunks: []string{"a"}}, Finish{Reason: "stop"}, Done{}}},

	{"azure", openai.Dialect{Flavour: openai.Azure}, []Step{Role{}, Text{Chunks: []string{"Hi"}}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 1}, Done{}}},
	{"azure-tool", openai.Dialect{Flavour: openai.Azure}, calls},
	{"azure-filter", openai.Dialect{Flavour: openai.Azure}, []Step{Role{}, Finish{Reason: "content_filter"}, Done{}}},
	{"azure-error", openai.Dialect{Flavour: openai.Azure}, failing},
	{"deepseek", openai.Dialect{Flavour: openai.DeepSeek}, thinking},
	{"deepseek-reasoner", openai.Dialect{Flavour: openai.DeepSeek}, []Step{Ping{}, Role{}, Think{Chunks: []string{"We", " know"}}, Text{Chunks: []string{"Why"}},
		Usage{Prompt: 9, Completion: 4, Reasoning: 2, Cached: 8}, Finish{Reason: "stop"}, Done{}}},
	{"deepseek-tool", openai.Dialect{Flavour: openai.DeepSeek}, calls},
	{"deepseek-error", openai.Dialect{Flavour: openai.DeepSeek}, failing},
	{"groq", openai.Dialect{Flavour: openai.Groq}, thinking},
	{"groq-joined", openai.Dialect{Flavour: openai.Groq}, []Step{Role{}, Text{Chunks: []string{"Hi"}}, Usage{Prompt: 9, Completion: 1}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 1}, Done{}}},
	{"groq-tool", openai.Dialect{Flavour: openai.Groq}, calls},
	{"groq-error", openai.Dialect{Flavour: openai.Groq}, failing},
	{"llamacpp", openai.Dialect{Flavour: openai.LlamaCPP}, thinking},
	{"llamacpp-error", openai.Dialect{Flavour: openai.LlamaCPP}, failing},
	{"mistral", openai.Dialect{Flavour: openai.Mistral}, thinking},
	{"mistral-joined", openai.Dialect{Flavour: openai.Mistral}, []Step{Role{}, Text{Chunks: []string{"Hi"}}, Usage{Prompt: 9, Completion: 1}, Finish{Reason: "stop"}, Done{}}},
	{"mistral-tool", openai.Dialect{Flavour: openai.Mistral}, calls},
	{"mistral-error", openai.Dialect{Flavour: openai.Mistral}, failing},
	{"openrouter", openai.Dialect{Flavour: openai.OpenRouter}, thinking},
	{"openrouter-tool", openai.Dialect{Flavour: openai.OpenRouter}, calls},
	{"openrouter-refusal", openai.Dialect{Flavour: openai.OpenRouter}, []Step{Role{}, Refusal{Chunks: []string{"no"}}, Finish{Reason: "stop"}, Done{}}},
	{"openrouter-error", openai.Dialect{Flavour: openai.OpenRouter}, failing},
	{"vllm", openai.Dialect{Flavour: openai.VLLM}, thinking},
	{"vllm-each-usage", openai.Dialect{Flavour: openai.VLLM}, []Step{Role{}, Text{Chunks: []string{"a", "b"}}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 2}, Done{}}},
	{"vllm-refusal", openai.Dialect{Flavour: openai.VLLM}, []Step{Role{}, Refusal{Chunks: []string{"no"}}, Finish{Reason: "stop"}, Done{}}},
	{"vllm-error", openai.Dialect{Flavour: openai.VLLM}, failing},
	{"xai", openai.Dialect{Flavour: openai.XAI}, thinking},
	{"xai-error", openai.Dialect{Flavour: openai.XAI}, failing},
}

var (
	// thinking is an answer with everything that flavours do differently.
	thinking = []Step{Ping{}, Role{}, Think{Chunks: []string{"Let me", " see"}}, Ping{}, Text{Chunks: []string{"4", "!"}}, Finish{Reason: "stop"},
		Usage{Prompt: 9, Completion: 4, Reasoning: 2, Cached: 5}, Done{}}
	calls = []Step{Tool{ID: "call_1", Name: "f", Args: []string{`{"x"`, `:1}`}}, Tool{Index: 1, ID: "call_2", Name: "g"}, Finish{Reason: "tool_calls"}, Done{}}
	// failing has every form that an error inside a stream may have.
	failing = []Step{Role{}, Error{}, Error{Type: "some_type", Code: "503", Message: "no", Form: DataForm}, Error{Message: "no", Form: FlatForm},
		Error{Code: "boom", Message: "no", Form: ChoicesForm}, Done{}}
	oddCalls = []Step{Role{},
		ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Is("call_1"), Type: Is("function"), Name: Is("f"), Args: Is("")}, {Index: Is("1"), ID: Null(), Name: Is("g")}}},
		ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Is(""), Name: Is(""), Args: Is(`{"x":`)}}},
		ToolChunk{Parts: []ToolPart{{Index: Null(), ID: Is("call_2"), Args: Is("{")}, {Args: Null()}, {}}},
		ToolChunk{Parts: []ToolPart{{Index: Is("0"), Args: Is("1}")}, {Index: Is("1"), ID: Is("call_3"), Type: Null(), Args: Is("{}")}}},
		Finish{Reason: "tool_calls"}, Done{}}
)

func TestFixtures(t *testing.T) {
	fixture.All(t, len(fixtures))
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			fixture.Compare(t, f.name, *update, func(request []byte) []txtar.File {
				streaming, whole := play(t, f.dialect, f.steps, request)
				return []txtar.File{{Name: "streaming", Data: streaming}, {Name: "non-streaming", Data: append(whole, '\n')}}
			})
		})
	}
}

// play sends the request as it is and then without a stream.
func play(t *testing.T, d openai.Dialect, steps []Step, request []byte) (streaming, whole []byte) {
	t.Helper()
	streaming, whole = fixture.Both(t, d, steps, "/v1/chat/completions", request)
	require.True(t, json.Valid(whole), string(whole))
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
}

func TestModels(t *testing.T) {
	tests := []struct {
		name, path, want string // no want is not known
		status           int
	}{
		{"all of them", "/v1/models", `{"object":"list","data":[{"id":"a","object":"model","created":1700000000,"owned_by":"stallwright"},` +
			`{"id":"b/c","object":"model","created":1700000000,"owned_by":"stallwright"}]}`, 0},
		{"one of them", "/v1/models/a", `{"id":"a","object":"model","created":1700000000,"owned_by":"stallwright"}`, 0},
		{"one with a slash", "/v1/models/b/c", `{"id":"b/c","object":"model","created":1700000000,"owned_by":"stallwright"}`, 0},
		{"one that is not there", "/v1/models/c", `{"error":{"message":"The model ` + "`c`" + ` does not exist or you do not have access to it.",` +
			`"type":"invalid_request_error","param":null,"code":"model_not_found"}}`, 404},
		{"another path", "/v1/files", "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, answer := openai.Dialect{Models: []string{"a", "b/c"}}.Recognise(httptest.NewRequest("GET", test.path, nil), nil)
			require.Nil(t, answer)
			require.Equal(t, test.want, string(got.Fixed))
			require.Equal(t, test.status, got.Status)
		})
	}
}

func TestAzureNamesTheModelInThePath(t *testing.T) {
	r := httptest.NewRequest("POST", "/openai/deployments/my-gpt/chat/completions?api-version=2025-04-01-preview", nil)
	got, answer := openai.Dialect{Flavour: openai.Azure}.Recognise(r, []byte(`{"model":"ignored"}`))
	require.Equal(t, provider.Request{Model: "my-gpt"}, got)
	require.Contains(t, string(answer.Body(200, nil)), `"model":"my-gpt"`)
	got, _ = openai.Dialect{Flavour: openai.Azure}.Recognise(httptest.NewRequest("POST", "/openai/v1/chat/completions", nil), []byte(`{"model":"m"}`))
	require.Equal(t, "m", got.Model)
}

func TestHeaders(t *testing.T) {
	tests := []struct {
		name    string
		flavour openai.Flavour
		status  int
		stream  bool
		want    map[string]string // no text is no header
	}{
		{"OpenAI's stream", "", 200, true, map[string]string{"Content-Type": "text/event-stream; charset=utf-8", "Openai-Version": "2020-10-01", "Retry-After": ""}},
		{"OpenAI's 429", openai.OpenAI, 429, false, map[string]string{"Content-Type": "application/json", "Retry-After": "1", "X-Ratelimit-Limit-Tokens": "2000000"}},
		{"OpenAI's 503", "", 503, false, map[string]string{"Retry-After": "1"}},
		{"Azure's stream", openai.Azure, 200, true, map[string]string{"X-Ms-Deployment-Name": "m", "Openai-Version": "", "Retry-After-Ms": ""}},
		{"Azure's 429", openai.Azure, 429, false, map[string]string{"Retry-After": "1", "Retry-After-Ms": "1000"}},
		{"DeepSeek's 400", openai.DeepSeek, 400, false, map[string]string{"Content-Type": "application/octet-stream", "X-Request-Id": ""}},
		{"Groq's stream", openai.Groq, 200, true, map[string]string{"X-Ratelimit-Limit-Requests": "10000", "Openai-Version": ""}},
		{"Mistral's stream", openai.Mistral, 200, true, map[string]string{"X-Request-Id": ""}},
		{"OpenRouter's stream", openai.OpenRouter, 200, true, map[string]string{"Content-Type": "text/event-stream", "X-Request-Id": ""}},
		{"OpenRouter's 429", openai.OpenRouter, 429, false, map[string]string{"Retry-After": "1", "X-Ratelimit-Remaining": "0"}},
		{"vLLM's stream", openai.VLLM, 200, true, map[string]string{"Content-Type": "text/event-stream; charset=utf-8", "X-Request-Id": ""}},
		{"xAI's stream", openai.XAI, 200, true, map[string]string{"Content-Type": "text/event-stream"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, answer := openai.Dialect{Flavour: test.flavour}.Recognise(httptest.NewRequest("POST", "/chat/completions", nil), []byte(`{"model":"m"}`))
			h := http.Header{}
			answer.Header(h, test.status, test.stream)
			for name, want := range test.want {
				require.Equal(t, want, h.Get(name), name)
			}
		})
	}
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

func TestErrorBodiesOfFlavours(t *testing.T) {
	tests := []struct {
		flavour openai.Flavour
		status  int
		want    string
	}{
		{openai.Azure, 401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`},
		{openai.Azure, 404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`},
		{openai.Azure, 408, `{"error":{"code":"Timeout","message":"The operation was timeout."}}`},
		{openai.Azure, 429, `{"error":{"code":"429","message":"Requests have exceeded call rate limit. Please retry after 1 second."}}`},
		{openai.Azure, 500, `{"error":{"message":"The server had an error while processing your request. Sorry about that!","type":"server_error","param":null,"code":null}}`},
		{openai.DeepSeek, 401, `{"error":{"message":"Authentication Fails (governor)","type":"authentication_error","param":null,"code":"invalid_request_error"}}`},
		{openai.DeepSeek, 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`},
		{openai.Groq, 422, `{"error":{"message":"Unprocessable Entity","type":"invalid_request_error","code":null}}`},
		{openai.LlamaCPP, 400, `{"error":{"message":"Bad Request","type":"invalid_request_error","code":400}}`},
		{openai.LlamaCPP, 401, `{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}`},
		{openai.LlamaCPP, 404, `{"error":{"message":"File Not Found","type":"not_found_error","code":404}}`},
		{openai.LlamaCPP, 501, `{"error":{"message":"This server does not support this.","type":"not_supported_error","code":501}}`},
		{openai.LlamaCPP, 503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`},
		{openai.Mistral, 400, `{"object":"error","message":"Invalid model: m","type":"invalid_model","param":null,"code":"1500","raw_status_code":400}`},
		{openai.Mistral, 401, `{"detail":"Invalid API Key"}`},
		{openai.Mistral, 429, `{"object":"error","message":"Rate limit exceeded","type":"rate_limited","param":null,"code":"1300","raw_status_code":429}`},
		{openai.OpenRouter, 400, `{"error":{"code":400,"message":"Bad Request","metadata":{"error_type":"invalid_request"}},"user_id":"user_stallwright"}`},
		{openai.OpenRouter, 401, `{"error":{"code":401,"message":"No auth credentials found","metadata":{"error_type":"authentication"}},"user_id":"user_stallwright"}`},
		{openai.OpenRouter, 402, `{"error":{"code":402,"message":"Insufficient credits","metadata":{"error_type":"payment_required"}},"user_id":"user_stallwright"}`},
		{openai.OpenRouter, 403, `{"error":{"code":403,"message":"Forbidden","metadata":{"error_type":"permission_denied"}},"user_id":"user_stallwright"}`},
		{openai.OpenRouter, 404, `{"error":{"code":404,"message":"Not Found","metadata":{"error_type":"not_found"}},"user_id":"user_stallwright"}`},
		{openai.OpenRouter, 408, `{"error":{"code":408,"message":"Request Timeout","metadata":{"error_type":"timeout"}},"user_id":"user_stallwright"}`},
		{openai.OpenRouter, 413, `{"error":{"code":413,"message":"Request Entity Too Large","metadata":{"error_type":"payload_too_large"}},"user_id":"user_stallwright"}`},
		{openai.OpenRouter, 429, `{"error":{"code":429,"message":"Rate limit exceeded","metadata":{"error_type":"rate_limit_exceeded"}},"user_id":"user_stallwright"}`},
		{openai.OpenRouter, 500, `{"error":{"code":500,"message":"Internal Server Error","metadata":{"error_type":"server"}},"user_id":"user_stallwright"}`},
		{openai.OpenRouter, 502, `{"error":{"code":502,"message":"Provider returned error","metadata":{"error_type":"provider_unavailable"}},"user_id":"user_stallwright"}`},
		{openai.OpenRouter, 503, `{"error":{"code":503,"message":"Provider is overloaded","metadata":{"error_type":"provider_overloaded"}},"user_id":"user_stallwright"}`},
		{openai.VLLM, 400, `{"error":{"message":"Bad Request","type":"BadRequestError","param":null,"code":400}}`},
		{openai.VLLM, 404, "{\"error\":{\"message\":\"The model `m` does not exist.\",\"type\":\"NotFoundError\",\"param\":null,\"code\":404}}"},
		{openai.VLLM, 500, `{"error":{"message":"Internal server error","type":"InternalServerError","param":null,"code":500}}`},
		{openai.XAI, 500, `{"code":"server_error","error":"The server had an error while processing your request. Sorry about that!"}`},
	}
	for _, test := range tests {
		t.Run(string(test.flavour)+" "+strconv.Itoa(test.status), func(t *testing.T) {
			_, answer := openai.Dialect{Flavour: test.flavour}.Recognise(httptest.NewRequest("POST", "/chat/completions", nil), []byte(`{"model":"m"}`))
			require.Equal(t, test.want, string(answer.Body(test.status, nil)))
		})
	}
	for _, f := range openai.Flavours() {
		_, answer := openai.Dialect{Flavour: f}.Recognise(httptest.NewRequest("POST", "/chat/completions", nil), []byte(`{"model":"m"}`))
		body := answer.Body(400, []Step{Error{Message: "messages[0]: unknown role"}})
		require.True(t, json.Valid(body), string(body))
		require.Contains(t, string(body), "messages[0]: unknown role", f)
	}
}

func TestValidate(t *testing.T) {
	const user, call, result = `{"role":"user","content":"hi"}`, `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
		`{"role":"tool","tool_call_id":"c1","content":""}`
	tests := []struct {
		name, messages, rest string
		want                 string // what the reason has; empty is fine
	}{
		{"a question", user, ``, ""},
		{"parts", `{"role":"user","content":[{"type":"text","text":"hi"}]}`, ``, ""},
		{"all roles", `{"role":"system","content":"s"},{"role":"developer","content":"d"},` + user + `,{"role":"assistant","content":"a"},` + user, ``, ""},
		{"a call and its result", user + "," + call + "," + result, ``, ""},
		{"two calls, whose results come in any order", `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}},{"id":"b","type":"custom"}]},` +
			`{"role":"tool","tool_call_id":"b","content":"2"},{"role":"tool","tool_call_id":"a","content":"1"}`, ``, ""},
		{"a refusal", `{"role":"assistant","content":null,"refusal":"no"},` + user, ``, ""},
		{"no message", ``, ``, "at least one"},
		{"an unknown role", `{"role":"bot","content":"x"}`, ``, `unknown role "bot"`},
		{"an empty question", `{"role":"user","content":""}`, ``, "role user without content"},
		{"a question of no parts", `{"role":"user","content":[ ]}`, ``, "role user without content"},
		{"a question without content", `{"role":"user"}`, ``, "role user without content"},
		{"an empty answer", user + `,{"role":"assistant","content":null},` + user, ``, "neither content nor calls"},
		{"a call without its result", user + "," + call, ``, `calls ["c1"] have no result`},
		{"somebody who speaks before the result", call + "," + user + "," + result, ``, `calls ["c1"] have no result yet`},
		{"a result without its call", user + "," + result, ``, `result for call "c1"`},
		{"a result that comes twice", call + "," + result + "," + result, ``, `result for call "c1"`},
		{"a result without content", call + `,{"role":"tool","tool_call_id":"c1"}`, ``, "without content"},
		{"an id that comes twice", call + "," + result + "," + call + "," + result, ``, `call id "c1" is empty or taken`},
		{"a call without an id", `{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":""}}]}`, ``, "empty or taken"},
		{"a call without a type", `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]}`, ``, "want function"},
		{"a call without a name", `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"arguments":""}}]}`, ``, "has no name"},
		{"a call without arguments", `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f"}}]}`, ``, "has no arguments"},
		{"arguments that are no text", `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{}}}]}`, ``, "messages"},
		{"no tools on offer", user, `,"tools":[]`, "tools is empty"},
		{"tools of one name", user, `,"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]`, `name "f"`},
		{"a long prompt", `{"role":"user","content":"` + strings.Repeat("x", 4000) + `"}`, ``, "maximum context length is 1000 tokens"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body := `{"model":"m","messages":[` + test.messages + `]` + test.rest + `}`
			status, why := openai.Dialect{MaxPrompt: 1000}.Validate(httptest.NewRequest("POST", "/v1/chat/completions", nil), []byte(body))
			if test.want == "" {
				require.Zero(t, status, why)
				return
			}
			require.Equal(t, 400, status)
			require.Contains(t, why, test.want)
		})
	}
	var _ provider.Validator = openai.Dialect{}
	status, why := openai.Dialect{}.Validate(httptest.NewRequest("POST", "/v1/chat/completions", nil), []byte(`{"messages":[`+user+`]}`))
	require.Equal(t, []any{400, "model is missing"}, []any{status, why})
	status, _ = openai.Dialect{}.Validate(httptest.NewRequest("POST", "/v1/chat/completions", nil), []byte(`{`))
	require.Equal(t, 400, status)
	status, _ = openai.Dialect{}.Validate(httptest.NewRequest("GET", "/v1/models", nil), nil)
	require.Zero(t, status)
}

func TestAzureNeedsAKey(t *testing.T) {
	body := []byte(`{"messages":[{"role":"user","content":"hi"}]}`)
	r := httptest.NewRequest("POST", "/openai/deployments/m/chat/completions", nil)
	status, _ := openai.Dialect{Flavour: openai.Azure}.Validate(r, body)
	require.Equal(t, 401, status)
	r.Header.Set("api-key", "k")
	status, why := openai.Dialect{Flavour: openai.Azure}.Validate(r, body)
	require.Zero(t, status, why)
}

// A prompt that is too long is refused in the words of the flavour.
func TestTooLongAPrompt(t *testing.T) {
	for flavour, want := range map[openai.Flavour]string{
		openai.OpenAI: `"code":"context_length_exceeded"`, openai.LlamaCPP: `"type":"exceed_context_size_error","code":400`,
		openai.OpenRouter: `"error_type":"context_length_exceeded"`, openai.VLLM: `"type":"BadRequestError","param":null,"code":400`,
	} {
		_, answer := openai.Dialect{Flavour: flavour, MaxPrompt: 1}.Recognise(httptest.NewRequest("POST", "/chat/completions", nil),
			[]byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
		require.Contains(t, string(answer.Body(400, nil)), want)
		require.Contains(t, string(answer.Body(400, nil)), "maximum context length is 1 tokens")
	}
}

func TestFramesAllocateNothing(t *testing.T) {
	_, answer := openai.Dialect{}.Recognise(httptest.NewRequest("POST", "/chat/completions", nil), []byte(`{"model":"m"}`))
	var step Step = Text{Chunks: []string{"some text"}}
	b := answer.Append(nil, step, 0)
	require.Zero(t, testing.AllocsPerRun(100, func() { b = answer.Append(b[:0], step, 0) }))
}

// Through a provider: a status in place of an answer, and what a strict session refuses.
func TestRefusals(t *testing.T) {
	p := &provider.Provider{Dialects: []provider.Dialect{openai.Dialect{Flavour: openai.OpenRouter}}, Fallback: &provider.Session{
		Strict: true, Script: Script{{Steps: []Step{fault.Status{Code: 429}}}},
	}}
	defer p.Close()
	s := httptest.NewServer(p)
	defer s.Close()
	ask := func(content string) (*http.Response, string) {
		resp, err := s.Client().Post(s.URL+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":`+content+`}]}`))
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp, string(b)
	}
	resp, body := ask(`""`)
	require.Equal(t, 400, resp.StatusCode)
	require.JSONEq(t, `{"error":{"code":400,"message":"messages[0]: role user without content","metadata":{"error_type":"invalid_request"}},"user_id":"user_stallwright"}`, body)
	resp, body = ask(`"hi"`)
	require.Equal(t, 429, resp.StatusCode)
	require.Equal(t, "1", resp.Header.Get("Retry-After"))
	require.Contains(t, body, `"error_type":"rate_limit_exceeded"`)
}

// DeepSeek keeps an answer in one piece alive with blank lines before its JSON.
func TestPingOutsideAStream(t *testing.T) {
	_, answer := openai.Dialect{Flavour: openai.DeepSeek}.Recognise(httptest.NewRequest("POST", "/chat/completions", nil), []byte(`{"model":"m"}`))
	require.Equal(t, "\n", string(answer.Append(nil, Ping{}, 0)))
}
