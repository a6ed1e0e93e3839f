package responses

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-secret-key"

// mocked is a client whose requests get the given answer.
func mocked(t *testing.T, answer httpmock.Responder) *Client {
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder(http.MethodPost, "https://model.test/v1/responses", answer)
	t.Cleanup(func() { require.Equal(t, 1, mock.GetTotalCallCount(), "a call is one request") })
	return &Client{BaseURL: "https://model.test/v1/", APIKey: key, HTTP: &http.Client{Transport: mock}}
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
		{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: `{"x":1}`}, {ID: "2", Name: "g"}}},
		{Role: "tool", Content: "r", ToolCallID: "1"},
		{Role: "tool", Content: "", ToolCallID: "2"},
		{Role: "assistant", Content: "a", ToolCalls: []llm.ToolCall{{ID: "3", Name: "f", Arguments: `{}`}}},
	}}, func(i llm.Item) error { items = append(items, i); return nil })
	require.NoError(t, err)
	require.Equal(t, fullItems, items)
	require.JSONEq(t, `{"model":"m","stream":true,"store":false,"input":[
		{"role":"system","content":"s"},{"role":"user","content":""},
		{"type":"function_call","call_id":"1","name":"f","arguments":"{\"x\":1}"},{"type":"function_call","call_id":"2","name":"g","arguments":""},
		{"type":"function_call_output","call_id":"1","output":"r"},{"type":"function_call_output","call_id":"2","output":""},
		{"role":"assistant","content":"a"},{"type":"function_call","call_id":"3","name":"f","arguments":"{}"}]}`, got)
}

func TestStreamAsksForASummary(t *testing.T) {
	c := mocked(t, func(r *http.Request) (*http.Response, error) {
		require.NotContains(t, r.Header, "Authorization")
		body, err := io.ReadAll(r.Body)
		require.JSONEq(t, `{"model":"","stream":true,"store":false,"input":[],"reasoning":{"summary":"auto"}}`, string(body))
		return httpmock.NewStringResponse(200, done), err
	})
	c.APIKey, c.Summary = "", "auto"
	require.NoError(t, c.Stream(t.Context(), llm.Request{}, ignore))
}

func TestStreamRefusals(t *testing.T) {
	tests := []struct {
		name    string
		status  int
		body    string
		message string
	}{
		{"the provider's message is passed on", 429, `{"error":{"message":"Rate limit reached","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, "Rate limit reached"},
		{"the key is not repeated", 401, `{"error":{"message":"Incorrect API key provided: ` + key + `"},"status":401}`, "Incorrect API key provided: [redacted]"},
		{"HTML is quoted without control characters", 502, "<html>\x1b[31mBad</html>", "<html> [31mBad</html>"},
		{"no text is said to be none", 504, "", "no message"},
		{"a redirect is not followed", 307, "", "no message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := mocked(t, httpmock.NewStringResponder(tt.status, tt.body).HeaderSet(http.Header{"Location": {"/v1/responses"}}))
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
	for n := range fullItems { // wherever it stops
		enough := errors.New("enough")
		err := mocked(t, httpmock.NewStringResponder(200, full)).Stream(t.Context(), llm.Request{}, func(llm.Item) error {
			if n--; n < 0 {
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

// A provider that thinks in silence, with keepalives, gives no item until it speaks.
func TestStreamPassesItemsOnAsTheyCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		written := make(chan struct{})
		go func() {
			defer close(written)
			_, _ = io.WriteString(w, eventOf("response.created", `,"response":{"status":"in_progress"}`)+added("0", `{"type":"reasoning","summary":[]}`))
			for range 6 {
				time.Sleep(10 * time.Second)
				_, _ = io.WriteString(w, eventOf("keepalive", ``))
			}
			_, _ = io.WriteString(w, says("a")+done)
			_ = w.Close()
		}()
		c := &Client{BaseURL: "http://model.test", HTTP: &http.Client{Transport: answering{r}}}
		began := time.Now()
		var at []time.Duration
		require.NoError(t, c.Stream(t.Context(), llm.Request{}, func(llm.Item) error { at = append(at, time.Since(began)); return nil }))
		require.Equal(t, []time.Duration{time.Minute, time.Minute}, at)
		<-written
	})
}

// answering answers with a body.
type answering struct{ body io.ReadCloser }

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: a.body}, nil
}

func TestStreamClosesTheBody(t *testing.T) {
	body := &closing{Reader: io.MultiReader(strings.NewReader(done), iotest.ErrReader(errors.New("read on")))}
	c := &Client{BaseURL: "http://model.test", HTTP: &http.Client{Transport: answering{body}}}
	require.NoError(t, c.Stream(t.Context(), llm.Request{}, ignore))
	require.True(t, body.closed)
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }
