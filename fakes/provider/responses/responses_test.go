package responses_test

import (
	"encoding/json"
	"flag"
	"fmt"
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
	"github.com/stallwright/stallwright/fakes/provider/responses"
	. "github.com/stallwright/stallwright/fakes/script"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

// fixtures are the programs that answer the requests in testdata. The first line of each file says what it proves.
var fixtures = []struct {
	name    string
	dialect responses.Dialect
	steps   []Step
}{
	{"text", responses.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Hel", "lo \"you\" <b>\n"}}, Finish{Reason: "stop"}, Usage{Prompt: 36, Completion: 2, Cached: 4}, Done{}}},
	{"answer", responses.Dialect{}, Answer("Hi").Steps},
	{"no-role", responses.Dialect{}, []Step{Text{Chunks: []string{"Hi"}}, Done{}}},
	{"reasoning", responses.Dialect{}, []Step{Role{}, Think{Chunks: []string{"**Look", "ing**"}}, Text{Chunks: []string{"4"}}, Usage{Prompt: 9, Completion: 6, Reasoning: 5}, Finish{Reason: "stop"}, Done{}}},
	{"reasoning-silent", responses.Dialect{}, []Step{Role{}, Think{Chunks: []string{""}}, Ping{}, Ping{}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Done{}}},
	{"reasoning-text", responses.Dialect{ReasoningText: true}, []Step{Role{}, Think{Chunks: []string{"hm"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Done{}}},
	{"tool", responses.Dialect{}, []Step{Role{}, Tool{ID: "call_1", Name: "f", Args: []string{`{"x"`, `:1}`}}, Finish{Reason: "tool_calls"}, Usage{Prompt: 9, Completion: 5}, Done{}}},
	{"tools", responses.Dialect{}, []Step{Role{}, Think{Chunks: []string{""}}, Text{Chunks: []string{"Let me look."}}, Tool{ID: "call_1", Name: "f", Args: []string{`{}`}},
		Tool{Index: 1, ID: "call_2", Name: "g", Args: []string{`{"y"`, `:2}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tool-chunks", responses.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Hm"}},
		ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Is("call_1"), Type: Is("function"), Name: Is("f"), Args: Is("")}, {Index: Is("1"), ID: Null(), Args: Null()}}},
		ToolChunk{Parts: []ToolPart{{Index: Is("0"), Args: Is(`{"x":`)}, {Index: Is("1"), ID: Is(""), Name: Is("g"), Args: Is("{}")}}},
		ToolChunk{Parts: []ToolPart{{Index: Is("2"), Args: Is("{")}, {Args: Is("}")}, {Index: Is("0"), Args: Is("1}")}, {}}},
		Finish{Reason: "tool_calls"}, Done{}}},
	{"tool-length", responses.Dialect{}, []Step{Role{}, Tool{ID: "call_1", Name: "f", Args: []string{`{"x`}}, Finish{Reason: "length"}, Usage{Prompt: 9, Completion: 16}, Done{}}},
	{"refusal", responses.Dialect{}, []Step{Role{}, Refusal{Chunks: []string{"I'm", " sorry"}}, Finish{Reason: "refusal"}, Done{}}},
	{"refusal-after-text", responses.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Well"}}, Refusal{Chunks: []string{"no"}}, Finish{Reason: "stop"}, Done{}}},
	{"length", responses.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Hi"}}, Finish{Reason: "length"}, Done{}}},
	{"content-filter", responses.Dialect{}, []Step{Role{}, Text{Chunks: []string{"How"}}, Finish{Reason: "content_filter"}, Done{}}},
	{"finish-odd", responses.Dialect{}, []Step{Role{}, Finish{Reason: "some_word"}, Done{}, Finish{Empty: true}, Done{}, Finish{}, Done{}}},
	{"no-terminal", responses.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Hi"}}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 2}}},
	{"message", responses.Dialect{}, []Step{Role{}, Text{Chunks: []string{"a", "b"}}, Message{}, Done{}}},
	{"no-output", responses.Dialect{}, []Step{Ping{}, Role{}, Comment{Text: "one\ntwo"}, Empty{}, Role{}, Think{Chunks: []string{"hm"}}, Empty{}, Text{Chunks: []string{"a"}}, Empty{},
		Tool{ID: "call_1", Name: "f"}, Empty{}, Finish{Reason: "tool_calls"}, Empty{}, Done{}}},
	{"keepalive", responses.Dialect{}, []Step{Role{}, Think{Chunks: []string{""}}, Keepalive{Form: PingForm, Every: 10 * time.Second}, Pause{For: 35 * time.Second},
		Keepalive{}, Text{Chunks: []string{"a"}}, Finish{Reason: "stop"}, Done{}}},
	{"error", responses.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Hel"}}, Error{}, End{}}},
	{"error-first", responses.Dialect{}, []Step{Error{Type: "insufficient_quota", Code: "insufficient_quota", Message: "You exceeded your current quota."}, End{}}},
	{"error-flat", responses.Dialect{}, []Step{Role{}, Error{Code: "rate_limit_exceeded", Message: "no", Form: FlatForm}, Error{Form: FlatForm}}},
	{"error-data", responses.Dialect{}, []Step{Role{}, Error{Message: "no", Form: DataForm}}},
	{"failed", responses.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Hel"}}, Error{Code: "rate_limit_exceeded", Message: "no", Form: ChoicesForm}}},
	{"failed-finish", responses.Dialect{}, []Step{Role{}, Text{Chunks: []string{"Hel"}}, Finish{Reason: "error"}, Done{}}},
	{"echo", responses.Dialect{}, []Step{Role{}, Finish{Reason: "stop"}, Done{}}},
}

func TestFixtures(t *testing.T) {
	fixture.All(t, len(fixtures))
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			fixture.Compare(t, f.name, *update, func(request []byte) []txtar.File {
				streaming, whole := play(t, f.dialect, f.steps, request)
				events(t, streaming)
				return []txtar.File{{Name: "streaming", Data: streaming}, {Name: "non-streaming", Data: append(whole, '\n')}}
			})
		})
	}
}

// play sends the request as it is and then without a stream.
func play(t *testing.T, d responses.Dialect, steps []Step, request []byte) (streaming, whole []byte) {
	t.Helper()
	streaming, whole = fixture.Both(t, d, steps, "/v1/responses", request)
	require.True(t, json.Valid(whole), string(whole))
	return streaming, whole
}

// events checks what clients rely on in every stream: names that agree with the data, sequence numbers without gaps.
func events(t *testing.T, stream []byte) {
	t.Helper()
	seq := 0
	for _, block := range strings.Split(strings.TrimSuffix(string(stream), "\n\n"), "\n\n") {
		if strings.HasPrefix(block, ":") {
			continue
		}
		name, data, named := strings.Cut(block, "\ndata: ")
		if !named {
			data, name = strings.TrimPrefix(block, "data: "), ""
		}
		var e struct {
			Type     string `json:"type"`
			Sequence int    `json:"sequence_number"`
		}
		require.NoError(t, json.Unmarshal([]byte(data), &e), data)
		require.Equal(t, seq, e.Sequence, data)
		seq++
		if named {
			require.Equal(t, "event: "+e.Type, name)
		}
	}
}

func TestRecognise(t *testing.T) {
	tests := []struct {
		name, method, path, body, retry string
		want                            provider.Request
		known                           bool
	}{
		{"a stream", "POST", "/v1/responses", `{"model":"m","stream":true}`, "", provider.Request{Model: "m", Stream: true}, true},
		{"no stream, when it does not say", "POST", "/responses", `{"model":"m"}`, "", provider.Request{Model: "m"}, true},
		{"the second attempt", "POST", "/responses", `{}`, "1", provider.Request{Attempt: 2}, true},
		{"a retry count that is none", "POST", "/responses", `{}`, "x", provider.Request{}, true},
		{"a count of tokens", "POST", "/v1/responses/input_tokens", `{"model":"m","input":"12345"}`, "",
			provider.Request{Model: "m", Fixed: []byte(`{"object":"response.input_tokens","input_tokens":2}`)}, false},
		{"one model", "GET", "/v1/models/gpt-x", ``, "", provider.Request{Fixed: []byte(`{"id":"gpt-x","object":"model","created":1700000000,"owned_by":"stallwright"}`)}, false},
		{"all models", "GET", "/v1/models", ``, "", provider.Request{
			Fixed: []byte(`{"object":"list","data":[{"id":"gpt-x","object":"model","created":1700000000,"owned_by":"stallwright"}]}`)}, false},
		{"a model that is not there", "GET", "/v1/models/other", ``, "", provider.Request{Status: 404, Fixed: []byte(`{"error":` +
			`{"type":"invalid_request_error","code":"model_not_found","message":"The requested model 'other' does not exist.","param":null}}`)}, false},
		{"another path", "POST", "/v1/chat/completions", `{}`, "", provider.Request{}, false},
		{"a stored answer", "GET", "/v1/responses/resp_1", ``, "", provider.Request{}, false},
		{"a body that does not parse", "POST", "/responses", `{`, "", provider.Request{}, false},
		{"a body of the wrong type", "POST", "/responses", `{"model":1}`, "", provider.Request{}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, test.path, nil)
			if test.retry != "" {
				r.Header.Set("X-Stainless-Retry-Count", test.retry)
			}
			got, answer := responses.Dialect{}.Recognise(r, []byte(test.body))
			require.Equal(t, test.want, got)
			require.Equal(t, test.known, answer != nil)
		})
	}
	require.Equal(t, "responses", responses.Dialect{}.Name())
}

func recognised(t *testing.T, d responses.Dialect, body string) provider.Answer {
	t.Helper()
	_, answer := d.Recognise(httptest.NewRequest("POST", "/v1/responses", nil), []byte(body))
	require.NotNil(t, answer)
	return answer
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
			var got struct {
				Error  map[string]any
				Status int
			}
			require.NoError(t, json.Unmarshal(recognised(t, responses.Dialect{}, `{"model":"m"}`).Body(test.status, nil), &got))
			require.Len(t, got.Error, 4)
			require.NotEmpty(t, got.Error["message"])
			require.Equal(t, test.kind, got.Error["type"])
			require.Nil(t, got.Error["param"])
			if test.code == "" {
				require.Nil(t, got.Error["code"])
			} else {
				require.Equal(t, test.code, got.Error["code"])
			}
			require.Equal(t, test.status == 401, got.Status == 401)
		})
	}
	body := recognised(t, responses.Dialect{MaxPrompt: 1}, `{"model":"m","input":"0123456789"}`).Body(400, nil)
	require.Contains(t, string(body), `"code":"context_length_exceeded"`)
	body = recognised(t, responses.Dialect{}, `{}`).Body(400, []Step{Error{Message: "input[0]: unknown role"}})
	require.JSONEq(t, `{"error":{"type":"invalid_request_error","code":null,"message":"input[0]: unknown role","param":null}}`, string(body))
}

func TestHeaders(t *testing.T) {
	tests := []struct {
		name   string
		status int
		stream bool
		want   map[string]string // no text is no header
	}{
		{"a stream", 200, true, map[string]string{"Content-Type": "text/event-stream; charset=utf-8", "Openai-Version": "2020-10-01", "Retry-After": ""}},
		{"a body", 200, false, map[string]string{"Content-Type": "application/json", "X-Ratelimit-Reset-Tokens": "1s"}},
		{"401", 401, false, map[string]string{"Content-Type": "text/plain; charset=utf-8"}},
		{"429", 429, false, map[string]string{"Content-Type": "application/json", "Retry-After": "1"}},
		{"503", 503, false, map[string]string{"Retry-After": "1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := http.Header{}
			recognised(t, responses.Dialect{}, `{}`).Header(h, test.status, test.stream)
			require.Regexp(t, "^req_[0-9a-f]{32}$", h.Get("X-Request-Id"))
			for name, want := range test.want {
				require.Equal(t, want, h.Get(name), name)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	const user, call, output = `{"role":"user","content":"hi"}`, `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"c1","output":""}`
	list := func(items ...string) string { return "[" + strings.Join(items, ",") + "]" }
	tests := []struct {
		name, input, rest string
		want              string // what the reason has; empty is fine
	}{
		{"a text", `"hi"`, ``, ""},
		{"a message", list(user), ``, ""},
		{"a call and its output", list(user, call, output), ``, ""},
		{"calls whose outputs come in any order", list(call, `{"type":"function_call","call_id":"c2","name":"f","arguments":""}`,
			`{"type":"function_call_output","call_id":"c2","output":[]}`, output), ``, ""},
		{"reasoning and other items", list(`{"type":"reasoning","id":"rs_1","summary":[]}`, `{"type":"item_reference","id":"msg_1"}`, user), ``, ""},
		{"an output whose call is stored", list(output), `,"previous_response_id":"resp_1"`, ""},
		{"no input, where an answer is stored", `null`, `,"conversation":"conv_1"`, ""},
		{"no input", `null`, ``, "'input'"},
		{"an empty input", `""`, ``, "'input'"},
		{"an input of no items", `[ ]`, ``, "'input'"},
		{"an input of the wrong type", `{}`, ``, "want a text or items"},
		{"an item of the wrong type", `[1]`, ``, "input: "},
		{"an unknown role", list(`{"role":"tool","content":"x"}`), ``, `unknown role "tool"`},
		{"an empty message", list(`{"type":"message","role":"user","content":""}`), ``, "role user without content"},
		{"a call without its output", list(call, user), ``, `calls ["c1"] have no output`},
		{"an output without its call", list(output), ``, `an output for call "c1"`},
		{"an output that comes twice", list(call, output, output), ``, `an output for call "c1"`},
		{"a stored call whose output comes twice", list(output, output), `,"previous_response_id":"resp_1"`, `an output for call "c1"`},
		{"an output without content", list(call, `{"type":"function_call_output","call_id":"c1"}`), ``, "without content"},
		{"an id that comes twice", list(call, output, call, output), ``, `call id "c1" is empty or taken`},
		{"a call without a name", list(`{"type":"function_call","call_id":"c","arguments":""}`), ``, "has no name"},
		{"a call without arguments", list(`{"type":"function_call","call_id":"c","name":"f"}`), ``, "has no arguments"},
		{"tools of two names", `"hi"`, `,"tools":[{"type":"function","name":"f"},{"type":"function","name":"g"},{"type":"web_search"}]`, ""},
		{"tools of one name", `"hi"`, `,"tools":[{"type":"function","name":"f"},{"type":"function","name":"f"}]`, `name "f"`},
		{"a tool in the form of Chat Completions", `"hi"`, `,"tools":[{"type":"function","function":{"name":"f"}}]`, `name ""`},
		{"tools that are no list", `"hi"`, `,"tools":{}`, "tools: "},
		{"a long prompt", `"` + strings.Repeat("x", 4000) + `"`, ``, "of at most 1000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body := fmt.Sprintf(`{"model":"m","input":%s%s}`, test.input, test.rest)
			status, why := responses.Dialect{MaxPrompt: 1000}.Validate(httptest.NewRequest("POST", "/v1/responses", nil), []byte(body))
			if test.want == "" {
				require.Zero(t, status, why)
				return
			}
			require.Equal(t, 400, status)
			require.Contains(t, why, test.want)
		})
	}
	var _ provider.Validator = responses.Dialect{}
	status, why := responses.Dialect{}.Validate(httptest.NewRequest("POST", "/v1/responses", nil), []byte(`{"input":"hi"}`))
	require.Equal(t, []any{400, "Missing required parameter: 'model'."}, []any{status, why})
	status, _ = responses.Dialect{}.Validate(httptest.NewRequest("POST", "/v1/responses", nil), []byte(`{`))
	require.Equal(t, 400, status)
	status, _ = responses.Dialect{}.Validate(httptest.NewRequest("GET", "/v1/models", nil), nil)
	require.Zero(t, status)
}

// What a stream keeps of itself is bounded, and so is what it repeats of the request.
func TestBounds(t *testing.T) {
	answer := recognised(t, responses.Dialect{}, `{"instructions":"`+strings.Repeat("x", 1<<20)+`"}`)
	require.Less(t, len(answer.Append(nil, Role{}, 0)), 10_000)
	chunk := strings.Repeat("y", 1<<18)
	for range 8 {
		b := answer.Append(nil, Text{Chunks: []string{chunk}}, 0)
		require.Contains(t, string(b), chunk)
	}
	require.Less(t, len(answer.Append(nil, Done{}, 0)), 5<<20)
}

// Through a provider: a status in place of an answer, and what a strict session refuses.
func TestRefusals(t *testing.T) {
	p := &provider.Provider{Dialects: []provider.Dialect{responses.Dialect{}}, Fallback: &provider.Session{
		Strict: true, Script: Script{{Steps: []Step{fault.Status{Code: 429}}}},
	}}
	defer p.Close()
	s := httptest.NewServer(p)
	defer s.Close()
	ask := func(body string) (*http.Response, string) {
		resp, err := s.Client().Post(s.URL+"/v1/responses", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp, string(b)
	}
	resp, body := ask(`{"model":"m","input":[{"role":"bot","content":"hi"}]}`)
	require.Equal(t, 400, resp.StatusCode)
	require.JSONEq(t, `{"error":{"type":"invalid_request_error","code":null,"message":"input[0]: unknown role \"bot\"","param":null}}`, body)
	resp, body = ask(`{"model":"m","input":"hi","stream":true}`)
	require.Equal(t, 429, resp.StatusCode)
	require.Equal(t, "1", resp.Header.Get("Retry-After"))
	require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
	require.Contains(t, body, `"code":"rate_limit_exceeded"`)
}
