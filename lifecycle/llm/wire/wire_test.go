package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ignore(llm.Item) error { return nil }

func TestDo(t *testing.T) {
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder(http.MethodPost, "https://model.test/x", func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		require.JSONEq(t, `{"a":1}`, string(body))
		require.Equal(t, []string{"k"}, r.Header["X-Key"])
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		require.Equal(t, "identity", r.Header.Get("Accept-Encoding"))
		return httpmock.NewStringResponse(200, "body"), err
	})
	call := Call{URL: "https://model.test/x", Header: http.Header{"x-key": {"k"}}, Body: map[string]int{"a": 1}, Secret: "secret", HTTP: &http.Client{Transport: mock}}
	full, left := errors.New("full"), errors.New("left")
	tests := []struct {
		name   string
		emit   func(llm.Item) error
		decode func(error) error // of what emit said
		cancel bool
		want   string
	}{
		{"an answer that was read", ignore, func(error) error { return nil }, false, ""},
		{"the error of emit comes back as it is", func(llm.Item) error { return full }, func(error) error { return errors.New("other") }, false, "full"},
		{"a failure is made fit to be shown", ignore, func(error) error {
			return &llm.Error{Code: llm.ProviderError, Message: "\x1bthe secret " + strings.Repeat("é", 300)}
		}, false, "llm: provider_error: the [redacted] " + strings.Repeat("é", 242) + "…"},
		{"a failure of a call that was cancelled is its cause", ignore, func(error) error { return &llm.Error{} }, true, "left"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			err := call.Do(ctx, tt.emit, func(resp *http.Response, emit func(llm.Item) error) error {
				text, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.Equal(t, "body", string(text))
				err = emit(llm.Item{Kind: llm.Text})
				if tt.cancel {
					cancel(left)
				}
				return tt.decode(err)
			})
			if tt.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, tt.want)
			}
		})
	}
}

func TestErrorIn(t *testing.T) {
	tests := []struct {
		name, raw, want string
		found           bool
	}{
		{"absent", "", "", false}, {"null", "null", "", false}, {"an empty text", `""`, "", false},
		{"a text", `"no"`, "no", true}, {"an object", `{"message":"no"}`, "no", true}, {"an object without a message", `{"code":7}`, `{"code":7}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found := ErrorIn(json.RawMessage(tt.raw))
			require.Equal(t, []any{tt.want, tt.found}, []any{got, found})
		})
	}
}

func TestReading(t *testing.T) {
	body, err := Whole(strings.NewReader("\xEF\xBB\xBF{}"))
	require.NoError(t, err)
	require.Equal(t, "{}", string(body))
	_, err = Whole(iotest.ErrReader(io.ErrUnexpectedEOF))
	require.Equal(t, llm.ProviderTruncated, ReadFailed(err).Code)
	require.Equal(t, "an event is larger than 32 MiB", ReadFailed(bufio.ErrTooLong).Message)

	for text, want := range map[string]byte{"": 0, " \r\n\xEF\xBB\xBF{": '{', "data": 'd', strings.Repeat(" ", 65) + "{": 0} {
		in := bufio.NewReader(strings.NewReader(text))
		require.Equal(t, want, FirstByte(in), "%q", text)
		rest, err := io.ReadAll(in)
		require.NoError(t, err)
		require.Equal(t, text, string(rest), "nothing is consumed")
	}

	var got []Event
	for e, err := range Events(iotest.OneByteReader(strings.NewReader("\n\nevent: a\ndata: 1\ndata: 2\n\n\r\n: c\n\ndata: 3\r\n\r\ndata: cut"))) {
		require.NoError(t, err)
		if e.Data != "" {
			got = append(got, Event{Type: e.Type, Data: e.Data})
		}
	}
	require.Equal(t, []Event{{Type: "a", Data: "1\n2"}, {Data: "3"}}, got)
}
