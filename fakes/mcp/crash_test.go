package mcp_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

func TestACrashTakesEverythingWithIt(t *testing.T) {
	s := withTools(slow)
	s.Programs = []mcp.Program{{When: mcp.When{Tool: "deadly"}, Steps: []script.Step{script.Pause{For: 3 * time.Second}, mcp.Crash{}}}}
	inBubble(t, s, func(w *world) {
		w.begin()
		p := w.pipes()
		stream := w.do(w.get(context.Background(), ""))
		defer stream.Body.Close()
		running := w.do(w.request(context.Background(), call("2", "slow", "")))
		defer running.Body.Close()
		_, err := w.client.Do(w.request(context.Background(), call("3", "deadly", "")))
		require.ErrorIs(t, err, syscall.ECONNRESET)
		for _, body := range []io.Reader{stream.Body, running.Body} {
			_, err = io.ReadAll(body)
			require.ErrorIs(t, err, syscall.ECONNRESET)
		}
		require.Empty(t, p.line())
		require.ErrorIs(t, <-p.done, context.Canceled)
		p.stop()
		require.Equal(t, seconds(3), w.at("crash"))
		status, _ := w.ask(ping)
		require.Equal(t, 404, status)
		w.session = ""
		w.begin()
		_, body := w.ask(call("2", "slow", ""))
		require.Contains(t, body, "done", "the server is there again")
	})
}

func TestACancelMayKillTheServer(t *testing.T) {
	s := withTools(slow)
	s.Programs = []mcp.Program{{When: mcp.When{Method: "notifications/cancelled"}, Steps: []script.Step{mcp.Crash{}}}}
	inBubble(t, s, func(w *world) {
		p := w.pipes()
		p.send(call("2", "slow", ""))
		p.send(cancel("2"))
		require.Empty(t, p.line())
		require.ErrorIs(t, <-p.done, context.Canceled)
		p.stop()
	})
}

func TestBeginningsOfAnEventStream(t *testing.T) {
	tests := []struct {
		name     string
		endpoint mcp.Endpoint
		want     string
	}{
		{"nothing", mcp.NoEndpoint, ""},
		{"another host", mcp.ForeignEndpoint, "event: endpoint\ndata: http://elsewhere.invalid/messages?sessionId=session-1\n\n"},
		{"twice", mcp.TwoEndpoints, strings.Repeat("event: endpoint\ndata: /messages?sessionId=session-1\n\n", 2)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, mcp.Script{Manners: mcp.Manners{Endpoint: test.endpoint}}, func(w *world) {
				ctx, leave := context.WithTimeout(context.Background(), time.Second)
				defer leave()
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.addr+"/sse", nil)
				require.NoError(t, err)
				stream := w.do(r)
				defer stream.Body.Close()
				b, err := io.ReadAll(stream.Body)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, test.want, string(b))
			})
		})
	}
}

func TestCallsAreBounded(t *testing.T) {
	inBubble(t, withTools(slow), func(w *world) {
		w.f.MaxCalls = 2
		p := w.pipes()
		p.send(call("1", "slow", ""))
		p.send(call("2", "slow", ""))
		p.send(call("3", "slow", ""))
		require.Contains(t, p.line(), "above 2 calls")
		p.end()
	})
}

func TestLinesAreBounded(t *testing.T) {
	inBubble(t, mcp.Script{}, func(w *world) {
		w.f.MaxBody = 100
		p := w.pipes()
		go func() { _, _ = io.WriteString(p.in, strings.Repeat("x", 200)) }()
		require.ErrorIs(t, <-p.done, bufio.ErrTooLong)
		require.Equal(t, []string{"a message above 100 bytes"}, w.details("violation"))
		p.stop()
	})
}

func TestManyCallsAtOnce(t *testing.T) {
	const count = 200
	tool := slow
	tool.Progress = mcp.Progress{Every: time.Second}
	inBubble(t, withTools(tool), func(w *world) {
		w.begin()
		var calls sync.WaitGroup
		for i := range count {
			id := strconv.Itoa(100 + i)
			calls.Go(func() { w.ask(call(id, "slow", `"n":`+id)) })
			if i%4 == 0 {
				calls.Go(func() {
					sleep(time.Duration(i)*10*time.Millisecond + time.Second)
					w.ask(cancel(id))
				})
			}
		}
		calls.Wait()
		ends := map[string]int{}
		for _, how := range w.details("ended")[1:] {
			ends[how]++
		}
		require.Equal(t, map[string]int{"answered": count * 3 / 4, "cancelled": count / 4}, ends)
		require.Len(t, w.at("effect"), count*3/4)
		require.Empty(t, w.at("violation"))
	})
}
