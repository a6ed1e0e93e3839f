package ollama_test

import (
	"encoding/json"
	"flag"
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
	"github.com/stallwright/stallwright/fakes/provider/ollama"
	. "github.com/stallwright/stallwright/fakes/script"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

// fixtures are the programs that answer the requests in testdata. The first line of each file says what it proves.
var fixtures = []struct {
	name, path string
	steps      []Step
}{
	{"text", "/api/chat", []Step{Role{}, Text{Chunks: []string{"Hel", "lo \"you\" <b>\n"}, Every: 20 * time.Millisecond}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 2}, Done{}}},
	{"generate", "/api/generate", []Step{Think{Chunks: []string{"hm"}}, Tool{Name: "f"}, Text{Chunks: []string{"Hi"}}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 2}, Done{}}},
	{"length", "/api/chat", []Step{Text{Chunks: []string{"Hi"}}, Finish{Reason: "length"}, Usage{Prompt: 9, Completion: 1}, Done{}}},
	{"reasoning", "/api/chat", []Step{Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Done{}}},
	{"reasoning-off", "/api/chat", []Step{Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Done{}}},
	{"tool", "/api/chat", []Step{Tool{ID: "call_1", Name: "f", Args: []string{`{"x"`, ` : 1}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tools", "/api/chat", []Step{Text{Chunks: []string{"Both."}}, Tool{ID: "call_1", Name: "f"}, Tool{Index: 1, Name: "g", Args: []string{`{"y"`, `:2}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tools-in-one-line", "/api/chat", []Step{ToolChunk{Parts: []ToolPart{
		{Index: Is("3"), Name: Is("f"), Args: Is(`{"x":1}`)}, {ID: Is("call_2"), Name: Is("g"), Args: Null()}, {Index: Is("1"), Args: Is(`{"cut`)},
	}}, ToolChunk{Parts: []ToolPart{{Args: Is(`"`)}}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tool-cut", "/api/chat", []Step{Tool{ID: "call_1", Name: "f", Args: []string{`{"x"`}}, Finish{Reason: "length"}, Done{}}},
	{"refusal", "/api/chat", []Step{Refusal{Chunks: []string{"I ", "cannot."}}, Finish{Reason: "refusal"}, Done{}}},
	{"error", "/api/chat", []Step{Text{Chunks: []string{"Hel"}}, Error{Type: "server_error", Message: "model runner has stopped"}, End{}}},
	{"no-output", "/api/chat", []Step{Role{}, Comment{Text: "x"}, Ping{}, Empty{}, Message{}, Done{}}},
}

func TestFixtures(t *testing.T) {
	fixture.All(t, len(fixtures))
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			fixture.Compare(t, f.name, *update, func(request []byte) []txtar.File {
				_, header, streaming := ask(t, f.steps, f.path, string(request))
				require.Equal(t, "application/x-ndjson", header.Get("Content-Type"))
				for line := range strings.Lines(string(streaming)) {
					require.True(t, json.Valid([]byte(line)), line)
				}
				_, header, whole := ask(t, f.steps, f.path, strings.Replace(string(request), "{", `{"stream":false,`, 1))
				require.Equal(t, "application/json; charset=utf-8", header.Get("Content-Type"))
				require.True(t, json.Valid(whole), string(whole))
				return []txtar.File{{Name: "streaming", Data: streaming}, {Name: "non-streaming", Data: append(whole, '\n')}}
			})
		})
	}
}

// ask sends one request to a provider that plays the steps.
func ask(t *testing.T, steps []Step, path, request string) (status int, header http.Header, body []byte) {
	t.Helper()
	r := fixture.Ask(t, ollama.Dialect{}, steps, path, request)[0]
	require.NoError(t, r.Err)
	return r.StatusCode, r.Header, r.Bytes
}

func TestRecognise(t *testing.T) {
	tests := []struct {
		name, method, path, body string
		want                     provider.Request
		known                    bool
	}{
		{"a stream, when it does not say", "POST", "/api/chat", `{"model":"m","options":null}`, provider.Request{Model: "m", Stream: true}, true},
		{"a stream", "POST", "/api/chat", `{"model":"m","stream":true,"think":"high"}`, provider.Request{Model: "m", Stream: true}, true},
		{"a null is not said", "POST", "/api/chat", `{"model":"m","stream":null,"think":null}`, provider.Request{Model: "m", Stream: true}, true},
		{"no stream", "POST", "/api/generate", `{"model":"m","stream":false}`, provider.Request{Model: "m"}, true},
		{"below a prefix", "POST", "/up/api/generate", `{}`, provider.Request{Stream: true}, true},
		{"another path", "POST", "/api/embed", `{}`, provider.Request{}, false},
		{"another method", "GET", "/api/chat", ``, provider.Request{}, false},
		{"a body that does not parse", "POST", "/api/chat", `{`, provider.Request{}, false},
		{"a version", "GET", "/api/version", ``, provider.Request{Fixed: []byte(`{"version":"0.17.4"}`)}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, answer := ollama.Dialect{}.Recognise(httptest.NewRequest(test.method, test.path, nil), []byte(test.body))
			require.Equal(t, test.want, got)
			require.Equal(t, test.known, answer != nil)
		})
	}
	tags, answer := ollama.Dialect{Models: []string{"a", "b"}}.Recognise(httptest.NewRequest("GET", "/api/tags", nil), nil)
	require.Nil(t, answer)
	require.True(t, json.Valid(tags.Fixed))
	require.Contains(t, string(tags.Fixed), `"name":"b","model":"b"`)
	version, _ := ollama.Dialect{Version: "1"}.Recognise(httptest.NewRequest("GET", "/api/version", nil), nil)
	require.JSONEq(t, `{"version":"1"}`, string(version.Fixed))
	require.Equal(t, "ollama", ollama.Dialect{}.Name())
}

func recognised(t *testing.T, body string) provider.Answer {
	t.Helper()
	_, answer := ollama.Dialect{}.Recognise(httptest.NewRequest("POST", "/api/chat", nil), []byte(body))
	require.NotNil(t, answer)
	return answer
}

// The error is a text, not an object.
func TestErrorBodies(t *testing.T) {
	tests := []struct {
		status int
		want   string
	}{
		{400, "invalid request"}, {401, "unauthorized"}, {403, "forbidden"}, {404, "model 'm' not found"}, {429, "you have reached your usage limit"},
		{500, "internal server error"}, {502, "bad gateway"}, {503, "server busy, please try again.  maximum pending requests exceeded"},
		{599, "an error was encountered while running the model"},
	}
	for _, test := range tests {
		t.Run(strconv.Itoa(test.status), func(t *testing.T) {
			var got map[string]string
			require.NoError(t, json.Unmarshal(recognised(t, `{"model":"m"}`).Body(test.status, nil), &got))
			require.Equal(t, test.want, got["error"])
			require.Equal(t, test.status == 401, got["signin_url"] != "")
		})
	}
}

func TestStatusInPlaceOfAStream(t *testing.T) {
	status, _, body := ask(t, []Step{fault.Status{Code: 503}}, "/api/chat", `{"model":"m"}`)
	require.Equal(t, 503, status)
	require.True(t, json.Valid(body), string(body))
	h := http.Header{}
	recognised(t, `{}`).Header(h, 503, true)
	require.Equal(t, "application/json; charset=utf-8", h.Get("Content-Type"))
}

func TestErrorLines(t *testing.T) {
	for _, test := range []struct {
		name string
		step Error
		want string
	}{
		{"a message", Error{Type: "t", Code: "c", Message: "m", Form: ChoicesForm}, `{"error":"m"}`},
		{"a type", Error{Type: "t", Code: "c"}, `{"error":"t"}`},
		{"a code", Error{Code: "c"}, `{"error":"c"}`},
		{"nothing", Error{}, `{"error":"an error was encountered while running the model"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want+"\n", string(recognised(t, `{}`).Append(nil, test.step, 0)))
			require.Equal(t, test.want, string(recognised(t, `{}`).Body(200, []Step{test.step})))
		})
	}
}

func TestValidate(t *testing.T) {
	status, why := ollama.Dialect{}.Validate(nil, []byte(`{"model":"m","messages":[{"role":"odd"}]}`))
	require.Zero(t, status, why)
	for _, body := range []string{`{}`, `{`} {
		status, why = ollama.Dialect{}.Validate(nil, []byte(body))
		require.Equal(t, 400, status)
		require.NotEmpty(t, why)
	}
}
