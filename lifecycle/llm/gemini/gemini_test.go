package gemini

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "AIza-secret-key"

// mocked is a client whose requests get the given answer.
func mocked(t *testing.T, answer httpmock.Responder) *Client {
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder(http.MethodPost, `=~^https://model\.test/v1beta/.*:streamGenerateContent\?alt=sse$`, answer)
	t.Cleanup(func() { require.Equal(t, 1, mock.GetTotalCallCount(), "a call is one request") })
	return &Client{BaseURL: "https://model.test/v1beta/", APIKey: key, HTTP: &http.Client{Transport: mock}}
}

func ignore(llm.Item) error { return nil }

func TestStreamSendsTheTurn(t *testing.T) {
	var got string
	c := mocked(t, func(r *http.Request) (*http.Response, error) {
		require.Equal(t, key, r.Header.Get("x-goog-api-key"))
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		require.Equal(t, "/v1beta/models/m:streamGenerateContent", r.URL.Path)
		require.NotContains(t, r.URL.String(), key)
		body, err := io.ReadAll(r.Body)
		got = string(body)
		return httpmock.NewStringResponse(200, full), err
	})
	var items []llm.Item
	err := c.Stream(t.Context(), llm.Request{Model: "m", Messages: []llm.Message{
		{Role: "system", Content: "s"},
		{Role: "user", Content: ""},
		{Role: "assistant", Content: "", ToolCalls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: `{"x":1}`}, {ID: "2", Name: "g", Arguments: ""}}},
		{Role: "tool", Content: "r", ToolCallID: "1"},
		{Role: "tool", Content: "", ToolCallID: "2"},
		{Role: "assistant", Content: "a", ToolCalls: []llm.ToolCall{{ID: "call-0", Name: "h", Arguments: `{"cut`}}},
		{Role: "tool", Content: "x", ToolCallID: "lost"},
		{Role: "assistant"},
		{Role: "system", Content: "t"},
		{Role: "user", Content: "u"},
	}}, func(i llm.Item) error { items = append(items, i); return nil })
	require.NoError(t, err)
	want := append([]llm.Item(nil), fullItems...)
	want[4].Call.ID = "call-1" // call-0 is in the conversation
	require.Equal(t, want, items)
	require.JSONEq(t, `{"system_instruction":{"parts":[{"text":"s"},{"text":"t"}]},"generationConfig":{"thinkingConfig":{"includeThoughts":true}},"contents":[
		{"role":"user","parts":[{"text":""}]},
		{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"x":1}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"2","name":"g","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"result":"r"}}},{"functionResponse":{"id":"2","name":"g","response":{"result":""}}}]},
		{"role":"model","parts":[{"text":"a"},{"functionCall":{"id":"call-0","name":"h","args":{"arguments":"{\"cut"}},"thoughtSignature":"skip_thought_signature_validator"}]},
		{"role":"user","parts":[{"functionResponse":{"id":"lost","name":"lost","response":{"result":"x"}}}]},
		{"role":"model","parts":[{"text":""}]},
		{"role":"user","parts":[{"text":"u"}]}]}`, got)
}

func TestStreamSendsLessWhenAskedTo(t *testing.T) {
	c := mocked(t, func(r *http.Request) (*http.Response, error) {
		require.NotContains(t, r.Header, "X-Goog-Api-Key")
		require.Equal(t, "/v1beta/tunedModels/a%20b:streamGenerateContent", r.URL.EscapedPath())
		body, err := io.ReadAll(r.Body)
		require.JSONEq(t, `{"contents":[],"generationConfig":{}}`, string(body))
		return httpmock.NewStringResponse(200, stop("STOP")), err
	})
	c.APIKey, c.HideThoughts = "", true
	require.NoError(t, c.Stream(t.Context(), llm.Request{Model: "tunedModels/a b"}, ignore))
}

func TestStreamOmitsTheSignatureForModelsThatKnowNone(t *testing.T) {
	r := newRequest(llm.Request{Model: "gemini-2.5-pro", Messages: []llm.Message{{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "1", Name: "f"}}}}}, true)
	require.Empty(t, r.Contents[0].Parts[0].ThoughtSignature)
}

func TestStreamRefusals(t *testing.T) {
	tests := []struct {
		name    string
		status  int
		body    string
		message string
	}{
		{"the provider's message is passed on", 429, `{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[]}}`, "Quota exceeded"},
		{"an error may be in an array", 400, "[{\n\"error\":{\"code\":400,\"message\":\"API key not valid\"}}\n]", "API key not valid"},
		{"the key is not repeated", 400, `{"error":{"message":"API key not valid: ` + key + `"}}`, "API key not valid: [redacted]"},
		{"HTML is quoted", 502, "<html>\r\n\x1b[31mBad</html>\n", "<html>   [31mBad</html>"},
		{"no text is said to be none", 504, "", "no message"},
		{"another success is no answer", 204, "", "no message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := mocked(t, httpmock.NewStringResponder(tt.status, tt.body)).Stream(t.Context(), llm.Request{Model: "m"}, ignore)
			require.Equal(t, &llm.Error{Code: llm.ProviderError, Status: tt.status, Message: tt.message}, err)
		})
	}
}

func TestStreamHidesTheKeyInWhatItQuotes(t *testing.T) {
	body := "data: " + strings.Repeat("x", 195) + key + "\n\n"
	err := mocked(t, httpmock.NewStringResponder(200, body)).Stream(t.Context(), llm.Request{Model: "m"}, ignore)
	requireCode(t, llm.ProviderError, err)
	require.NotContains(t, err.Error(), "AIza")
}

func TestStreamReturnsTheErrorOfEmit(t *testing.T) {
	enough := errors.New("enough")
	for n := range fullItems { // the last comes after the body's end
		left := n
		err := mocked(t, httpmock.NewStringResponder(200, full)).Stream(t.Context(), llm.Request{Model: "m"}, func(llm.Item) error {
			if left--; left < 0 {
				return enough
			}
			return nil
		})
		require.Same(t, enough, err)
	}
}

func TestStreamEndsBetweenItemsWhenCancelled(t *testing.T) {
	gone := errors.New("caller left")
	ctx, cancel := context.WithCancelCause(t.Context())
	n := 0
	err := mocked(t, httpmock.NewStringResponder(200, full)).Stream(ctx, llm.Request{Model: "m"}, func(llm.Item) error {
		n++
		cancel(gone)
		return nil
	})
	require.Equal(t, gone, err)
	require.Equal(t, 1, n)
}
