package bedrock

import (
	"encoding/json"
	"flag"
	"fmt"
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
	. "github.com/stallwright/stallwright/fakes/script"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

// fixtures are the programs that answer the requests in testdata. The first line of each file says what it proves.
var fixtures = []struct {
	name  string
	steps []Step
}{
	{"text", []Step{Role{}, Text{Chunks: []string{"Hel", "lo \"you\"\n"}}, Pause{For: 274 * time.Millisecond}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 2}, Done{}}},
	{"usage-first", []Step{Usage{Prompt: 9, Completion: 2, Cached: 4}, Text{Chunks: []string{"Hi"}}, Finish{Reason: "length"}, Done{}}},
	{"no-usage", []Step{Role{}, Text{Chunks: []string{"Hi"}}, Finish{Reason: "stop"}, Done{}, Done{}}},
	{"thinking", []Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Done{}}},
	{"tool", []Step{Role{}, Tool{ID: "tooluse_1", Name: "f", Args: []string{`{"x"`, `:1}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tools", []Step{Role{}, Text{Chunks: []string{"Let me look."}}, Tool{ID: "tooluse_1", Name: "f"},
		Tool{Index: 1, ID: "tooluse_2", Name: "g", Args: []string{`{"y"`, `:2}`}}, Finish{Reason: "tool_calls"}, Done{}}},
	{"tool-chunks", []Step{Role{},
		ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Is("tooluse_1"), Type: Is("function"), Name: Is("f"), Args: Is("")}, {Index: Is("1"), ID: Null(), Name: Is("g")}}},
		ToolChunk{Parts: []ToolPart{{Index: Is("0"), Args: Is(`{"x":`)}, {Index: Is("1"), ID: Is("again"), Args: Is(`{}`)}, {Index: Is("0"), Args: Is("1}")}, {Args: Null()}}},
		Finish{Reason: "tool_calls"}, Done{}}},
	{"refusal", []Step{Role{}, Refusal{Chunks: []string{"I will", " not."}}, Finish{Reason: "content_filter"}, Done{}}},
	{"error", []Step{Role{}, Text{Chunks: []string{"Hel"}}, Error{Type: "throttlingException", Message: "slow down"}, End{}}},
	{"error-first", []Step{Error{Type: "serviceUnavailableException", Message: "later"}, End{}}},
	{"error-unknown", []Step{Role{}, Error{Code: "InternalError", Message: "boom", Form: FlatForm}, End{}}},
	{"no-output", []Step{Ping{}, Comment{Text: "x"}, Message{}, Role{}, Empty{}, Think{Chunks: []string{"hm"}}, Empty{}, Tool{ID: "t", Name: "f"}, Empty{}, Done{}}},
}

func TestFixtures(t *testing.T) {
	const model = "/model/amazon.nova-lite-v1%3A0"
	fixture.All(t, len(fixtures))
	for _, fix := range fixtures {
		t.Run(fix.name, func(t *testing.T) {
			fixture.Compare(t, fix.name, *update, func(request []byte) []txtar.File {
				stream, err := ask(t, Dialect{}, fix.steps, model+"/converse-stream", request)
				require.NoError(t, err)
				var streaming strings.Builder
				for _, f := range decodeAll(t, stream) {
					for _, h := range f.headers {
						fmt.Fprintf(&streaming, "%s: %s\n", h[0], h[1])
					}
					fmt.Fprintf(&streaming, "%s\n\n", f.payload)
					require.True(t, f.payload == "" || json.Valid([]byte(f.payload)), f.payload)
				}
				whole, err := ask(t, Dialect{}, fix.steps, model+"/converse", request)
				require.NoError(t, err)
				require.True(t, json.Valid(whole), string(whole))
				return []txtar.File{{Name: "streaming", Data: []byte(streaming.String())}, {Name: "non-streaming", Data: append(whole, '\n')}}
			})
		})
	}
}

// ask plays the steps to one request.
func ask(t *testing.T, d Dialect, steps []Step, path string, body []byte) ([]byte, error) {
	t.Helper()
	resp := fixture.Ask(t, d, steps, path, string(body))[0]
	if resp.Response == nil {
		return nil, resp.Err
	}
	require.Equal(t, 200, resp.StatusCode)
	if strings.HasSuffix(path, "-stream") {
		require.Equal(t, "application/vnd.amazon.eventstream", resp.Header.Get("content-type"))
		require.Equal(t, []string{"chunked"}, resp.TransferEncoding)
	}
	return resp.Bytes, resp.Err
}

// What is broken below the dialect does not pass for a good frame.
func TestBrokenFrames(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		whole int // frames before the broken one
	}{
		{"a garbled frame", []Step{Role{}, fault.Garble{}, Text{Chunks: []string{"a", "b"}}, Finish{Reason: "stop"}, Done{}}, 1},
		{"raw bytes", []Step{Role{}, Raw{Bytes: "\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\x00"}, Done{}}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := ask(t, Dialect{}, tt.steps, "/model/m/converse-stream", []byte("{}"))
			require.NoError(t, err)
			for range tt.whole {
				_, b, err = decode(b)
				require.NoError(t, err)
			}
			_, _, err = decode(b)
			require.EqualError(t, err, "message checksum")
		})
	}
}

func TestRecognise(t *testing.T) {
	tests := []struct {
		name, method, path, body, sdk string
		want                          provider.Request
		known                         bool
	}{
		{"a stream", "POST", "/model/amazon.nova-lite-v1%3A0/converse-stream", `{"messages":[]}`, "", provider.Request{Model: "amazon.nova-lite-v1:0", Stream: true}, true},
		{"no stream", "POST", "/model/m/converse", `{}`, "", provider.Request{Model: "m"}, true},
		{"an ARN", "POST", "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/converse", `{}`, "", provider.Request{Model: "arn:aws:bedrock:us-east-1:1:inference-profile/x"}, true},
		{"the second attempt", "POST", "/model/m/converse", `{}`, "attempt=2; max=3", provider.Request{Model: "m", Attempt: 2}, true},
		{"an attempt that is none", "POST", "/model/m/converse", `{}`, "attempt=x", provider.Request{Model: "m"}, true},
		{"another operation", "POST", "/model/m/invoke", `{}`, "", provider.Request{}, false},
		{"no model", "POST", "/model//converse", `{}`, "", provider.Request{}, false},
		{"a path without a model", "POST", "/converse", `{}`, "", provider.Request{}, false},
		{"another method", "GET", "/model/m/converse", `{}`, "", provider.Request{}, false},
		{"a body that does not parse", "POST", "/model/m/converse", `{`, "", provider.Request{}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, test.path, nil)
			r.Header.Set("Amz-Sdk-Request", test.sdk)
			got, answer := Dialect{}.Recognise(r, []byte(test.body))
			require.Equal(t, test.want, got)
			require.Equal(t, test.known, answer != nil)
		})
	}
}

func TestErrorBodies(t *testing.T) {
	for status, kind := range map[int]string{
		400: "ValidationException", 401: "UnrecognizedClientException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
		408: "ModelTimeoutException", 413: "ValidationException", 424: "ModelErrorException", 429: "ThrottlingException",
		500: "InternalServerException", 502: "InternalServerException", 503: "ServiceUnavailableException",
	} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			_, answer := Dialect{}.Recognise(httptest.NewRequest("POST", "/model/m/converse", nil), []byte(`{}`))
			h := http.Header{}
			answer.Header(h, status, false)
			require.Equal(t, "application/json", h.Get("content-type"))
			require.Equal(t, kind+":http://internal.amazon.com/coral/com.amazon.bedrock/", h.Get("x-amzn-errortype"))
			require.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$", h.Get("x-amzn-requestid"))
			var got map[string]string
			require.NoError(t, json.Unmarshal(answer.Body(status, nil), &got))
			require.Len(t, got, 1)
			require.NotEmpty(t, got["message"])
		})
	}
}

func TestFramesAllocateNothing(t *testing.T) {
	_, answer := Dialect{}.Recognise(httptest.NewRequest("POST", "/model/m/converse-stream", nil), []byte(`{}`))
	var step Step = Text{Chunks: []string{"some text"}}
	b := answer.Append(nil, step, 0)
	require.Zero(t, testing.AllocsPerRun(100, func() { b = answer.Append(b[:0], step, 0) }))
}
