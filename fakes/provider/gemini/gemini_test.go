package gemini_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/fixture"
	"github.com/stallwright/stallwright/fakes/provider/gemini"
	. "github.com/stallwright/stallwright/fakes/script"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

// fixtures are the programs that answer the requests in testdata. The first line of each file says what it proves.
var fixtures = []struct {
	name  string
	steps []Step
}{
	{"text", []Step{Role{}, Text{Chunks: []string{"Hel", "lo \"you\" <b>\n"}}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 2}, Done{}}},
	{"usage", []Step{Usage{Prompt: 20, Completion: 12, Reasoning: 5, Cached: 8}, Text{Chunks: []string{"Hi"}}, Finish{Reason: "stop"}, Done{}}},
	{"length", []Step{Text{Chunks: []string{"Hi"}}, Finish{Reason: "length"}, Usage{Prompt: 9, Completion: 1}, Done{}}},
	{"reasoning", []Step{Think{Chunks: []string{"**Plan**\n\nLet me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 30, Reasoning: 29}, Done{}}},
	{"reasoning-unasked", []Step{Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Done{}}},
	{"tool", []Step{Tool{ID: "call_1", Name: "f", Args: []string{`{"x"`, ` : 1}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tools", []Step{Text{Chunks: []string{"Both."}}, Tool{ID: "call_1", Name: "f"}, Tool{Index: 1, Name: "g", Args: []string{`{"y"`, `:2}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tools-in-one-chunk", []Step{ToolChunk{Parts: []ToolPart{
		{Index: Is("0"), Name: Is("f"), Args: Is(`{"x":1}`)}, {ID: Is("call_2"), Name: Is("g"), Args: Null()}, {Args: Is(`{"cut`)}, {Type: Is("function")},
	}}, ToolChunk{Parts: []ToolPart{{Args: Is(`"`)}}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tool-cut", []Step{Tool{ID: "call_1", Name: "f", Args: []string{`{"x"`}}, Finish{Reason: "length"}, Done{}}},
	{"tool-malformed", []Step{Tool{ID: "call_1", Name: "f", Args: []string{`["x"]`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"refusal", []Step{Refusal{Chunks: []string{"I ", "cannot."}}, Finish{Reason: "refusal"}, Done{}}},
	{"blocked", []Step{Role{}, Finish{Reason: "content_filter"}, Usage{Prompt: 4}, Done{}}},
	{"other-reason", []Step{Text{Chunks: []string{"Once"}}, Finish{Reason: "RECITATION"}, Done{}}},
	{"error", []Step{Text{Chunks: []string{"Hel"}}, Error{Type: "overloaded_error", Message: "The model is overloaded."}, End{}}},
	{"no-output", []Step{Role{}, Comment{Text: "one\ntwo"}, Ping{}, Empty{}, Message{}, Finish{}, Done{}}},
	{"cut-array", []Step{Text{Chunks: []string{"Hel"}}, End{}}},
}

func TestFixtures(t *testing.T) {
	fixture.All(t, len(fixtures))
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			fixture.Compare(t, f.name, *update, func(request []byte) (files []txtar.File) {
				for _, way := range []struct{ name, verb string }{
					{"streaming", "streamGenerateContent?alt=sse"}, {"array", "streamGenerateContent"}, {"non-streaming", "generateContent"},
				} {
					_, header, body := ask(t, f.steps, way.verb, string(request))
					switch way.name {
					case "streaming":
						require.Equal(t, "text/event-stream", header.Get("Content-Type"))
					case "non-streaming":
						require.True(t, json.Valid(body), string(body))
						fallthrough
					case "array":
						require.Equal(t, "application/json; charset=UTF-8", header.Get("Content-Type"))
					}
					if way.name == "array" && f.name != "error" && f.name != "cut-array" { // those have no Done
						require.True(t, json.Valid(body), string(body))
					}
					body = []byte(strings.ReplaceAll(string(body), "\r", "\\r")) // txtar is text
					if way.name != "streaming" {
						body = append(body, '\n')
					}
					files = append(files, txtar.File{Name: way.name, Data: body})
				}
				return files
			})
		})
	}
}

// ask sends one request to a provider that plays the steps.
func ask(t *testing.T, steps []Step, verb, request string) (status int, header http.Header, body []byte) {
	t.Helper()
	r := fixture.Ask(t, gemini.Dialect{}, steps, "/v1beta/models/gemini-x:"+verb, request)[0]
	require.NoError(t, r.Err)
	return r.StatusCode, r.Header, r.Bytes
}

func TestRecognise(t *testing.T) {
	tests := []struct {
		name, method, path, body string
		want                     provider.Request
		known                    bool
	}{
		{"a stream", "POST", "/v1beta/models/m:streamGenerateContent?alt=sse", `{}`, provider.Request{Model: "m", Stream: true}, true},
		{"a stream as an array", "POST", "/v1/models/m:streamGenerateContent", `{}`, provider.Request{Model: "m", Stream: true}, true},
		{"no stream", "POST", "/v1beta/models/m:generateContent?key=k", `{}`, provider.Request{Model: "m"}, true},
		{"Vertex", "POST", "/v1/projects/p/locations/l/publishers/google/models/m:generateContent", `{}`, provider.Request{Model: "m"}, true},
		{"a tuned model", "POST", "/v1beta/tunedModels/x:generateContent", `{}`, provider.Request{Model: "tunedModels/x"}, true},
		{"a model with a colon and a slash", "POST", "/v1beta/models/a/b:c:generateContent", `{}`, provider.Request{Model: "a/b:c"}, true},
		{"an endpoint", "POST", "/v1/projects/p/endpoints/7:generateContent", `{}`, provider.Request{Model: "7"}, true},
		{"nulls", "POST", "/v1beta/models/m:generateContent", `{"generationConfig":null,"safetySettings":null}`, provider.Request{Model: "m"}, true},
		{"another verb", "POST", "/v1beta/models/m:embedContent", `{}`, provider.Request{}, false},
		{"a colon before the last segment", "POST", "/v1/m:streamGenerateContent/x", `{}`, provider.Request{}, false},
		{"no colon", "POST", "/v1/messages", `{}`, provider.Request{}, false},
		{"another method", "GET", "/v1beta/models/m:generateContent", ``, provider.Request{}, false},
		{"a body that does not parse", "POST", "/v1beta/models/m:generateContent", `{`, provider.Request{}, false},
		{"a count of tokens", "POST", "/v1beta/models/m:countTokens", `{}`, provider.Request{Fixed: []byte(`{"totalTokens":42}`)}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, answer := gemini.Dialect{}.Recognise(httptest.NewRequest(test.method, test.path, nil), []byte(test.body))
			if test.want.Fixed != nil {
				require.JSONEq(t, string(test.want.Fixed), string(got.Fixed))
				return
			}
			require.Equal(t, test.want, got)
			require.Equal(t, test.known, answer != nil)
		})
	}
	models, answer := gemini.Dialect{Models: []string{"a", "b"}}.Recognise(httptest.NewRequest("GET", "/v1beta/models", nil), nil)
	require.Nil(t, answer)
	require.JSONEq(t, `{"models":[{"name":"models/a","supportedGenerationMethods":["generateContent","countTokens"]},
		{"name":"models/b","supportedGenerationMethods":["generateContent","countTokens"]}]}`, string(models.Fixed))
	for _, test := range []struct {
		name, path, want string
		status           int
	}{
		{"one model", "/v1beta/models/gemini-x", `{"name":"models/gemini-x","supportedGenerationMethods":["generateContent","countTokens"]}`, 0},
		{"a model that is not there", "/v1beta/models/x",
			`{"error":{"code":404,"message":"models/x is not found for API version v1beta, or is not supported for generateContent.","status":"NOT_FOUND"}}`, 404},
		{"a method of a model", "/v1beta/models/x:generateContent", ``, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, answer := gemini.Dialect{}.Recognise(httptest.NewRequest("GET", test.path, nil), nil)
			require.Nil(t, answer)
			require.Equal(t, test.want, string(got.Fixed))
			require.Equal(t, test.status, got.Status)
		})
	}
	require.Equal(t, "gemini", gemini.Dialect{}.Name())
}

func recognised(t *testing.T, verb string) provider.Answer {
	t.Helper()
	_, answer := gemini.Dialect{}.Recognise(httptest.NewRequest("POST", "/v1beta/models/m:"+verb, nil), []byte(`{}`))
	require.NotNil(t, answer)
	return answer
}

func TestErrorBodies(t *testing.T) {
	tests := []struct {
		status int
		word   string
	}{
		{400, "INVALID_ARGUMENT"}, {401, "UNAUTHENTICATED"}, {403, "PERMISSION_DENIED"}, {404, "NOT_FOUND"}, {409, "ABORTED"},
		{413, "INVALID_ARGUMENT"}, {429, "RESOURCE_EXHAUSTED"}, {499, "CANCELLED"}, {500, "INTERNAL"}, {502, "UNAVAILABLE"},
		{503, "UNAVAILABLE"}, {504, "DEADLINE_EXCEEDED"}, {529, "UNAVAILABLE"}, {599, "INTERNAL"},
	}
	for _, test := range tests {
		t.Run(strconv.Itoa(test.status), func(t *testing.T) {
			type body struct {
				Error struct {
					Code            int
					Message, Status string
					Details         []map[string]any
				}
			}
			var got body
			require.NoError(t, json.Unmarshal(recognised(t, "streamGenerateContent?alt=sse").Body(test.status, nil), &got))
			require.Equal(t, test.status, got.Error.Code)
			require.Equal(t, test.word, got.Error.Status)
			require.NotEmpty(t, got.Error.Message)
			require.Equal(t, test.status == 429, got.Error.Details != nil)

			var list []body
			require.NoError(t, json.Unmarshal(recognised(t, "streamGenerateContent").Body(test.status, nil), &list))
			require.Equal(t, []body{got}, list, "an array of one")
		})
	}
}

// The status of an event stream that failed keeps its type, around JSON that is no event.
func TestStatusInPlaceOfAStream(t *testing.T) {
	status, header, body := ask(t, []Step{fault.Status{Code: 429}}, "streamGenerateContent?alt=sse", `{}`)
	require.Equal(t, 429, status)
	require.True(t, json.Valid(body), string(body))
	require.Empty(t, header.Get("Retry-After"), "the delay stands in the body")
	require.Contains(t, string(body), `"retryDelay":"1s"`)

	h := http.Header{}
	recognised(t, "streamGenerateContent?alt=sse").Header(h, 429, false)
	require.Equal(t, "text/event-stream", h.Get("Content-Type"))
	h = http.Header{}
	recognised(t, "streamGenerateContent?alt=sse").Header(h, 200, false)
	require.Equal(t, "application/json; charset=UTF-8", h.Get("Content-Type"), "a body that is no error")
	h = http.Header{}
	recognised(t, "generateContent").Header(h, 429, false)
	require.Equal(t, "application/json; charset=UTF-8", h.Get("Content-Type"))
}

func TestErrorFrames(t *testing.T) {
	tests := []struct {
		name string
		step Error
		want string
	}{
		{"nothing said", Error{}, `{"error":{"code":500,"message":"","status":"INTERNAL"}}`},
		{"the API's own word", Error{Type: "UNAVAILABLE", Message: "m"}, `{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}`},
		{"a number", Error{Code: "429", Message: "m"}, `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}`},
		{"a number and a word", Error{Code: "499", Type: "CANCELLED"}, `{"error":{"code":499,"message":"","status":"CANCELLED"}}`},
		{"a word that only looks like its own", Error{Type: "ODD"}, `{"error":{"code":500,"message":"","status":"INTERNAL"}}`},
		{"another dialect's type", Error{Type: "authentication_error"}, `{"error":{"code":401,"message":"","status":"UNAUTHENTICATED"}}`},
		{"another dialect's code", Error{Type: "server_error", Code: "rate_limit_exceeded"}, `{"error":{"code":429,"message":"","status":"RESOURCE_EXHAUSTED"}}`},
		{"a type that nobody knows", Error{Type: "server_error"}, `{"error":{"code":500,"message":"","status":"INTERNAL"}}`},
		{"flat", Error{Code: "503", Form: FlatForm}, `{"code":503,"message":"","status":"UNAVAILABLE"}`},
		{"a form of others", Error{Code: "503", Form: ChoicesForm}, `{"error":{"code":503,"message":"","status":"UNAVAILABLE"}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, "data: "+test.want+"\n\n", string(recognised(t, "streamGenerateContent?alt=sse").Append(nil, test.step, 0)))
			require.Equal(t, test.want, string(recognised(t, "generateContent").Body(200, []Step{test.step})))
		})
	}
}

// What a strict API refuses.
func TestValidate(t *testing.T) {
	const user = `{"role":"user","parts":[{"text":"hi"}]}`
	const call = `{"role":"model","parts":[{"functionCall":{"name":"f","args":{},"id":"1"}}]}`
	tests := []struct {
		name, body, why string
	}{
		{"a question", `{"contents":[` + user + `]}`, ""},
		{"a call and its result", `{"contents":[` + user + `,` + call + `,{"role":"user","parts":[{"functionResponse":{"name":"f","id":"1","response":{}}}]}]}`, ""},
		{"no role, and nulls", `{"contents":[{"parts":[{"text":"hi","functionCall":null}]}],"systemInstruction":null}`, ""},
		{"two results of one name without ids", `{"contents":[` + user + `,{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f"}},{"functionResponse":{"name":"f"}}]}]}`, ""},
		{"no JSON", `{`, "the body is not a request"},
		{"no contents", `{"contents":[]}`, "contents is not specified"},
		{"a role of others", `{"contents":[{"role":"assistant","parts":[{"text":"hi"}]}]}`, "want user or model"},
		{"no parts", `{"contents":[{"role":"user","parts":[]}]}`, "parts must not be empty"},
		{"a part that is only a mark", `{"contents":[{"role":"user","parts":[{"thought":true}]}]}`, "has no data"},
		{"a result without a call", `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f"}}]}]}`, "1 function responses to 0 function calls"},
		{"a call without a result", `{"contents":[` + user + `,` + call + `,` + user + `]}`, "0 function responses to 1 function calls"},
		{"a result without a name", `{"contents":[` + user + `,` + call + `,{"parts":[{"functionResponse":{}}]}]}`, "has no name"},
		{"a result of another call", `{"contents":[` + user + `,` + call + `,{"parts":[{"functionResponse":{"name":"f","id":"2"}}]}]}`, "answers no call"},
		{"a call that opens the conversation", `{"contents":[` + call + `]}`, "after a turn of the user"},
		{"a call of the user", `{"contents":[` + user + `,{"role":"user","parts":[{"functionCall":{"name":"f"}}]}]}`, "come from the model"},
		{"a call without a name", `{"contents":[` + user + `,{"role":"model","parts":[{"functionCall":7}]}]}`, "has no name"},
		{"two calls of one id", `{"contents":[` + user + `,{"role":"model","parts":[{"functionCall":{"name":"f","id":"1"}},{"functionCall":{"name":"f","id":"1"}}]}]}`, "is there twice"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, why := gemini.Dialect{}.Validate(nil, []byte(test.body))
			if test.why == "" {
				require.Zero(t, status, why)
				return
			}
			require.Equal(t, 400, status)
			require.Contains(t, why, test.why)
		})
	}
}

// A frame is one chunk, and the counts only grow.
func TestCountsGrow(t *testing.T) {
	answer := recognised(t, "streamGenerateContent?alt=sse")
	var last int
	for _, step := range []Step{Empty{}, Text{Chunks: []string{"a"}}, Tool{Name: "f"}, Finish{Reason: "stop"}} {
		frame := string(answer.Append(nil, step, 0))
		require.Equal(t, 1, strings.Count(frame, "data: "))
		require.True(t, strings.HasSuffix(frame, "}\n\n"))
		var chunk struct {
			UsageMetadata struct{ TotalTokenCount int }
			ResponseID    string
		}
		require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(frame, "data: ")), &chunk))
		require.GreaterOrEqual(t, chunk.UsageMetadata.TotalTokenCount, max(last, 9))
		last = chunk.UsageMetadata.TotalTokenCount
		require.Len(t, chunk.ResponseID, 16)
	}
	require.Equal(t, 11, last)
}
