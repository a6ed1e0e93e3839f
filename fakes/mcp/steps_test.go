package mcp_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

// playing is a script whose calls of tools play these steps.
func playing(steps ...script.Step) mcp.Script {
	return mcp.Script{Programs: []mcp.Program{{Times: script.Any, Steps: steps}}}
}

func TestTimeOfSteps(t *testing.T) {
	inBubble(t, playing(
		script.Pause{For: time.Second}, mcp.Progress{Every: 2 * time.Second, Count: 2}, // at 3 and 5
		script.Await{Gate: "go"}, // at 20
		script.Repeat{Times: 2, Steps: []script.Step{script.Pause{For: time.Second}, mcp.Log{Text: "x"}}},
		fault.Stall{For: 8 * time.Second}, script.Open{Gate: "told"}, mcp.Result{}, // at 30
	), func(w *world) {
		w.begin()
		time.AfterFunc(20*time.Second, func() { w.gates.Open("go") })
		w.ask(call("2", "x", ""))
		require.Equal(t, seconds(3, 5), w.at("progress"))
		require.Equal(t, seconds(21, 22), w.at("log"))
		require.Equal(t, seconds(22), w.at("stall"))
		require.Equal(t, seconds(30), w.at("result"))
		<-w.gates.Opened("told")
	})
}

func TestJitterFollowsTheSeed(t *testing.T) {
	draw := func() (at time.Duration) {
		inBubble(t, playing(script.Pause{For: time.Second, Jitter: time.Minute}, mcp.Result{}), func(w *world) {
			w.begin()
			w.ask(call("2", "x", ""))
			at = w.at("result")[0]
			require.Equal(t, []string{"1"}, w.details("seed"))
		})
		return at
	}
	first := draw()
	require.Greater(t, first, time.Second)
	require.Less(t, first, 61*time.Second)
	require.Equal(t, first, draw())
}

func TestTokensOfProgress(t *testing.T) {
	inBubble(t, playing(
		mcp.Progress{}, mcp.Progress{Token: mcp.AlwaysToken}, mcp.Progress{Token: mcp.UnknownToken, Total: 9, Text: "hm"}, mcp.Result{},
	), func(w *world) {
		w.begin()
		_, body := w.ask(call("2", "x", ""))
		list := datas(body)
		require.Contains(t, list[0], `{"progressToken":"tok","progress":1}`)
		require.Contains(t, list[1], `{"progressToken":"tok","progress":2}`)
		require.Contains(t, list[2], `{"progressToken":"no-such-token","progress":3,"total":9,"message":"hm"}`)
		_, body = w.ask(strings.Replace(call("3", "x", ""), "progressToken", "none", 1))
		list = datas(body)
		require.Len(t, list, 3)
		require.Contains(t, list[0], `{"progressToken":"token-of-3","progress":2}`)
	})
}

func TestProgressForEver(t *testing.T) {
	inBubble(t, playing(script.Repeat{Steps: []script.Step{mcp.Progress{Every: time.Second, Token: mcp.AlwaysToken}}}), func(w *world) {
		w.begin()
		time.AfterFunc(4500*time.Millisecond, func() { w.ask(cancel("2")) })
		w.ask(call("2", "x", ""))
		require.Equal(t, seconds(1, 2, 3, 4), w.at("progress"))
		ctx, leave := context.WithTimeout(context.Background(), 2500*time.Millisecond)
		defer leave()
		resp := w.do(w.request(ctx, call("3", "x", "")))
		<-ctx.Done()
		resp.Body.Close()
		sleep(time.Minute)
		require.Equal(t, []string{"cancelled", "left"}, w.details("ended")[1:], "nobody is there any more")
	})
}

func TestARepeatWithoutEndTakesTime(t *testing.T) {
	inBubble(t, playing(script.Repeat{Steps: []script.Step{script.Await{Gate: "open"}, mcp.Log{Text: "x"}}}), func(w *world) {
		w.gates.Open("open")
		w.begin()
		time.AfterFunc(time.Second, func() { w.ask(cancel("2")) })
		w.ask(call("2", "x", ""))
		require.Equal(t, []string{"a repeat without end took no time"}, w.details("violation"))
	})
}

func TestAProgramMayWaitForItsCancel(t *testing.T) {
	late := playing(mcp.AwaitCancel{}, script.Pause{For: 3 * time.Second}, mcp.Effect{}, mcp.Result{Text: "late"})
	inBubble(t, late, func(w *world) {
		w.begin()
		time.AfterFunc(2*time.Second, func() { w.ask(cancel("2")) })
		_, body := w.ask(call("2", "x", ""))
		require.Contains(t, body, "late")
		require.Equal(t, seconds(5), w.at("effect"))
	})
	inBubble(t, late, func(w *world) {
		ctx, leave := context.WithTimeout(context.Background(), 2*time.Second)
		defer leave()
		_, err := w.client.Do(w.modern(ctx, "2", "tools/call", `"name":"x"`))
		require.Error(t, err)
		sleep(10 * time.Second)
		require.Equal(t, seconds(5), w.at("effect"), "leaving is the cancel")
		require.Equal(t, []string{"result"}, w.details("dropped"))
	})
}

func TestAToolMayWaitForAGate(t *testing.T) {
	tool := slow
	tool.Gate = "go"
	inBubble(t, withTools(tool), func(w *world) {
		w.begin()
		time.AfterFunc(time.Minute, func() { w.gates.Open("go") })
		w.ask(call("2", "slow", ""))
		require.Equal(t, seconds(60), w.at("result"))
	})
}

func TestAnswersUnderForeignIDs(t *testing.T) {
	s := mcp.Script{Programs: []mcp.Program{
		{Steps: []script.Step{script.Pause{For: time.Second}, mcp.Result{Text: "x", ID: mcp.ForeignID}}},
		{Times: 2, Steps: []script.Step{script.Pause{For: 2 * time.Second}, mcp.Result{Text: "y", ID: mcp.ForeignID}}},
	}}
	inBubble(t, s, func(w *world) {
		w.begin()
		var calls sync.WaitGroup
		calls.Go(func() {
			_, body := w.ask(call("2", "x", ""))
			require.Equal(t, "3", idOf(t, datas(body)[0]))
		})
		calls.Go(func() {
			sleep(500 * time.Millisecond)
			_, body := w.ask(call("3", "x", ""))
			require.Equal(t, "987654321", idOf(t, datas(body)[0]), "no other call is in flight")
		})
		calls.Wait()
	})
}

func TestIdsOfOtherTypes(t *testing.T) {
	for id, want := range map[string]string{`7`: `"7"`, `"7"`: `7`, `"x"`: `987654321`} {
		inBubble(t, playing(mcp.Result{ID: mcp.TextID}), func(w *world) {
			w.begin()
			_, body := w.ask(call(id, "x", ""))
			require.Equal(t, want, idOf(t, datas(body)[0]))
		})
	}
}

func TestWaysToBreakAMessage(t *testing.T) {
	const whole = `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"x"}]}}`
	ways := map[string]string{
		"brace":    "event: message\ndata: " + strings.TrimSuffix(whole, "}") + "\n\n",
		"plain":    "event: message\ndata: upstream connect error\n\n",
		"doubled":  "event: message\ndata: data: " + whole + "\n\n",
		"no-blank": "event: message\ndata: " + whole + "\n",
		"no-event": "data: " + whole + "\n\n",
		"no-data":  "event: message\ndata: \n\n",
		"utf-8":    "event: message\ndata: " + strings.Replace(whole, `x"`, "x\xff\"", 1) + "\n\n",
	}
	for _, how := range fault.Garbles() {
		s := playing(fault.Garble{How: how}, mcp.Result{Text: "x"})
		if _, ok := ways[how]; !ok {
			require.ErrorContains(t, s.Validate(), "MCP has no checksums", how)
			continue
		}
		inBubble(t, s, func(w *world) {
			w.begin()
			_, body := w.ask(call("2", "x", ""))
			require.Equal(t, ways[how], body)
			require.Equal(t, []string{how}, w.details("garble"))
		})
	}
}

func TestRunOfATool(t *testing.T) {
	tool := mcp.Tool{Name: "x", Effect: mcp.AtAnswer, Run: func(c mcp.Call) []script.Step {
		return []script.Step{mcp.Result{Text: string(c.Arguments), Times: 2}}
	}}
	inBubble(t, withTools(tool), func(w *world) {
		w.begin()
		_, body := w.ask(call("2", "x", `"a":1`))
		require.Len(t, datas(body), 2)
		require.Contains(t, body, `{\"a\":1}`)
		require.Equal(t, []string{`tool="x" count=1 id=2`}, w.details("effect"))
	})
}
