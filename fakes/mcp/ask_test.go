package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

// idOf is a message's.
func idOf(t *testing.T, message string) string {
	t.Helper()
	var m struct{ ID json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(message), &m))
	return string(m.ID)
}

func asks(steps ...script.Step) mcp.Script {
	return mcp.Script{Programs: []mcp.Program{{Steps: append(steps, mcp.Result{Text: "done"})}}}
}

func TestTheClientIsAskedInACall(t *testing.T) {
	inBubble(t, asks(mcp.Ask{Method: "sampling/createMessage"}, script.Pause{For: time.Second}), func(w *world) {
		w.begin()
		resp := w.do(w.request(context.Background(), call("2", "x", "")))
		defer resp.Body.Close()
		next := reader(t, resp)
		asked := next()
		require.Contains(t, asked, `"method":"sampling/createMessage","params":{"messages":`)
		sleep(5 * time.Second)
		w.ask(`{"jsonrpc":"2.0","id":` + idOf(t, asked) + `,"error":{"code":-32601,"message":"no"}}`)
		require.Contains(t, next(), "done")
		require.Equal(t, seconds(5), w.at("answered"))
		require.Equal(t, seconds(6), w.at("result"))
		require.Equal(t, []string{`id="ask-1" error={"code":-32601,"message":"no"}`}, w.details("answered"))
	})
}

func TestAnAnswerIsWaitedForAsLongAsTheScriptSays(t *testing.T) {
	inBubble(t, asks(mcp.Ask{Method: "roots/list", For: 9 * time.Second}, mcp.Ask{Method: "ping", Blind: true, ID: mcp.SameID}), func(w *world) {
		w.begin()
		_, body := w.ask(call("2", "x", ""))
		require.Len(t, datas(body), 3)
		require.Equal(t, "2", idOf(t, datas(body)[1]))
		require.Equal(t, seconds(9), w.at("unanswered"))
		require.Equal(t, seconds(9), w.at("result"))
	})
}

func TestTheClientIsAskedOnTheSessionsStream(t *testing.T) {
	inBubble(t, asks(mcp.Ask{Method: "elicitation/create", On: mcp.OnSession}), func(w *world) {
		w.begin()
		ctx, leave := context.WithTimeout(context.Background(), time.Hour)
		_, err := w.client.Do(w.request(ctx, call("2", "x", "")))
		if err == nil { // the head was sent
			t.Fatal("a request that nobody gets has no answer")
		}
		leave()
		require.Equal(t, []string{`ask elicitation/create id="ask-1"`}, w.details("dropped"))
	})
	inBubble(t, asks(mcp.Ask{Method: "elicitation/create", On: mcp.OnSession}), func(w *world) {
		w.begin()
		stream := w.do(w.get(context.Background(), ""))
		defer stream.Body.Close()
		next := reader(t, stream)
		time.AfterFunc(time.Second, func() {
			w.ask(`{"jsonrpc":"2.0","id":` + idOf(t, next()) + `,"result":{"action":"accept"}}`)
		})
		_, body := w.ask(call("2", "x", ""))
		require.Contains(t, body, "done")
		require.Equal(t, seconds(1), w.at("answered"))
	})
}

func TestStreamsAreResumed(t *testing.T) {
	s := asks(mcp.Progress{}, script.Pause{For: time.Second}, mcp.EndStream{Retry: 500 * time.Millisecond}, mcp.Progress{}, script.Pause{For: 4 * time.Second})
	s.Manners.EventIDs = true
	inBubble(t, s, func(w *world) {
		w.begin()
		_, body := w.ask(call("2", "x", ""))
		require.True(t, strings.HasPrefix(body, "id: stream-1/0\ndata:\n\n"), body)
		require.True(t, strings.HasSuffix(body, "retry: 500\nid: stream-1/1\ndata:\n\n"), body)
		require.Contains(t, body, "id: stream-1/1\ndata: ")
		sleep(time.Second)
		_, body = w.all(w.get(context.Background(), "stream-1/1"))
		require.Equal(t, 2, strings.Count(body, "data: "), body)
		require.Contains(t, body, "id: stream-1/3\n")
		require.Equal(t, seconds(5), w.at("result"))
		// Once more, when the call is over.
		_, body = w.all(w.get(context.Background(), "stream-1/2"))
		require.Equal(t, 1, len(datas(body)))
		require.Contains(t, body, "done")
		require.Equal(t, []string{"progress 2 token=\"tok\""}, w.details("kept"))
		require.Equal(t, []string{"stream-1/2", "stream-1/3"}, w.details("resent"))
		require.Empty(t, w.at("violation"))
	})
}

func TestACallSurvivesItsConnectionWhereEventsHaveIDs(t *testing.T) {
	s := withTools(slow)
	s.Manners.EventIDs = true
	inBubble(t, s, func(w *world) {
		w.begin()
		ctx, leave := context.WithTimeout(context.Background(), 2*time.Second)
		defer leave()
		resp := w.do(w.request(ctx, call("2", "slow", "")))
		_, err := io.ReadAll(resp.Body)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		resp.Body.Close()
		sleep(20 * time.Second)
		require.Equal(t, seconds(10), w.at("kept"))
		_, body := w.all(w.get(context.Background(), "stream-1/0"))
		require.Contains(t, body, "done")
	})
}
