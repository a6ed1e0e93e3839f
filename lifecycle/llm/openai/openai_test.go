package openai

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

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
	mock.RegisterResponder(http.MethodPost, "https://model.test/v1/chat/completions", answer)
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
		{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: `{"x":1}`}}},
		{Role: "tool", Content: "r", ToolCallID: "1"},
	}}, func(i llm.Item) error { items = append(items, i); return nil })
	require.NoError(t, err)
	require.Equal(t, fullItems, items)
	require.JSONEq(t, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[
		{"role":"system","content":"s"},{"role":"user","content":""},
		{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},
		{"role":"tool","content":"r","tool_call_id":"1"}]}`, got)
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
		{"the provider's message is passed on", 429, `{"error":{"message":"Rate limit reached","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, "Rate limit reached"},
		{"an error may be a text", 500, `{"error":"boom"}`, "boom"},
		{"an error may be flat", 400, `{"object":"error","message":"too long"}`, "too long"},
		{"the key is not repeated", 401, `{"error":{"message":"Incorrect API key provided: ` + key + `"}}`, "Incorrect API key provided: [redacted]"},
		{"HTML is quoted without control characters", 502, "<html>\r\n\x1b[31mBad\u202e\x00</html>\n", "<html>   [31mBad  </html>"},
		{"a long text is cut", 503, strings.Repeat("é", 400), strings.Repeat("é", 250) + "…"},
		{"a key at the cut is not half shown", 503, strings.Repeat("x", 495) + key, strings.Repeat("x", 495) + "[reda…"},
		{"no text is said to be none", 504, "", "no message"},
		{"another success is no answer", 204, "", "no message"},
		{"a redirect is not followed", 307, "", "no message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := mocked(t, httpmock.NewStringResponder(tt.status, tt.body).HeaderSet(http.Header{"Location": {"/v1/chat/completions"}}))
			err := c.Stream(t.Context(), llm.Request{}, ignore)
			require.Equal(t, &llm.Error{Code: llm.ProviderError, Status: tt.status, Message: tt.message}, err)
		})
	}
}

func TestStreamReadsABoundedPartOfARefusal(t *testing.T) {
	body := &counted{r: repeating('x')}
	c := mocked(t, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 500, Body: body}, nil
	})
	requireCode(t, llm.ProviderError, c.Stream(t.Context(), llm.Request{}, ignore))
	require.LessOrEqual(t, body.n, 64<<10)
	require.True(t, body.closed)
}

type counted struct {
	r      io.Reader
	n      int
	closed bool
}

func (c *counted) Read(p []byte) (int, error) { n, err := c.r.Read(p); c.n += n; return n, err }
func (c *counted) Close() error               { c.closed = true; return nil }

func TestStreamHidesTheKeyInWhatItQuotes(t *testing.T) {
	body := "data: " + strings.Repeat("x", 195) + key + "\n\n"
	err := mocked(t, httpmock.NewStringResponder(200, body)).Stream(t.Context(), llm.Request{}, ignore)
	requireCode(t, llm.ProviderError, err)
	require.NotContains(t, err.Error(), "sk-")
}

func TestStreamWithoutAnAnswer(t *testing.T) {
	boom := errors.New("dial: refused")
	err := mocked(t, httpmock.NewErrorResponder(boom)).Stream(t.Context(), llm.Request{}, ignore)
	require.ErrorIs(t, err, boom)
	require.EqualError(t, err, "llm: provider_error: dial: refused")

	err = (&Client{BaseURL: "https://user:" + key + "@model.test:x"}).Stream(t.Context(), llm.Request{}, ignore)
	requireCode(t, llm.ProviderError, err)
	require.NotContains(t, err.Error(), key)
}

func TestStreamReturnsTheErrorOfEmit(t *testing.T) {
	enough := &llm.Error{Code: llm.ProviderError, Message: key} // a look-alike must come back untouched
	ctx, cancel := context.WithCancel(t.Context())
	err := mocked(t, httpmock.NewStringResponder(200, full)).Stream(ctx, llm.Request{}, func(llm.Item) error {
		cancel()
		return enough
	})
	require.Same(t, enough, err)
	require.Equal(t, key, enough.Message)
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

// raw answers one request with the given bytes as they are, then calls end with the connection.
func raw(t *testing.T, answer string, end func(*net.TCPConn)) *Client {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(conn, answer)
		end(conn.(*net.TCPConn))
	}()
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		l.Close()
		<-ended
	})
	return &Client{BaseURL: "http://" + l.Addr().String(), HTTP: &http.Client{Transport: transport}}
}

func fin(*net.TCPConn) {}

// untilGone keeps the connection open until the peer closes it.
func untilGone(c *net.TCPConn) { _, _ = io.Copy(io.Discard, c) }

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunked(s string) string {
	var b bytes.Buffer
	for len(s) > 0 {
		n := min(len(s), 15)
		b.WriteString("0123456789abcdef"[n:n+1] + "\r\n" + s[:n] + "\r\n")
		s = s[n:]
	}
	return b.String()
}

func TestStreamOverAConnection(t *testing.T) {
	some := chunk(`{"content":"a"}`)
	tests := []struct {
		name   string
		answer string
		end    func(*net.TCPConn)
		items  int
		code   llm.Code // empty is success
	}{
		{"closed before an answer", "", fin, 0, llm.ProviderError},
		{"cut in the head", "HTTP/1.1 200 OK\r\nContent-", fin, 0, llm.ProviderError},
		{"not HTTP", "SSH-2.0\r\n\r\n", fin, 0, llm.ProviderError},
		{"cut after the head", head, fin, 0, llm.ProviderTruncated},
		{"cut after an item", head + chunked(some), fin, 1, llm.ProviderTruncated},
		{"reset after an item", head + chunked(some) + "5\r\nda", func(c *net.TCPConn) { _ = c.SetLinger(0) }, -1, llm.ProviderTruncated},
		{"cut in an event", head + chunked(some+"data: {"), fin, 1, llm.ProviderTruncated},
		{"a bad chunk size", head + chunked(some) + "xyz\r\n", fin, 1, llm.ProviderTruncated},
		{"a short body", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + some + stop, fin, 2, llm.ProviderTruncated},
		{"cut after the finish reason", head + chunked(some+stop), fin, 2, llm.ProviderTruncated},
		{"a clean end without a terminator", head + chunked(some) + "0\r\n\r\n", fin, 1, llm.ProviderTruncated},
		{"a clean end after the finish reason", head + chunked(some+stop) + "0\r\n\r\n", untilGone, 2, ""},
		{"a complete stream", head + chunked(full) + "0\r\n\r\n", untilGone, len(fullItems), ""},
		{"cut after [DONE]", head + chunked(some+stop+done), fin, 2, ""},
		{"silence after [DONE]", head + chunked(some+stop+done), untilGone, 2, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items := 0
			err := raw(t, tt.answer, tt.end).Stream(t.Context(), llm.Request{}, func(llm.Item) error { items++; return nil })
			if tt.code == "" {
				require.NoError(t, err)
			} else {
				requireCode(t, tt.code, err)
			}
			if tt.items >= 0 { // a reset may overtake what was sent
				require.Equal(t, tt.items, items)
			}
		})
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	gone := errors.New("caller left")
	tests := []struct {
		name   string
		answer string
	}{
		{"before headers", ""},
		{"before an item", head},
		{"in the middle of an event", head + chunked(chunk(`{"content":"a"}`)+"data: {")},
		{"in the body of a refusal", "HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nsorry"},
		{"in a body of JSON", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			c := raw(t, tt.answer, func(conn *net.TCPConn) { cancel(gone); untilGone(conn) })
			require.Equal(t, gone, c.Stream(ctx, llm.Request{}, ignore))
		})
	}
}
