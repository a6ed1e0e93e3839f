package mcp_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/timeline"
)

var slow = mcp.Tool{Name: "slow", Takes: 10 * time.Second, Effect: mcp.AfterAnswer, Result: mcp.Result{Text: "done"}}

func withTools(tools ...mcp.Tool) mcp.Script { return mcp.Script{Tools: tools} }

func TestASessionOfStreamableHTTP(t *testing.T) {
	inBubble(t, withTools(slow), func(w *world) {
		status, body := w.ask(initialize)
		require.Equal(t, 200, status)
		require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"logging":{},"tools":{"listChanged":true}},"serverInfo":{"name":"stallwright","version":"1.0.0"}}}`, body)
		w.begin()
		_, body = w.ask(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
		require.JSONEq(t, `{"jsonrpc":"2.0","id":"list","result":{"tools":[{"name":"slow","description":"A tool for tests.","inputSchema":{"type":"object"}}]}}`, body)
		w.settle()
		status, body = w.ask(call("3", "slow", `"n":1`))
		require.Equal(t, 200, status)
		require.Equal(t, "event: message\ndata: "+`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"done"}]}}`+"\n\n", body)
		require.Equal(t, seconds(10), w.at("effect"))
		require.Equal(t, []string{
			`#2 request initialize id=1`, `#2 result id=1`, `#2 ended answered`,
			`#3 request tools/list id="list"`, `#3 result id="list"`, `#3 ended answered`,
			`#4 request tools/call id=3 tool="slow"`, `#4 result id=3`, `#4 effect tool="slow" count=1 id=3`, `#4 ended answered`,
		}, w.events())
		require.Len(t, w.at("connect"), 1, "connections are kept")
		require.Empty(t, w.at("violation"))
		r := w.request(context.Background(), "")
		r.Method, r.Body, r.ContentLength = "DELETE", nil, 0
		status, _ = w.all(r)
		require.Equal(t, 204, status)
		status, _ = w.ask(call("4", "slow", ""))
		require.Equal(t, 404, status)
		e, ok := w.tl.Find(func(e timeline.Event) bool { return e.Kind == "session" && strings.HasPrefix(e.Detail, "deleted") })
		require.True(t, ok)
		require.Equal(t, "deleted session-2 open=1", e.Detail)
	})
}

func TestOverTCP(t *testing.T) {
	quick := mcp.Tool{Name: "quick", Progress: mcp.Progress{Count: 3}, Result: mcp.Result{Text: "done"}}
	overTCP(t, withTools(quick), func(w *world) {
		w.begin()
		_, body := w.ask(call("2", "quick", ""))
		require.Len(t, datas(body), 4)
		require.Contains(t, datas(body)[0], `{"progressToken":"tok","progress":1}`)
		_, body = w.all(w.modern(context.Background(), "3", "tools/call", `"name":"quick"`))
		require.Contains(t, body, `"resultType":"complete"`)
		require.Empty(t, w.at("violation"))
	})
}

func TestProgressIsToldToThoseWhoGaveAToken(t *testing.T) {
	tool := slow
	tool.Progress = mcp.Progress{Every: 3 * time.Second, Total: 3}
	inBubble(t, withTools(tool), func(w *world) {
		w.begin()
		_, body := w.ask(call("2", "slow", ""))
		require.Len(t, datas(body), 4)
		require.Equal(t, seconds(3, 6, 9), w.at("progress"))
		require.Equal(t, seconds(10), w.at("result"))
		_, body = w.ask(strings.Replace(call("3", "slow", ""), "progressToken", "other", 1))
		require.Len(t, datas(body), 1)
		require.Equal(t, seconds(10, 20), w.at("result"))
	})
}

func TestACancelledCallIsSilent(t *testing.T) {
	inBubble(t, withTools(slow), func(w *world) {
		w.begin()
		time.AfterFunc(4*time.Second, func() { w.ask(cancel("2")) })
		_, body := w.ask(call("2", "slow", ""))
		require.Empty(t, body)
		require.Equal(t, seconds(4), w.at("ended"))
		require.Equal(t, []string{`#2 request tools/call id=2 tool="slow"`, `#2 cancelled id=2`, `#2 ended cancelled`}, w.events())
		require.Empty(t, w.at("violation"))
	})
}

func TestReactionsToACancel(t *testing.T) {
	tests := []struct {
		name   string
		do     mcp.OnCancel
		id     string
		want   []string // kinds after the cancel
		bodies int
		ends   float64
	}{
		{"a result is sent all the same", mcp.OnCancel{Do: mcp.AnswerWell, After: 2 * time.Second}, "2", []string{"result", "ended"}, 1, 6},
		{"an error is sent all the same", mcp.OnCancel{Do: mcp.AnswerError}, "2", []string{"error", "ended"}, 1, 4},
		{"two results are sent", mcp.OnCancel{Do: mcp.AnswerTwice}, "2", []string{"result", "result", "ended"}, 2, 4},
		{"nothing changes", mcp.OnCancel{Do: mcp.Ignore}, "2", []string{"result", "effect", "ended"}, 1, 10},
		{"an id of another type is no call's", mcp.OnCancel{}, `"2"`, []string{"violation", "result", "effect", "ended"}, 1, 10},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := withTools(slow)
			s.Manners.OnCancel = test.do
			inBubble(t, s, func(w *world) {
				w.begin()
				time.AfterFunc(4*time.Second, func() { w.ask(cancel(test.id)) })
				_, body := w.ask(call("2", "slow", ""))
				require.Len(t, datas(body), test.bodies)
				w.settle()
				var kinds []string
				after := false
				for _, e := range w.tl.Events() {
					if after && e.Kind != "connect" && e.Kind != "disconnect" {
						kinds = append(kinds, e.Kind)
					}
					after = after || e.Kind == "cancelled"
				}
				require.Equal(t, test.want, kinds)
				require.Equal(t, seconds(test.ends), w.at("ended"))
			})
		})
	}
}

func TestLooseServersMatchIdsByTheirText(t *testing.T) {
	s := withTools(slow)
	s.Manners.Loose = true
	inBubble(t, s, func(w *world) {
		w.begin()
		time.AfterFunc(time.Second, func() { w.ask(cancel(`"2"`)) })
		w.ask(call("2", "slow", ""))
		require.Equal(t, seconds(1), w.at("ended"))
	})
}

func TestLeavingCancelsInTheModernRevisionOnly(t *testing.T) {
	for _, modern := range []bool{true, false} {
		inBubble(t, withTools(slow), func(w *world) {
			w.begin()
			ctx, leave := context.WithTimeout(context.Background(), 3*time.Second)
			defer leave()
			r := w.request(ctx, call("2", "slow", ""))
			if modern {
				r = w.modern(ctx, "2", "tools/call", `"name":"slow"`)
			}
			resp := w.do(r)
			_, err := io.ReadAll(resp.Body)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			resp.Body.Close()
			sleep(20 * time.Second)
			want := []string{`#2 request tools/call id=2 tool="slow"`, "#2 left fin", "#2 ended cancelled"}
			if !modern {
				want = append(want[:2], "#2 dropped result", `#2 effect tool="slow" count=1 id=2`, "#2 ended answered")
			}
			require.Equal(t, want, w.events())
			require.Equal(t, seconds(3), w.at("left"))
		})
	}
}

func TestWhatClientsDoWrongIsRecorded(t *testing.T) {
	tests := []struct {
		name   string
		body   string
		status int
		want   string
	}{
		{"no JSON", `{"jsonrpc"`, 400, "the message is no JSON at byte 10"},
		{"a batch", `[]`, 400, "a batch of messages: the fake takes one at a time"},
		{"no method", `{"jsonrpc":"2.0"}`, 400, "the message has no method and no id"},
		{"an id of null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, "the id of a request is null"},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, `jsonrpc is "1.0": want 2.0`},
		{"an unknown method", `{"jsonrpc":"2.0","id":7,"method":"tools/frobnicate"}`, 200, `unknown method: "tools/frobnicate"`},
		{"an unknown tool", call("7", "none", ""), 200, `unknown tool: "none"`},
		{"an id used before", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 200, "the id was used before: 1"},
		{"a cancel of nothing", cancel("99"), 202, "cancelled an unknown id: 99"},
		{"a cancel of what is answered", cancel("1"), 202, "cancelled after the response"},
		{"a response to nothing", `{"jsonrpc":"2.0","id":1,"result":{}}`, 202, "a response to nothing that was asked: id=1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, withTools(slow), func(w *world) {
				w.begin()
				w.settle() // initialize has ended
				status, _ := w.ask(test.body)
				require.Equal(t, test.status, status)
				require.Equal(t, test.want, w.await("violation").Detail)
				w.session = "" // so that the first request counts
				require.Len(t, w.at("violation"), 1)
			})
		})
	}
}

func TestHeadersThatClientsOwe(t *testing.T) {
	tests := []struct {
		name, header, value string
		status              int
		want                string
	}{
		{"a session", "Mcp-Session-Id", "", 400, "no Mcp-Session-Id"},
		{"what it accepts", "Accept", "*/*", 200, `Accept is "*/*": want application/json and text/event-stream`},
		{"what it sends", "Content-Type", "text/plain", 200, `Content-Type is "text/plain": want application/json`},
		{"its revision", "MCP-Protocol-Version", "", 200, "ping without MCP-Protocol-Version, in 2025-11-25"},
		{"a revision that there is", "MCP-Protocol-Version", "1999-01-01", 400, `MCP-Protocol-Version is "1999-01-01", which the server does not speak`},
		{"the agreed revision", "MCP-Protocol-Version", "2025-06-18", 200, "MCP-Protocol-Version is 2025-06-18 in a session of 2025-11-25"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, mcp.Script{}, func(w *world) {
				w.begin()
				r := w.request(context.Background(), `{"jsonrpc":"2.0","id":7,"method":"ping"}`)
				r.Header.Set(test.header, test.value)
				if test.value == "" {
					r.Header.Del(test.header)
				}
				status, _ := w.all(r)
				require.Equal(t, test.status, status)
				require.Equal(t, test.want, w.await("violation").Detail)
			})
		})
	}
}
