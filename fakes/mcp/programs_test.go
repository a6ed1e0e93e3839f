package mcp_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

func TestProgramsReplaceTheProtocol(t *testing.T) {
	tests := []struct {
		name  string
		when  mcp.When
		steps []script.Step
		want  string // of the body
		fails bool   // the body is cut off
	}{
		{"a wrong id", mcp.When{}, []script.Step{mcp.Result{Text: "x", ID: mcp.WrongID}}, `"id":987654321,"result"`, false},
		{"an id as text", mcp.When{}, []script.Step{mcp.Result{Text: "x", ID: mcp.TextID}}, `"id":"2"`, false},
		{"an id of null", mcp.When{Tool: "slow"}, []script.Step{mcp.Result{Text: "x", ID: mcp.NullID}}, `"id":null`, false},
		{"no id", mcp.When{Contains: "slow"}, []script.Step{mcp.Result{Text: "x", ID: mcp.NoID}}, `{"jsonrpc":"2.0","result"`, false},
		{"an error of any code", mcp.When{}, []script.Step{mcp.Error{Code: -31999, Message: "no", Data: `{"a":1}`}}, `"error":{"code":-31999,"message":"no","data":{"a":1}}`, false},
		{"neither result nor error", mcp.When{}, []script.Step{mcp.Result{With: mcp.Neither}}, `{"jsonrpc":"2.0","id":2}`, false},
		{"both result and error", mcp.When{}, []script.Step{mcp.Result{With: mcp.ErrorToo}}, `"error":{"code":-32603,"message":"both at once"},"result":`, false},
		{"no version of JSON-RPC", mcp.When{}, []script.Step{mcp.Result{With: mcp.NoVersion}}, `data: {"id":2,"result":`, false},
		{"a structured result", mcp.When{}, []script.Step{mcp.Result{Structured: `{"a":[1]}`}}, `"text":"{\"a\":[1]}"}],"structuredContent":{"a":[1]}`, false},
		{"a log message", mcp.When{}, []script.Step{mcp.Log{Text: "hm"}, mcp.Result{}}, `"method":"notifications/message","params":{"level":"info","data":"hm"}`, false},
		{"bytes as they are", mcp.When{}, []script.Step{script.Raw{Bytes: "data: [1\n\n"}, mcp.Result{}}, "data: [1\n\n", false},
		{"a comment", mcp.When{}, []script.Step{script.Comment{Text: "hm"}, mcp.Result{}}, ": hm\n\n", false},
		{"a cut", mcp.When{}, []script.Step{mcp.Progress{}, fault.Cut{}}, "progress", true},
		{"a reset", mcp.When{}, []script.Step{mcp.Progress{}, script.Pause{For: time.Second}, fault.Reset{}}, "progress", true},
		{"half an answer", mcp.When{}, []script.Step{mcp.Progress{}, fault.HalfClose{}, fault.Stall{For: time.Second}}, "progress", true},
		{"a clean end without an answer", mcp.When{}, []script.Step{mcp.Progress{}, mcp.EndStream{}}, "progress", false},
		{"a broken brace", mcp.When{}, []script.Step{fault.Garble{}, mcp.Result{Text: "x"}}, `"text":"x"}]}` + "\n\n", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := withTools(slow)
			s.Programs = []mcp.Program{{When: test.when, Steps: test.steps}}
			inBubble(t, s, func(w *world) {
				w.begin()
				resp := w.do(w.request(context.Background(), call("2", "slow", "")))
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				require.Equal(t, test.fails, err != nil, "%v", err)
				require.Contains(t, string(body), test.want)
				require.Empty(t, w.at("violation"))
				require.Empty(t, w.f.Release(""))
			})
		})
	}
}

func TestAnswersOfAnyStatus(t *testing.T) {
	s := mcp.Script{Programs: []mcp.Program{
		{When: mcp.When{Method: "initialize"}, Steps: []script.Step{script.Pause{For: time.Second}, fault.Status{Code: 503, Header: map[string]string{"Retry-After": "1"}}}},
		{When: mcp.When{Method: "notifications/initialized"}, Steps: []script.Step{fault.Status{Code: 500, Blank: true}}},
		{When: mcp.When{Method: "GET"}, Steps: []script.Step{fault.Status{Code: 401}}},
		{When: mcp.When{Method: "DELETE"}, Steps: []script.Step{script.Pause{For: 7 * time.Second}, fault.Status{Code: 202}}},
		{When: mcp.When{Method: "ping"}, Steps: []script.Step{fault.Stall{}}},
	}}
	inBubble(t, s, func(w *world) {
		status, _ := w.ask(initialize)
		require.Equal(t, 503, status)
		resp := w.do(w.request(context.Background(), initialize))
		resp.Body.Close()
		w.session = resp.Header.Get("Mcp-Session-Id")
		status, _ = w.ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		require.Equal(t, 500, status)
		for method, want := range map[string]int{"GET": 401, "DELETE": 202} {
			r := w.request(context.Background(), "")
			r.Method, r.Body, r.ContentLength = method, nil, 0
			status, _ = w.all(r)
			require.Equal(t, want, status)
		}
		ctx, leave := context.WithTimeout(context.Background(), time.Minute)
		defer leave()
		_, err := w.client.Do(w.request(ctx, `{"jsonrpc":"2.0","id":9,"method":"ping"}`))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Empty(t, w.at("violation"))
		require.Empty(t, w.f.Release(""))
	})
}

func TestMarkersLeadCallsToTheirSessions(t *testing.T) {
	inBubble(t, withTools(slow), func(w *world) {
		w.begin()
		other := timeline.New()
		require.NoError(t, w.f.Open("case", &mcp.Session{
			Timeline: other, Script: mcp.Script{Programs: []mcp.Program{{Steps: []script.Step{mcp.Error{Code: 1}}}, {Steps: []script.Step{fault.Stall{}}}}},
		}))
		_, body := w.ask(call("2", "slow", `"x":{"y":"say [[sw:case]]"}`))
		require.Contains(t, body, `"code":1`)
		status, _ := w.ask(call("3", "slow", `"x":"say [[sw:none]]"`))
		require.Equal(t, 500, status)
		require.Equal(t, 1, w.f.Strays())
		require.Equal(t, []string{"program 2 (tools/call) was taken by 0 of 1 requests"}, w.f.Release("case"))
		require.Equal(t, "#1", other.Events()[0].Ref)
		require.Equal(t, mcp.Lane, other.Events()[0].Lane)
	})
}

func TestReleaseEndsItsCalls(t *testing.T) {
	inBubble(t, mcp.Script{Programs: []mcp.Program{{Steps: []script.Step{fault.Stall{}}}}}, func(w *world) {
		w.begin()
		time.AfterFunc(5*time.Second, func() { w.f.Release("") })
		_, err := w.client.Do(w.request(context.Background(), call("2", "slow", "")))
		require.Error(t, err)
		require.Equal(t, []string{`#2 request tools/call id=2 tool="slow"`, "#2 stall for ever", "#2 ended closed"}, w.events())
	})
}
