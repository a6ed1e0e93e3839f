package anthropic

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-ant-secret"

// mocked is a client whose requests get the given answer.
func mocked(t *testing.T, answer httpmock.Responder) *Client {
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder(http.MethodPost, "https://model.test/v1/messages", answer)
	t.Cleanup(func() { require.Equal(t, 1, mock.GetTotalCallCount(), "a call is one request") })
	return &Client{BaseURL: "https://model.test/", APIKey: key, HTTP: &http.Client{Transport: mock}}
}

func ignore(llm.Item) error { return nil }

func TestStreamSendsTheTurn(t *testing.T) {
	var got string
	c := mocked(t, func(r *http.Request) (*http.Response, error) {
		require.Equal(t, key, r.Header.Get("x-api-key"))
		require.Equal(t, "2023-06-01", r.Header.Get("anthropic-version"))
		require.Equal(t, "application/json", r.Header.Get("content-type"))
		body, err := io.ReadAll(r.Body)
		got = string(body)
		return httpmock.NewStringResponse(200, full), err
	})
	var items []llm.Item
	err := c.Stream(t.Context(), llm.Request{Model: "m", Messages: []llm.Message{
		{Role: "system", Content: "be brief"},
		{Role: "system", Content: "be kind"},
		{Role: "user", Content: "hi"},
		{Role: "assistant", Content: ""},
		{Role: "assistant", Content: "let me", ToolCalls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: `{"x":1}`}, {ID: "2", Name: "g"}, {ID: "3", Name: "h", Arguments: `[1`}}},
		{Role: "tool", Content: "r", ToolCallID: "1"},
		{Role: "tool", ToolCallID: "2"},
		{Role: "tool", Content: "no", ToolCallID: "3"},
		{Role: "user", Content: "go on"},
	}}, func(i llm.Item) error { items = append(items, i); return nil })
	require.NoError(t, err)
	require.Equal(t, fullItems, items)
	require.JSONEq(t, `{"model":"m","max_tokens":4096,"stream":true,"system":"be brief\n\nbe kind","messages":[
		{"role":"user","content":[{"type":"text","text":"hi"}]},
		{"role":"assistant","content":[{"type":"text","text":"let me"},{"type":"tool_use","id":"1","name":"f","input":{"x":1}},
			{"type":"tool_use","id":"2","name":"g","input":{}},{"type":"tool_use","id":"3","name":"h","input":{"INVALID_JSON":"[1"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r"},{"type":"tool_result","tool_use_id":"2","content":""},
			{"type":"tool_result","tool_use_id":"3","content":"no"},{"type":"text","text":"go on"}]}]}`, got)
}

func TestStreamSettings(t *testing.T) {
	c := mocked(t, func(r *http.Request) (*http.Response, error) {
		require.NotContains(t, r.Header, "X-Api-Key")
		body, err := io.ReadAll(r.Body)
		require.JSONEq(t, `{"model":"","max_tokens":7,"stream":true,"messages":[]}`, string(body))
		return httpmock.NewStringResponse(200, done), err
	})
	c.BaseURL, c.APIKey, c.MaxTokens = "https://model.test/v1/", "", 7
	require.NoError(t, c.Stream(t.Context(), llm.Request{}, ignore))
}

func TestStreamRefusals(t *testing.T) {
	tests := []struct {
		name    string
		status  int
		body    string
		message string
	}{
		{"the provider's message is passed on", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, "Overloaded"},
		{"the key is not repeated", 401, `{"type":"error","error":{"message":"bad key ` + key + `"},"request_id":null}`, "bad key [redacted]"},
		{"HTML is quoted", 502, "<html>\r\nBad</html>\n", "<html>  Bad</html>"},
		{"no text is said to be none", 504, "", "no message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := mocked(t, httpmock.NewStringResponder(tt.status, tt.body))
			err := c.Stream(t.Context(), llm.Request{}, ignore)
			require.Equal(t, &llm.Error{Code: llm.ProviderError, Status: tt.status, Message: tt.message}, err)
		})
	}
}

func TestStreamHidesTheKeyInWhatItQuotes(t *testing.T) {
	body := "data: " + strings.Repeat("x", 195) + key + "\n\n"
	err := mocked(t, httpmock.NewStringResponder(200, body)).Stream(t.Context(), llm.Request{}, ignore)
	requireCode(t, llm.ProviderError, err)
	require.NotContains(t, err.Error(), "sk-")
}

func TestStreamReturnsTheErrorOfEmit(t *testing.T) {
	enough := errors.New("enough")
	err := mocked(t, httpmock.NewStringResponder(200, full)).Stream(t.Context(), llm.Request{}, func(llm.Item) error { return enough })
	require.Equal(t, enough, err)
}

// A call ends when its context does, in the middle of a silence that pings keep warm, and its connection with it.
func TestStreamEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("caller left")
		server, client := net.Pipe()
		closed := make(chan error)
		go func() {
			defer server.Close()
			r, err := http.ReadRequest(bufio.NewReader(server))
			if err == nil {
				_, err = io.Copy(io.Discard, r.Body)
			}
			if err == nil {
				_, err = io.WriteString(server, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+says("a"))
			}
			for err == nil {
				<-time.After(10 * time.Second)
				_, err = io.WriteString(server, eventOf("ping", ""))
			}
			closed <- err
		}()
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 95*time.Second, gone)
		defer cancel()
		began := time.Now()
		items := 0
		err := (&Client{BaseURL: "http://model.test", HTTP: &http.Client{Transport: transport}}).Stream(ctx, llm.Request{}, func(llm.Item) error { items++; return nil })
		require.Equal(t, gone, err)
		require.Equal(t, 95*time.Second, time.Since(began))
		require.Equal(t, 1, items)
		require.ErrorIs(t, <-closed, io.ErrClosedPipe)
	})
}
