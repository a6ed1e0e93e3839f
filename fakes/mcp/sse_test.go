package mcp_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

// stream opens the event stream of HTTP+SSE, and has messages go where it says.
func (w *world) stream(ctx context.Context) (stream *http.Response, next func() string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.addr+"/sse", nil)
	require.NoError(w.t, err)
	stream = w.do(r)
	require.Equal(w.t, 200, stream.StatusCode)
	next = reader(w.t, stream)
	endpoint := next()
	require.True(w.t, strings.HasPrefix(endpoint, "/messages?sessionId="), endpoint)
	w.url = "http://" + w.addr + endpoint
	return stream, next
}

// send sends a message that is answered elsewhere.
func (w *world) send(body string) {
	w.t.Helper()
	status, answer := w.ask(body)
	require.Equal(w.t, 202, status)
	require.Empty(w.t, answer)
}

func TestHTTPWithSSE(t *testing.T) {
	tool := slow
	tool.Progress = mcp.Progress{Every: 6 * time.Second}
	inBubble(t, withTools(tool), func(w *world) {
		ctx, leave := context.WithCancel(context.Background())
		defer leave()
		stream, next := w.stream(ctx)
		defer stream.Body.Close()
		w.send(strings.Replace(initialize, "2025-11-25", "2024-11-05", 1))
		require.Contains(t, next(), `"protocolVersion":"2024-11-05"`)
		w.send(call("2", "slow", ""))
		w.send(call("3", "slow", `"a":1`))
		w.send(ping)
		require.Contains(t, next(), `{"jsonrpc":"2.0","id":7,"result":{}}`)
		sleep(time.Second)
		w.send(cancel("3"))
		require.Contains(t, next(), "progress")
		require.Contains(t, next(), `"id":2,"result"`)
		w.send(call("4", "slow", ""))
		sleep(time.Second)
		leave()
		w.settle()
		require.Equal(t, []string{"answered", "answered", "cancelled", "answered", "left"}, w.details("ended"))
		require.Equal(t, []string{"opened session-1 open=1", "closed session-1 open=0"}, w.details("session"))
		status, _ := w.ask(ping)
		require.Equal(t, 404, status)
		require.Empty(t, w.at("violation"))
	})
}

func TestTheEventStreamIsCutInACall(t *testing.T) {
	s := mcp.Script{Programs: []mcp.Program{{Steps: []script.Step{script.Pause{For: 3 * time.Second}, fault.Cut{}}}}}
	inBubble(t, s, func(w *world) {
		stream, _ := w.stream(context.Background())
		defer stream.Body.Close()
		w.send(call("2", "x", ""))
		_, err := io.ReadAll(stream.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, seconds(3), w.at("cut"))
	})
}

func TestOnlyTheOldRevisionHasAnEventStreamOfItsOwn(t *testing.T) {
	inBubble(t, mcp.Script{Revisions: []string{mcp.V20250326}}, func(w *world) {
		resp, err := w.client.Get("http://" + w.addr + "/sse")
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, 404, resp.StatusCode)
	})
}

func TestAnEventStreamIsRefused(t *testing.T) {
	s := mcp.Script{Programs: []mcp.Program{{When: mcp.When{Method: "GET"}, Steps: []script.Step{fault.Status{Code: 502}}}}}
	inBubble(t, s, func(w *world) {
		resp, err := w.client.Get("http://" + w.addr + "/sse")
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, 502, resp.StatusCode)
	})
}

func TestAProgramOfANotificationLeavesTheEventStreamOpen(t *testing.T) {
	s := mcp.Script{Programs: []mcp.Program{{When: mcp.When{Method: "notifications/initialized"}, Steps: []script.Step{mcp.Log{Text: "hm"}, mcp.EndStream{}}}}}
	inBubble(t, s, func(w *world) {
		stream, next := w.stream(context.Background())
		defer stream.Body.Close()
		w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		require.Contains(t, next(), "hm")
		w.send(ping)
		require.Contains(t, next(), `"id":7`)
	})
}

func TestConnectionsAreCounted(t *testing.T) {
	inBubble(t, mcp.Script{}, func(w *world) {
		w.begin()
		require.Empty(t, w.details("disconnect"))
		w.client.CloseIdleConnections()
		w.settle()
		require.Equal(t, w.details("connect"), w.details("disconnect"))
	})
}
