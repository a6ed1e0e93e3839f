package ollama

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "secret-key"

// mocked is a client whose requests get the given answer.
func mocked(t *testing.T, answer httpmock.Responder) *Client {
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder(http.MethodPost, "http://model.test:11434/api/chat", answer)
	t.Cleanup(func() { require.Equal(t, 1, mock.GetTotalCallCount(), "a call is one request") })
	return &Client{BaseURL: "http://model.test:11434/", APIKey: key, HTTP: &http.Client{Transport: mock}}
}

func ignore(llm.Item) error { return nil }

func TestStreamSendsTheTurn(t *testing.T) {
	var got string
	c := mocked(t, func(r *http.Request) (*http.Response, error) {
		require.Equal(t, "Bearer "+key, r.Header.Get("Authorization"))
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		body, err := io.ReadAll(r.Body)
		got = string(body)
		return httpmock.NewStringResponse(200, full), err
	})
	var items []llm.Item
	err := c.Stream(t.Context(), llm.Request{Model: "m", Messages: []llm.Message{
		{Role: "system", Content: "s"},
		{Role: "user", Content: ""},
		{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: `{"x":1}`}, {ID: "2", Name: "g"}, {ID: "3", Name: "h", Arguments: `[`}}},
		{Role: "tool", Content: "r", ToolCallID: "2"},
		{Role: "tool", Content: "r", ToolCallID: "lost"},
	}}, func(i llm.Item) error { items = append(items, i); return nil })
	require.NoError(t, err)
	require.Equal(t, fullItems, items)
	require.JSONEq(t, `{"model":"m","stream":true,"messages":[
		{"role":"system","content":"s"},{"role":"user","content":""},
		{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"index":0,"name":"f","arguments":{"x":1}}},
			{"id":"2","function":{"index":1,"name":"g","arguments":{}}},{"id":"3","function":{"index":2,"name":"h","arguments":{"arguments":"["}}}]},
		{"role":"tool","content":"r","tool_name":"g","tool_call_id":"2"},{"role":"tool","content":"r","tool_call_id":"lost"}]}`, got)
}

func TestStreamSendsNoKeyWhenItHasNone(t *testing.T) {
	c := mocked(t, func(r *http.Request) (*http.Response, error) {
		require.NotContains(t, r.Header, "Authorization")
		return httpmock.NewStringResponse(200, done), nil
	})
	c.APIKey = ""
	require.NoError(t, c.Stream(t.Context(), llm.Request{}, ignore))
}

func TestStreamRefusals(t *testing.T) {
	tests := []struct {
		name    string
		status  int
		body    string
		message string
	}{
		{"the provider's message is passed on", 404, `{"error":"model 'm' not found"}`, "model 'm' not found"},
		{"the key is not repeated", 401, `{"error":"unauthorized: ` + key + `","signin_url":"https://x.test"}`, "unauthorized: [redacted]"},
		{"words are quoted", 502, "bad gateway\n", "bad gateway"},
		{"no text is said to be none", 500, "", "no message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := mocked(t, httpmock.NewStringResponder(tt.status, tt.body)).Stream(t.Context(), llm.Request{}, ignore)
			require.Equal(t, &llm.Error{Code: llm.ProviderError, Status: tt.status, Message: tt.message}, err)
		})
	}
}

func TestStreamHidesTheKeyInWhatItQuotes(t *testing.T) {
	err := mocked(t, httpmock.NewStringResponder(200, "no "+key+"\n")).Stream(t.Context(), llm.Request{}, ignore)
	require.EqualError(t, err, `llm: provider_error: not JSON: "no [redacted]"`)
}

func TestStreamReturnsTheErrorOfEmit(t *testing.T) {
	enough := errors.New("enough")
	for n := range fullItems {
		left := n
		err := mocked(t, httpmock.NewStringResponder(200, full)).Stream(t.Context(), llm.Request{}, func(llm.Item) error {
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
	err := mocked(t, httpmock.NewStringResponder(200, full)).Stream(ctx, llm.Request{}, func(llm.Item) error {
		n++
		cancel(gone)
		return nil
	})
	require.Equal(t, gone, err)
	require.Equal(t, 1, n)
}
