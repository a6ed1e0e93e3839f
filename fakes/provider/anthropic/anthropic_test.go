package anthropic_test

import (
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

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/anthropic"
	"github.com/stallwright/stallwright/fakes/provider/fixture"
	. "github.com/stallwright/stallwright/fakes/script"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

const redacted = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"c2VhbGVk\"}}\n\n" +
	"event: ping\ndata: {\"type\":\"ping\"}\n\n" +
	"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"

// fixtures are the programs that answer the requests in testdata. The first line of each file says what it proves.
var fixtures = []struct {
	name  string
	steps []Step
}{
	{"text", []Step{Role{}, Text{Chunks: []string{"Hel", "lo \"you\"\n"}}, Usage{Prompt: 9, Completion: 2}, Finish{Reason: "stop"}, Done{}}},
	{"answer", Answer("Hi").Steps},
	{"no-role", []Step{Text{Chunks: []string{"Hi"}}, Finish{Reason: "stop"}, Done{}}},
	{"usage-first", []Step{Usage{Prompt: 12, Completion: 7, Cached: 4, Reasoning: 5}, Role{}, Text{Chunks: []string{"Hi"}}, Finish{Reason: "stop"}, Done{}}},
	{"thinking", []Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Usage{Prompt: 9, Completion: 6, Reasoning: 4}, Finish{Reason: "stop"}, Done{}}},
	{"thinking-omitted", []Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Done{}}},
	{"thinking-redacted", []Step{Role{}, Raw{Bytes: redacted}, Finish{Reason: "stop"}, Done{}}},
	{"tool", []Step{Role{}, Tool{ID: "toolu_1", Name: "f", Args: []string{`{"x"`, `:1}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tools", []Step{Role{}, Text{Chunks: []string{"Let me look."}}, Tool{ID: "toolu_1", Name: "f"},
		Tool{Index: 1, ID: "toolu_2", Name: "g", Args: []string{`{"y"`, `:2}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tool-chunks", []Step{Role{},
		ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Is("toolu_1"), Type: Is("function"), Name: Is("f"), Args: Is("")}, {Index: Is("1"), ID: Null(), Name: Is("g")}}},
		ToolChunk{Parts: []ToolPart{{Index: Is("0"), Args: Is(`{"x":`)}, {Index: Is("1"), ID: Is("again"), Args: Is(`{}`)}, {Index: Is("0"), Args: Is("1}")}, {Args: Null()}}},
		Finish{Reason: "tool_calls"}, Done{}}},
	{"refusal", []Step{Role{}, Text{Chunks: []string{"Well, "}}, Refusal{Chunks: []string{"I will", " not."}}, Finish{Reason: "stop"}, Done{}}},
	{"length", []Step{Role{}, Tool{ID: "toolu_1", Name: "f", Args: []string{`{"x"`}}, Finish{Reason: "length"}, Done{}}},
	{"stop-sequence", []Step{Role{}, Text{Chunks: []string{"a"}}, Finish{Reason: "stop_sequence"}, Done{}}},
	{"error", []Step{Role{}, Text{Chunks: []string{"Hel"}}, Error{Type: "overloaded_error", Message: "Overloaded"}, End{}}},
	{"error-first", []Step{Error{Type: "overloaded_error", Message: "Overloaded"}, End{}}},
	{"error-forms", []Step{Role{}, Error{Code: "x", Form: DataForm}, Error{Message: "m", Form: FlatForm}, Error{Form: ChoicesForm}, End{}}},
	{"no-output", []Step{Ping{}, Role{}, Comment{Text: "one\ntwo"}, Empty{}, Empty{}, Message{}, Think{Chunks: []string{"hm"}}, Empty{}, Tool{ID: "t", Name: "f"}, Empty{}, Ping{}, Done{}}},
	{"unfinished", []Step{Role{}, Text{Chunks: []string{"a"}}, Usage{Prompt: 9, Completion: 3}, Done{}}},
}

func TestFixtures(t *testing.T) {
	fixture.All(t, len(fixtures))
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			fixture.Compare(t, f.name, *update, func(request []byte) []txtar.File {
				streaming, whole := play(t, f.steps, request)
				return []txtar.File{{Name: "streaming", Data: streaming}, {Name: "non-streaming", Data: append(whole, '\n')}}
			})
		})
	}
}

// play sends the request as it is and then without a stream.
func play(t *testing.T, steps []Step, request []byte) (streaming, whole []byte) {
	t.Helper()
	streaming, whole = fixture.Both(t, anthropic.Dialect{}, steps, "/v1/messages", request)
	requireEvents(t, string(streaming))
	return streaming, whole
}

// requireEvents checks what holds for every stream: the event's name is the type in its JSON.
func requireEvents(t *testing.T, stream string) {
	t.Helper()
	for e := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		if strings.HasPrefix(e, ":") || strings.HasPrefix(e, "data: ") {
			continue
		}
		name, data, found := strings.Cut(e, "\ndata: ")
		require.True(t, found, e)
		var got struct{ Type string }
		require.NoError(t, json.Unmarshal([]byte(data), &got), data)
		if name != "event: error" {
			require.Equal(t, "event: "+got.Type, name)
		}
	}
}

// assembled is what a client makes of a stream.
type assembled struct {
	text, thought, signature, stop string
	tools                          []string
	input, cached, output, thinks  int
	blocks, pings                  int
	done                           bool
}

func assemble(t *testing.T, stream string) (got assembled) {
	t.Helper()
	open := map[int]string{}
	for e := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		_, data, _ := strings.Cut(e, "data: ")
		var m struct {
			Type  string
			Index int
			Block struct{ Type, ID, Name string } `json:"content_block"`
			Delta struct {
				Type, Text, Thinking, Signature string
				Partial                         string `json:"partial_json"`
				Stop                            string `json:"stop_reason"`
			}
			Usage struct {
				Input   int `json:"input_tokens"`
				Cached  int `json:"cache_read_input_tokens"`
				Output  int `json:"output_tokens"`
				Details struct {
					Thinking int `json:"thinking_tokens"`
				} `json:"output_tokens_details"`
			}
		}
		require.NoError(t, json.Unmarshal([]byte(data), &m), data)
		switch m.Type {
		case "content_block_start":
			require.Equal(t, got.blocks, m.Index, "no gap")
			got.blocks++
			open[m.Index] = m.Block.Type
			if m.Block.Type == "tool_use" {
				got.tools = append(got.tools, m.Block.ID+" "+m.Block.Name+" ")
			}
		case "content_block_delta":
			require.NotEmpty(t, open[m.Index], data)
			got.text += m.Delta.Text
			got.thought += m.Delta.Thinking
			got.signature += m.Delta.Signature
			if m.Delta.Type == "input_json_delta" {
				got.tools[len(got.tools)-1] += m.Delta.Partial
			}
		case "content_block_stop":
			require.NotEmpty(t, open[m.Index], data)
			delete(open, m.Index)
		case "message_delta":
			require.Empty(t, open)
			got.stop, got.input, got.cached, got.output, got.thinks = m.Delta.Stop, m.Usage.Input, m.Usage.Cached, m.Usage.Output, m.Usage.Details.Thinking
		case "message_stop":
			got.done = true
		case "ping":
			got.pings++
		}
	}
	return got
}

func TestRoundTrip(t *testing.T) {
	_, answer := anthropic.Dialect{}.Recognise(httptest.NewRequest("POST", "/v1/messages", nil), []byte(`{"model":"m\"","stream":true}`))
	var b []byte
	for _, step := range []Step{
		Role{}, Think{Chunks: []string{"h", "m"}}, Text{Chunks: []string{"a\u2028\x01"}}, Text{Chunks: []string{"é\\"}},
		Tool{ID: "c", Name: "f", Args: []string{`{"a":`, `"\""}`}}, Tool{ID: "d", Name: "g", Args: []string{"{}"}}, Think{Chunks: []string{"!"}},
		Finish{Reason: "tool_calls"}, Usage{Prompt: 9, Completion: 4, Cached: 3, Reasoning: 2}, Done{},
	} {
		b = render(b, answer, step)
	}
	got := assemble(t, string(b))
	require.NotEmpty(t, got.signature)
	got.signature = ""
	require.Equal(t, assembled{
		text: "a\u2028\x01é\\", thought: "hm!", stop: "tool_use", tools: []string{`c f {"a":"\""}`, "d g {}"},
		input: 6, cached: 3, output: 4, thinks: 2, blocks: 5, pings: 1, done: true,
	}, got)
}

// Keepalives are of the block that is open when they are due.
func TestKeepalives(t *testing.T) {
	for _, form := range []Form{PingForm, EmptyForm, CommentForm} {
		t.Run(string(form), func(t *testing.T) {
			stream, _ := play(t, []Step{
				Role{}, Keepalive{Form: form, Every: 5 * time.Second}, Pause{For: 12 * time.Second}, Think{Chunks: []string{"hm"}}, Pause{For: 10 * time.Second},
				Tool{ID: "a", Name: "f", Args: []string{"{}"}}, Pause{For: 10 * time.Second}, Finish{Reason: "tool_calls"}, Pause{For: 10 * time.Second}, Done{},
			}, []byte(`{"model":"m","stream":true}`))
			var events []string // without comments
			for e := range strings.SplitSeq(strings.TrimSuffix(string(stream), "\n\n"), "\n\n") {
				if !strings.HasPrefix(e, ":") {
					events = append(events, e)
				}
			}
			got := assemble(t, strings.Join(events, "\n\n"))
			require.Equal(t, []any{"", "hm", []string{"a f {}"}, "tool_use", true}, []any{got.text, got.thought, got.tools, got.stop, got.done})
		})
	}
}

func TestStrict(t *testing.T) {
	p := &provider.Provider{Dialects: []provider.Dialect{anthropic.Dialect{}}, Fallback: &provider.Session{Script: Script{{Times: Any, Steps: Answer("Hi").Steps}}, Strict: true}}
	defer p.Close()
	for _, test := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"a request that is fine", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`, 200, `"text":"Hi"`},
		{"one without max_tokens", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: required"},"request_id":"req_011C`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(test.body))
			r.Header.Set("x-api-key", "k")
			r.Header.Set("anthropic-version", "2023-06-01")
			s := httptest.NewServer(p)
			defer s.Close()
			r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", strings.TrimPrefix(s.URL, "http://")
			resp, err := s.Client().Do(r)
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, test.status, resp.StatusCode)
			require.Contains(t, string(body), test.want)
		})
	}
}

func render(b []byte, answer provider.Answer, step Step) []byte {
	n := 1
	switch s := step.(type) {
	case Text:
		n = len(s.Chunks)
	case Think:
		n = len(s.Chunks)
	case Refusal:
		n = len(s.Chunks)
	case Tool:
		n = 1 + len(s.Args)
	}
	for i := range n {
		b = answer.Append(b, step, i)
	}
	return b
}

func TestHeaders(t *testing.T) {
	_, answer := anthropic.Dialect{}.Recognise(httptest.NewRequest("POST", "/v1/messages", nil), []byte(`{}`))
	tests := []struct {
		name                                 string
		status                               int
		stream                               bool
		content, retryAfter, retry, requests string
	}{
		{"a stream", 200, true, "text/event-stream; charset=utf-8", "", "", "3960"},
		{"a body", 200, false, "application/json", "", "", "3960"},
		{"too many requests", 429, false, "application/json", "1", "true", "0"},
		{"overload", 529, false, "application/json", "", "true", "3960"},
		{"a bad request", 400, false, "application/json", "", "false", "3960"},
		{"a bad key has no request id and no limits", 401, false, "application/json", "", "false", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := http.Header{}
			answer.Header(h, test.status, test.stream)
			require.Equal(t, []string{test.content, test.retryAfter, test.retry, test.requests},
				[]string{h.Get("content-type"), h.Get("retry-after"), h.Get("x-should-retry"), h.Get("anthropic-ratelimit-requests-remaining")})
			if test.status == 401 {
				require.Empty(t, h.Get("request-id"))
				return
			}
			require.Regexp(t, "^req_011C[0-9a-f]{16}$", h.Get("request-id"))
			for _, limit := range []string{"requests", "tokens", "input-tokens", "output-tokens"} {
				require.NotEmpty(t, h.Get("anthropic-ratelimit-"+limit+"-limit"))
				require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`, h.Get("anthropic-ratelimit-"+limit+"-reset"))
			}
		})
	}
}

func TestRecognise(t *testing.T) {
	tests := []struct {
		name, method, path, body, retry string
		want                            provider.Request
		known                           bool
	}{
		{"a stream", "POST", "/v1/messages", `{"model":"m","stream":true}`, "", provider.Request{Model: "m", Stream: true}, true},
		{"no stream, when it does not say", "POST", "/messages", `{"model":"m"}`, "", provider.Request{Model: "m"}, true},
		{"the second attempt", "POST", "/v1/messages", `{}`, "1", provider.Request{Attempt: 2}, true},
		{"a retry count that is none", "POST", "/v1/messages", `{}`, "-1", provider.Request{}, true},
		{"nulls", "POST", "/v1/messages", `{"model":"m","thinking":null,"stop_sequences":null,"stream":null}`, "", provider.Request{Model: "m"}, true},
		{"a count of tokens", "POST", "/v1/messages/count_tokens", `{"messages":[]}`, "", provider.Request{Fixed: []byte(`{"input_tokens":3}`)}, false},
		{"another path", "POST", "/v1/chat/completions", `{}`, "", provider.Request{}, false},
		{"batches", "POST", "/v1/messages/batches", `{}`, "", provider.Request{}, false},
		{"another method", "GET", "/v1/messages", ``, "", provider.Request{}, false},
		{"a body that does not parse", "POST", "/v1/messages", `{`, "", provider.Request{}, false},
		{"a list of models for another dialect", "GET", "/v1/models", ``, "", provider.Request{}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, test.path, nil)
			if test.retry != "" {
				r.Header.Set("X-Stainless-Retry-Count", test.retry)
			}
			got, answer := anthropic.Dialect{}.Recognise(r, []byte(test.body))
			require.Equal(t, test.want, got)
			require.Equal(t, test.known, answer != nil)
		})
	}
	r := httptest.NewRequest("GET", "/v1/models", nil)
	r.Header.Set("anthropic-version", "2023-06-01")
	models, answer := anthropic.Dialect{Models: []string{"a", "b"}}.Recognise(r, nil)
	require.Nil(t, answer)
	require.JSONEq(t, `{"data":[{"type":"model","id":"a","display_name":"a","created_at":"2026-01-01T00:00:00Z"},
		{"type":"model","id":"b","display_name":"b","created_at":"2026-01-01T00:00:00Z"}],"has_more":false,"first_id":"a","last_id":"b"}`, string(models.Fixed))
	for _, test := range []struct {
		name, path, want string
		status           int
	}{
		{"one of them", "/v1/models/claude-x", `{"type":"model","id":"claude-x","display_name":"claude-x","created_at":"2026-01-01T00:00:00Z"}`, 0},
		{"one that is not there", "/v1/models/x", `{"type":"error","error":{"type":"not_found_error","message":"model: x"},"request_id":"req_011C8000000000000000"}`, 404},
		{"another path", "/v1/messages/batches", ``, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", test.path, nil)
			r.Header.Set("anthropic-version", "2023-06-01")
			got, answer := anthropic.Dialect{}.Recognise(r, nil)
			require.Nil(t, answer)
			require.Equal(t, test.want, string(got.Fixed))
			require.Equal(t, test.status, got.Status)
		})
	}
}

func TestErrorBodies(t *testing.T) {
	for status, kind := range map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
		408: "timeout_error", 409: "conflict_error", 413: "request_too_large", 422: "invalid_request_error", 429: "rate_limit_error",
		500: "api_error", 502: "api_error", 503: "api_error", 504: "timeout_error", 529: "overloaded_error",
	} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			_, answer := anthropic.Dialect{}.Recognise(httptest.NewRequest("POST", "/messages", nil), []byte(`{"model":"m"}`))
			var got struct {
				Type  string
				Error map[string]string
				ID    *string `json:"request_id"`
			}
			require.NoError(t, json.Unmarshal(answer.Body(status, nil), &got))
			require.Equal(t, "error", got.Type)
			require.Len(t, got.Error, 2)
			require.Equal(t, kind, got.Error["type"])
			require.NotEmpty(t, got.Error["message"])
			require.Equal(t, status == 401, got.ID == nil)
		})
	}
}

func TestFramesAllocateNothing(t *testing.T) {
	_, answer := anthropic.Dialect{}.Recognise(httptest.NewRequest("POST", "/messages", nil), []byte(`{"model":"m"}`))
	var step Step = Text{Chunks: []string{"some text"}}
	b := answer.Append(nil, step, 0)
	require.Zero(t, testing.AllocsPerRun(100, func() { b = answer.Append(b[:0], step, 0) }))
}

func TestValidate(t *testing.T) {
	const call = `{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]}`
	const resultA, resultB = `{"type":"tool_result","tool_use_id":"a","content":""}`, `{"type":"tool_result","tool_use_id":"b"}`
	with := func(messages string) string { return `{"model":"m","max_tokens":1,"messages":[` + messages + `]}` }
	tests := []struct {
		name, body, why string
	}{
		{"a text", with(`{"role":"user","content":"hi"}`), ""},
		{"both results in one message", with(call + `,{"role":"user","content":[` + resultA + `,` + resultB + `,{"type":"text","text":"go on"}]}`), ""},
		{"results in two messages are one turn", with(call + `,{"role":"user","content":[` + resultA + `]},{"role":"user","content":[` + resultB + `]}`), ""},
		{"two messages of one role are one turn", with(`{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":[]}`), ""},
		{"blocks that are not known here", with(`{"role":"user","content":[{"type":"image","source":{}}]}`), ""},
		{"no model", `{"max_tokens":1,"messages":[]}`, "model: required"},
		{"no max_tokens", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, "max_tokens: required"},
		{"max_tokens of 0", `{"model":"m","max_tokens":0}`, "max_tokens: 0: want 1 or more"},
		{"no messages", with(``), "messages: at least one is required"},
		{"a role that is none", with(`{"role":"tool","content":"hi"}`), `messages.0.role: "tool": want user or assistant`},
		{"a role of a later version", with(`{"role":"system","content":"hi"}`), `messages.0.role: system is a member of its own in this version`},
		{"an empty message", with(`{"role":"user","content":""}`), "messages.0.content: empty"},
		{"an empty text", with(`{"role":"user","content":[{"type":"text","text":" "}]}`), "messages.0.content.0.text: empty"},
		{"an empty answer that is not the last", with(`{"role":"assistant","content":[]},{"role":"user","content":"hi"}`), "messages.0.content: empty"},
		{"a block without a type", with(`{"role":"user","content":[{"text":"a"}]}`), "messages.0.content.0.type: required"},
		{"a call by the user", with(`{"role":"user","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`), "messages.0.content.0: a tool_use that is not of the assistant"},
		{"a call without an id", with(`{"role":"assistant","content":[{"type":"tool_use","name":"f","input":{}}]}`), "messages.0.content.0.id: required"},
		{"arguments as text", with(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"{}"}]}`), "messages.0.content.0.input: want an object"},
		{"an id that stands twice", with(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"a","name":"f","input":{}}]}`), `messages.0.content.1.id: "a" stands twice`},
		{"a result by the assistant", with(`{"role":"assistant","content":[` + resultA + `]}`), "messages.0.content.0: a tool_result that is not of the user"},
		{"a call without a result", with(call + `,{"role":"user","content":[` + resultA + `]}`), `messages.2: no tool_result for the tool_use of the turn before: "b"`},
		{"a call that is the last", with(call), `messages: the last has a tool_use without a tool_result: "a"`},
		{"a result without a call", with(`{"role":"user","content":[` + resultA + `]}`), `messages.0: tool_result without its tool_use in the turn before, or the second for it: "a"`},
		{"two results for a call", with(call + `,{"role":"user","content":[` + resultA + `,` + resultA + `]}`), `messages.2: tool_result without its tool_use in the turn before, or the second for it: "a"`},
		{"a result behind a text", with(call + `,{"role":"user","content":[{"type":"text","text":"x"},` + resultA + `,` + resultB + `]}`), `messages.2: tool_result behind other content: "a"`},
		{"two tools of one name", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f"},{"name":"f"}]}`, `tools.1.name: "f" stands twice`},
		{"a tool without a name", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}],"tools":[{}]}`, `tools.0.name: required`},
		{"a member of another type", `{"max_tokens":"1"}`, "body: json: cannot unmarshal string into Go struct field request.max_tokens of type int"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/v1/messages", nil)
			r.Header.Set("x-api-key", "k")
			r.Header.Set("anthropic-version", "2023-06-01")
			status, why := anthropic.Dialect{}.Validate(r, []byte(test.body))
			require.Equal(t, test.why, why)
			if why == "" {
				require.Zero(t, status)
			} else {
				require.Equal(t, 400, status)
			}
		})
	}
}

func TestValidateHeaders(t *testing.T) {
	const good = `{"model":"m","max_tokens":1,"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`
	tests := []struct {
		name   string
		path   string
		header map[string]string
		status int
		why    string
	}{
		{"the later generation", "/v1/messages", map[string]string{"Authorization": "Bearer k", "Anthropic-Version": "2026-10-21"}, 0, ""},
		{"the earlier generation", "/v1/messages", map[string]string{"X-Api-Key": "k", "Anthropic-Version": "2023-06-01"}, 400, "messages.0.role: system is a member of its own in this version"},
		{"no key", "/v1/messages", map[string]string{"Anthropic-Version": "2026-10-21"}, 401, "no x-api-key and no bearer token"},
		{"an empty bearer token", "/v1/messages", map[string]string{"Authorization": "Bearer ", "Anthropic-Version": "2026-10-21"}, 401, "no x-api-key and no bearer token"},
		{"no version", "/v1/messages", map[string]string{"X-Api-Key": "k"}, 400, "no anthropic-version header"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", test.path, nil)
			for name, value := range test.header {
				r.Header.Set(name, value)
			}
			status, why := anthropic.Dialect{}.Validate(r, []byte(good))
			require.Equal(t, []any{test.status, test.why}, []any{status, why})
		})
	}
	r := httptest.NewRequest("POST", "/v1/messages/count_tokens", nil)
	r.Header.Set("x-api-key", "k")
	r.Header.Set("anthropic-version", "2023-06-01")
	status, why := anthropic.Dialect{}.Validate(r, []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	require.Zero(t, status, why)
}
