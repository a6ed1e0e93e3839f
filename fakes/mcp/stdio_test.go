package mcp_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

// pipes is a client at the other end of a fake's pipes.
type pipes struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Scanner
	done chan error
	stop func()
}

func (w *world) pipes() *pipes {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	p := &pipes{t: w.t, in: toServer, out: bufio.NewScanner(fromServer), done: make(chan error, 1), stop: stop}
	p.out.Buffer(nil, 16<<20)
	go func() { p.done <- w.f.ServeStdio(ctx, fromClient, toClient) }()
	return p
}

func (p *pipes) send(line string) {
	p.t.Helper()
	_, err := io.WriteString(p.in, line+"\n")
	require.NoError(p.t, err)
}

// line is the next, "" at the end.
func (p *pipes) line() string {
	if !p.out.Scan() {
		return ""
	}
	return p.out.Text()
}

func (p *pipes) end() {
	p.t.Helper()
	p.in.Close()
	require.Empty(p.t, p.line())
	require.NoError(p.t, <-p.done)
	p.stop()
}

func TestStdio(t *testing.T) {
	tool := slow
	tool.Progress = mcp.Progress{Every: 6 * time.Second}
	s := withTools(tool)
	s.Manners.Banner = "hello!\n"
	inBubble(t, s, func(w *world) {
		p := w.pipes()
		require.Equal(t, "hello!", p.line())
		p.send(initialize)
		require.Contains(t, p.line(), `"protocolVersion":"2025-11-25"`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		p.send("")
		p.send(call("2", "slow", ""))
		require.Contains(t, p.line(), "progress")
		require.Contains(t, p.line(), "done")
		p.send(call("3", "slow", ""))
		sleep(time.Second)
		p.send(cancel("3"))
		p.send("no JSON")
		require.Equal(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is no JSON at byte 2"}}`, p.line())
		p.send(call("4", "slow", ""))
		sleep(time.Second)
		p.end()
		require.Equal(t, []string{"answered", "answered", "cancelled", "answered", "left"}, w.details("ended"))
		require.Equal(t, "fin", w.await("left").Detail)
		require.Len(t, w.at("violation"), 1)
	})
}

func TestStdioInTheModernRevision(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":"x"}`
	inBubble(t, withTools(slow), func(w *world) {
		p := w.pipes()
		p.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
		require.Contains(t, p.line(), `"supportedVersions"`)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow",` + meta + `}}`)
		sleep(time.Second)
		p.send(cancel("2"))
		w.settle()
		require.Equal(t, []string{"answered", "cancelled"}, w.details("ended"))
		p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
		require.Contains(t, p.line(), "-32602")
		p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}}`)
		require.Contains(t, p.line(), `"supported":["2026-07-28"`)
		p.end()
	})
	inBubble(t, mcp.Script{Revisions: []string{mcp.V20250618}}, func(w *world) {
		p := w.pipes()
		p.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
		require.Contains(t, p.line(), "-32601")
		p.end()
		require.Empty(t, w.at("violation"))
	})
}

func TestFaultsOfAPipe(t *testing.T) {
	steps := func(steps ...script.Step) mcp.Script {
		return mcp.Script{Programs: []mcp.Program{{Steps: steps}}}
	}
	t.Run("a cut ends the pipe", func(t *testing.T) {
		inBubble(t, steps(mcp.Progress{}, fault.Cut{}), func(w *world) {
			p := w.pipes()
			p.send(call("2", "x", ""))
			require.Contains(t, p.line(), "progress")
			require.Empty(t, p.line())
			p.end()
		})
	})
	t.Run("noise stands between lines, and lines come in pieces", func(t *testing.T) {
		inBubble(t, steps(script.Raw{Bytes: "loading…\n"}, fault.Drip{Bytes: 40, Every: time.Second}, mcp.Result{Text: "x"}), func(w *world) {
			p := w.pipes()
			p.send(call("2", "x", ""))
			require.Equal(t, "loading…", p.line())
			require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"x"}]}}`, p.line())
			require.Equal(t, seconds(0), w.at("drip"))
			require.Equal(t, seconds(1), w.at("result"))
			p.end()
		})
	})
	t.Run("a line without an end", func(t *testing.T) {
		inBubble(t, steps(fault.Garble{How: "no-blank"}, mcp.Result{Text: "x"}, script.Pause{For: time.Second}, fault.Cut{}), func(w *world) {
			p := w.pipes()
			p.send(call("2", "x", ""))
			require.Contains(t, p.line(), `"x"`)
			require.Equal(t, seconds(1), w.at("cut"))
			require.Equal(t, seconds(0), w.at("garble"))
			p.end()
		})
	})
	t.Run("nothing more is read for a while", func(t *testing.T) {
		inBubble(t, steps(mcp.StopReading{For: time.Minute}, mcp.Result{}), func(w *world) {
			p := w.pipes()
			p.send(call("2", "x", ""))
			p.line()
			w.settle()
			p.send(ping) // is held
			began := time.Now()
			go p.send(strings.Replace(ping, "7", "8", 1))
			answers := p.line()
			require.Equal(t, time.Minute, time.Since(began))
			answers += p.line()
			require.Contains(t, answers, `"id":7`)
			require.Contains(t, answers, `"id":8`)
			p.end()
		})
	})
	t.Run("a reset needs a connection", func(t *testing.T) {
		inBubble(t, steps(fault.Reset{}, mcp.Result{}), func(w *world) {
			p := w.pipes()
			p.send(call("2", "x", ""))
			require.NotEmpty(t, p.line())
			require.Equal(t, "reset needs a connection: this is a pipe", w.details("violation")[1])
			p.end()
		})
	})
	t.Run("a server that a cancel kills", func(t *testing.T) {
		s := withTools(slow)
		s.Programs = []mcp.Program{{When: mcp.When{Method: "notifications/cancelled"}, Steps: []script.Step{fault.Cut{}}}}
		inBubble(t, s, func(w *world) {
			p := w.pipes()
			p.send(call("2", "slow", ""))
			p.send(cancel("2"))
			p.end()
			require.Empty(t, w.f.Release(""))
		})
	})
}

func TestPipesEndWithTheirContextAndTheFake(t *testing.T) {
	inBubble(t, withTools(slow), func(w *world) {
		p := w.pipes()
		p.send(call("2", "slow", ""))
		w.settle()
		p.stop()
		require.ErrorIs(t, <-p.done, context.Canceled)
		p = w.pipes()
		p.send(call("2", "slow", ""))
		w.settle()
		require.NoError(t, w.f.Close())
		require.ErrorIs(t, <-p.done, context.Canceled)
		require.Equal(t, "closed", w.details("ended")[1])
		p.stop()
	})
}
