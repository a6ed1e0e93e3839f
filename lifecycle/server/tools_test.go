package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/llm"
)

// stubborn is an MCP server of one tool, which never answers, and which takes no end of its session for one.
func stubborn(w http.ResponseWriter, r *http.Request) {
	var body [4096]byte
	n, _ := r.Body.Read(body[:])
	said := string(body[:n])
	answer := func(id int, result string) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "s")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)
	}
	switch {
	case strings.Contains(said, `"initialize"`):
		answer(1, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
	case strings.Contains(said, `"tools/list"`):
		answer(2, `{"tools":[{"name":"slow","inputSchema":{"type":"object"}}]}`)
	case r.Method == http.MethodDelete, strings.Contains(said, `"tools/call"`):
		<-r.Context().Done()
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// withStubborn gives a server that MCP server, until the test has ended.
func withStubborn(t *testing.T, c *Config) {
	at := newPipes()
	mcp := &http.Server{Handler: http.HandlerFunc(stubborn)}
	go mcp.Serve(at) //nolint:errcheck // it says that it was closed
	t.Cleanup(func() { mcp.Close() })
	c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) { return at.dial(ctx, network, addr) }
	c.File.MCP.Servers = []config.MCPServer{{Name: "s", Transport: "http_streamable", URL: "http://mcp.test/mcp", ProtocolVersion: "2025-11-25"}}
}

// calls asks for the tool.
var calls = items(llm.Item{Kind: llm.ToolCallOpened, Call: llm.ToolCall{ID: "c", Name: "slow"}}, llm.Item{Kind: llm.Finished, Text: "tool_calls"})

func TestAStreamThatTimedOutEndsAfterCleanupThatTookAllItsTime(t *testing.T) {
	for _, body := range []string{streaming, plain} {
		synctest.Test(t, func(t *testing.T) {
			f := serve(t, calls, func(c *Config) { withStubborn(t, c) })
			got := text(t, f.ask(body))
			require.Contains(t, got, "stream_timeout")
			require.Equal(t, body == streaming, strings.HasSuffix(got, "data: [DONE]\n\n"))
			require.Equal(t, f.server.settings.Stream+f.server.settings.Cleanup, f.elapsed())
			require.Contains(t, f.log.String(), "agent evicted")
			require.Equal(t, Exit{Clean: true}, f.end())
		})
	}
}

func TestCleanupOfADrainedRunIsBoundedByPhaseThree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, calls, func(c *Config) { withStubborn(t, c) })
		conn, answer := f.raw()
		answered := make(chan string, 1)
		go func() {
			all, _ := io.ReadAll(answer) // the end of the body is cut off with the run
			answered <- string(all)
		}()
		time.Sleep(time.Second)
		require.Equal(t, Exit{}, f.end(), "the run had to be aborted")
		got := <-answered
		require.Contains(t, got, "server_shutdown")
		require.Contains(t, got, "[DONE]")
		require.NoError(t, conn.Close())
		require.Equal(t, time.Second+f.server.settings.Shutdown+f.server.settings.Straggler, f.elapsed())
		require.NotContains(t, f.log.String(), "agent evicted")
	})
}
