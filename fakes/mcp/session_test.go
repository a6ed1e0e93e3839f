package mcp_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
)

const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`

// reader reads the messages of an event stream.
func reader(t *testing.T, resp *http.Response) (next func() string) {
	in := bufio.NewScanner(resp.Body)
	return func() string {
		for in.Scan() {
			if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				return data
			}
		}
		require.NoError(t, in.Err())
		return ""
	}
}

// details lists those of a kind.
func (w *world) details(kind string) []string {
	w.settle()
	var list []string
	for _, e := range w.tl.Events() {
		if e.Kind == kind {
			list = append(list, e.Detail)
		}
	}
	return list
}

func TestSessionsExpire(t *testing.T) {
	inBubble(t, mcp.Script{Manners: mcp.Manners{Lives: mcp.Lives{For: 2 * time.Second}}}, func(w *world) {
		w.begin()
		status, _ := w.ask(ping)
		require.Equal(t, 200, status)
		sleep(5 * time.Second)
		status, _ = w.ask(ping)
		require.Equal(t, 404, status)
		w.session = ""
		w.begin()
		status, _ = w.ask(ping)
		require.Equal(t, 200, status)
		require.Equal(t, []string{"opened session-1 open=1", "expired session-1 open=0", "opened session-2 open=1"}, w.details("session"))
		require.Empty(t, w.at("violation"))
	})
}

func TestAllSessionsAreLostAtAGate(t *testing.T) {
	s := withTools(slow)
	s.Manners.Lives.LostAt = "restart"
	inBubble(t, s, func(w *world) {
		w.begin()
		time.AfterFunc(5*time.Second, func() { w.gates.Open("restart") })
		time.AfterFunc(6*time.Second, func() {
			status, _ := w.ask(call("3", "slow", ""))
			require.Equal(t, 404, status)
		})
		_, body := w.ask(call("2", "slow", ""))
		require.Contains(t, body, "done", "a call that is under way goes on")
		old := w.session
		w.session = ""
		w.begin()
		require.NotEqual(t, old, w.session)
		status, _ := w.ask(ping)
		require.Equal(t, 200, status)
	})
}

func TestServersWithoutSessions(t *testing.T) {
	s := withTools(slow)
	s.Manners.NoIDs = true
	inBubble(t, s, func(w *world) {
		resp := w.do(w.request(context.Background(), initialize))
		resp.Body.Close()
		require.Empty(t, resp.Header.Get("Mcp-Session-Id"))
		time.AfterFunc(time.Second, func() { w.ask(cancel("7")) })
		_, body := w.ask(call("7", "slow", ""))
		require.Empty(t, body)
		_, body = w.ask(call("7", "slow", ""))
		require.Contains(t, body, "done", "ids are not told apart")
	})
}

func TestSessionsAreBounded(t *testing.T) {
	inBubble(t, mcp.Script{}, func(w *world) {
		w.f.MaxPeers = 2
		for _, want := range []int{200, 200, 503} {
			status, _ := w.ask(initialize)
			require.Equal(t, want, status)
		}
	})
}

func TestOneCallAtATime(t *testing.T) {
	s := withTools(slow)
	s.Manners.Single = true
	inBubble(t, s, func(w *world) {
		w.begin()
		var calls sync.WaitGroup
		for i, id := range []string{"2", "3", "4"} {
			calls.Go(func() {
				sleep(time.Duration(i) * time.Second)
				w.ask(call(id, "slow", `"id":`+id))
			})
		}
		time.AfterFunc(5*time.Second, func() { w.ask(cancel("3")) })
		calls.Wait()
		require.Equal(t, seconds(10, 20), w.at("result"))
		require.Equal(t, seconds(5, 10, 20), w.at("ended"))
		require.Len(t, w.at("effect"), 2, "a call that was cancelled in the queue never runs")
	})
}

func TestEffectsAreCountedByTheirArguments(t *testing.T) {
	s := withTools(slow)
	s.Tools[0].Takes = 0
	s.Tools[0].Effect = mcp.AtStart
	inBubble(t, s, func(w *world) {
		w.begin()
		w.ask(call("2", "slow", `"a":1`))
		w.ask(call("3", "slow", `"a":2`))
		w.ask(call("4", "slow", `"a":1`))
		require.Equal(t, []string{`tool="slow" count=1 id=2`, `tool="slow" count=1 id=3`, `tool="slow" count=2 id=4`}, w.details("effect"))
	})
}

func TestJSONAnswersDropWhatIsToldMeanwhile(t *testing.T) {
	tool := slow
	tool.Progress = mcp.Progress{Every: 5 * time.Second}
	s := withTools(tool)
	s.Manners.Answers = mcp.JSONAnswers
	inBubble(t, s, func(w *world) {
		w.begin()
		_, body := w.ask(call("2", "slow", ""))
		require.JSONEq(t, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}`, body)
		require.Len(t, w.at("dropped"), 2)
		time.AfterFunc(time.Second, func() { w.ask(cancel("3")) })
		_, err := w.client.Do(w.request(context.Background(), call("3", "slow", "")))
		require.Error(t, err, "there is no JSON that says nothing")
		w.settle() // for the answer to the cancel
	})
}

func TestLargeResults(t *testing.T) {
	const size = 3<<20 + 7
	tool := mcp.Tool{Name: "large", Result: mcp.Result{Size: size}}
	inBubble(t, withTools(tool), func(w *world) {
		w.begin()
		_, body := w.ask(call("2", "large", ""))
		require.Len(t, datas(body), 1)
		_, text, ok := strings.Cut(datas(body)[0], `"text":"`)
		require.True(t, ok)
		text, ok = strings.CutSuffix(text, `"}]}}`)
		require.True(t, ok)
		require.Len(t, text, size)
	})
}
