package gemini

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

// serve answers one request with these bytes, then calls end with the client still there.
func serve(t *testing.T, body string, end func(*http.Request)) *Client {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body)
		_ = http.NewResponseController(w).Flush()
		end(r)
	}))
	t.Cleanup(s.Close)
	return &Client{BaseURL: s.URL, HTTP: s.Client()}
}

// cut closes the connection without the last chunk.
func cut(*http.Request) { panic(http.ErrAbortHandler) }

func TestStreamOverAConnection(t *testing.T) {
	some := chunk(`{"text":"a"}`)
	tests := []struct {
		name  string
		body  string
		end   func(*http.Request)
		items int
		code  llm.Code // empty is success
	}{
		{"cut after an item", some, cut, 1, llm.ProviderTruncated},
		{"cut in an event", some + "data: {", cut, 1, llm.ProviderTruncated},
		{"cut after the finish reason, which may not be the last", some + stop("STOP"), cut, 2, llm.ProviderTruncated},
		{"a clean end without a finish reason", some, func(*http.Request) {}, 1, llm.ProviderTruncated},
		{"a complete stream", full, func(*http.Request) {}, len(fullItems), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items := 0
			err := serve(t, tt.body, tt.end).Stream(t.Context(), llm.Request{Model: "m"}, func(llm.Item) error { items++; return nil })
			if tt.code == "" {
				require.NoError(t, err)
			} else {
				requireCode(t, tt.code, err)
			}
			require.Equal(t, tt.items, items)
		})
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	gone := errors.New("caller left")
	for _, body := range []string{"", chunk(`{"text":"a"}`) + "data: {", stop("STOP"), "[{"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := serve(t, body, func(r *http.Request) { cancel(gone); <-r.Context().Done() })
		require.Equal(t, gone, c.Stream(ctx, llm.Request{Model: "m"}, ignore))
	}
}
