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

// get makes a GET for an event stream.
func (w *world) get(ctx context.Context, last string) *http.Request {
	r := w.request(ctx, "")
	r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	return r
}

func TestAnswersToGet(t *testing.T) {
	tests := []struct {
		get    mcp.Get
		status int
		kind   string
	}{
		{mcp.GetEmpty, 200, "text/event-stream"}, {mcp.GetRefused, 405, "text/plain; charset=utf-8"},
		{mcp.GetBad, 400, "text/plain; charset=utf-8"}, {mcp.GetText, 200, "text/plain; charset=utf-8"},
	}
	for _, test := range tests {
		t.Run(string(test.get), func(t *testing.T) {
			inBubble(t, mcp.Script{Manners: mcp.Manners{Get: test.get}}, func(w *world) {
				w.begin()
				resp := w.do(w.get(context.Background(), ""))
				_, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				resp.Body.Close()
				require.Equal(t, test.status, resp.StatusCode)
				require.Equal(t, test.kind, resp.Header.Get("Content-Type"))
				require.Equal(t, []string{w.session}, w.details("get"))
			})
		})
	}
}

func TestAnswersToDelete(t *testing.T) {
	for del, want := range map[mcp.Delete]int{mcp.DeleteDone: 204, mcp.DeleteUnknown: 404, mcp.DeleteRefused: 405} {
		inBubble(t, mcp.Script{Manners: mcp.Manners{Delete: del}}, func(w *world) {
			w.begin()
			r := w.get(context.Background(), "")
			r.Method = http.MethodDelete
			status, _ := w.all(r)
			require.Equal(t, want, status)
		})
	}
	inBubble(t, mcp.Script{Manners: mcp.Manners{Delete: mcp.DeleteHangs}}, func(w *world) {
		w.begin()
		ctx, leave := context.WithTimeout(context.Background(), time.Hour)
		defer leave()
		r := w.get(ctx, "")
		r.Method = http.MethodDelete
		_, err := w.client.Do(r)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, "#delete1", w.await("left").Ref)
	})
}

func TestDeleteEndsWhatRuns(t *testing.T) {
	inBubble(t, withTools(slow), func(w *world) {
		w.begin()
		stream := w.do(w.get(context.Background(), ""))
		defer stream.Body.Close()
		time.AfterFunc(2*time.Second, func() {
			r := w.get(context.Background(), "")
			r.Method = http.MethodDelete
			w.all(r)
		})
		resp := w.do(w.request(context.Background(), call("2", "slow", "")))
		_, err := io.ReadAll(resp.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		resp.Body.Close()
		require.Equal(t, []string{"closed"}, w.details("ended")[1:])
		require.Equal(t, seconds(2), w.at("ended"))
		require.Empty(t, reader(t, stream)())
	})
}

func TestTheSessionsStream(t *testing.T) {
	s := withTools(slow, mcp.Tool{Name: "other"})
	s.Manners.List = mcp.List{Short: 1, Changed: 3 * time.Second}
	s.Programs = []mcp.Program{{When: mcp.When{Method: "ping"}, Times: script.Any, Steps: []script.Step{
		mcp.Notify{Method: "notifications/resources/list_changed", On: mcp.OnSession}, mcp.Result{},
	}}}
	inBubble(t, s, func(w *world) {
		w.begin()
		const list = `{"jsonrpc":"2.0","id":"l","method":"tools/list"}`
		ctx, leave := context.WithCancel(context.Background())
		stream := w.do(w.get(ctx, ""))
		next := reader(t, stream)
		_, body := w.ask(list)
		require.Equal(t, 1, strings.Count(body, `"name"`))
		require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, next())
		require.Equal(t, seconds(3), w.at("notify"))
		_, body = w.ask(list)
		require.Equal(t, 2, strings.Count(body, `"name"`))
		_, body = w.ask(ping)
		require.JSONEq(t, `{"jsonrpc":"2.0","id":7,"result":{}}`, body)
		require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`, next())
		leave()
		w.await("left")
		stream.Body.Close()
		w.settle()
		w.ask(ping)
		require.Equal(t, []string{"notify notifications/resources/list_changed"}, w.details("dropped"))
	})
}

func TestAGetPlaysItsProgram(t *testing.T) {
	s := mcp.Script{Programs: []mcp.Program{
		{When: mcp.When{Method: "GET"}, Steps: []script.Step{script.Headers{}, script.Pause{For: 25 * time.Second}, mcp.Notify{Method: "notifications/x"}, fault.Cut{}}},
		{When: mcp.When{Method: "GET"}, Steps: []script.Step{mcp.EndStream{}}},
		{When: mcp.When{Method: "GET"}, Steps: []script.Step{script.Comment{Text: "hm"}, fault.Reset{}}},
	}}
	inBubble(t, s, func(w *world) {
		w.begin()
		stream := w.do(w.get(context.Background(), ""))
		_, err := io.ReadAll(stream.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		stream.Body.Close()
		require.Equal(t, seconds(25), w.at("cut"))
		status, body := w.all(w.get(context.Background(), ""))
		require.Equal(t, 200, status)
		require.Empty(t, body)
		stream = w.do(w.get(context.Background(), ""))
		_, err = io.ReadAll(stream.Body)
		require.Error(t, err)
		stream.Body.Close()
		require.Empty(t, w.f.Release(""))
	})
}
