package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// freePorts are n ports that nothing listens on, one behind the other.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	for range 100 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		port := first.Addr().(*net.TCPAddr).Port
		held := []net.Listener{first}
		for i := 1; i < n; i++ {
			if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+i)); err == nil {
				held = append(held, l)
			}
		}
		for _, l := range held {
			l.Close()
		}
		if len(held) == n {
			return port
		}
	}
	t.Fatalf("no %d free ports in a row", n)
	return 0
}

// attachedRun plays on a reference server that runs already, with two MCP servers over Streamable HTTP, as a stranger would. The
// execution is its tool_execution, the dialect its provider's.
func attachedRun(t *testing.T, execution, dialect string, events bool, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	port := freePorts(t, 3)
	config := filepath.Join(t.TempDir(), "agent.toml")
	base := fmt.Sprintf("http://127.0.0.1:%d/v1", port)
	if dialect == "anthropic" {
		base = strings.TrimSuffix(base, "/v1")
	}
	text := fmt.Sprintf("[agent]\nname = \"demo\"\ntool_execution = %q\n[agent.llm]\nprovider = %q\nmodel = \"m\"\napi_key = \"k\"\nbase_url = %q\n", execution, dialect, base)
	for i := 1; i <= 2; i++ {
		text += fmt.Sprintf("[mcp.servers.tools%d]\ntransport = \"http_streamable\"\nurl = \"http://127.0.0.1:%d/mcp\"\n", i, port+i)
	}
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	server := start(t, []string{
		"HEARTBEAT_SECS=500ms", "FIRST_CHUNK_TIMEOUT_SECS=1600ms", "STREAMING_TIMEOUT_SECS=4500ms", "SHUTDOWN_TIMEOUT_SECS=800ms",
		fmt.Sprintf("AURA_CUSTOM_EVENTS=%t", events),
	}, "stallwright", "serve", "--config", config, "--port", "0")
	_, addr, _ := strings.Cut(server.await(server.stderr, `"msg":"listening"`), `"addr":"`)
	addr, _, _ = strings.Cut(addr, `"`)
	run := start(t, nil, "stallwright", append(args, "--url", "http://"+addr, "--provider-listen", fmt.Sprintf("127.0.0.1:%d", port), "--dialect", dialect,
		"--tools", "http+http", "--tools-listen", fmt.Sprintf("127.0.0.1:%d", port+1),
		"--window", "heartbeat=500ms", "--window", "first-chunk=1600ms", "--window", "stream=4500ms", "--window", "shutdown=800ms")...)
	code, stdout, stderr = run.end()
	require.NoError(t, server.cmd.Process.Signal(syscall.SIGTERM))
	server.end()
	return code, stdout, stderr
}

func TestSequentialOfAnAttachedServer(t *testing.T) {
	const unseen = "ids: only the results sent to the model were seen"
	for _, tc := range []struct {
		name, execution, dialect string
		events                   bool
		claim                    bool
		code                     int
		answer                   string
	}{
		{"a batched server claims nothing", "batched", "openai", true, false, 0, "  2-calls   batched, every id right\n"},
		{"a batched server claims to be sequential", "batched", "openai", true, true, 1, "  2-calls   batched, every id right\n"},
		{"a sequential server claims to be so", "sequential", "openai", true, true, 0, "  2-calls   sequential, every id right\n"},
		{"ids that nobody was told are not right", "concurrent-fifo", "openai", false, false, 0, "  2-calls   concurrent, at most 2 at once, " + unseen + "\n"},
		{"ids that the client is told are wrong", "concurrent-fifo", "openai", true, false, 0, "  2-calls   unordered, at most 2 at once, 2 told under the wrong id\n"},
		{"a server with another provider", "sequential", "anthropic", true, true, 0, "  2-calls   sequential, every id right\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pattern := "sequential/parallel-calls@2-calls"
			if tc.dialect != "openai" {
				pattern += "." + tc.dialect
			}
			args := []string{"run", pattern}
			if tc.claim {
				args = append(args, "--claim", "sequential-tools")
			}
			code, stdout, stderr := attachedRun(t, tc.execution, tc.dialect, tc.events, args...)
			require.Equal(t, tc.code, code, stdout+stderr)
			require.Contains(t, stdout, tc.answer)
			if tc.code != 0 {
				require.Contains(t, stdout, "VIOLATED  tools.sequential")
				require.Contains(t, stdout, "--claim sequential-tools")
			}
		})
	}
}

// A server with two MCP servers of ours plays the cases that need one.
func TestFurtherMCPServersDoNoHarm(t *testing.T) {
	code, stdout, stderr := attachedRun(t, "sequential", "openai", true, "run", "tools/correlated", "mcp/foreign-id-ignored", "mcp/lost-session-is-an-error", "-v")
	require.Equal(t, 0, code, stdout+stderr)
	for _, played := range []string{"tools/correlated@http", "mcp/foreign-id-ignored@of-another-call-http"} {
		require.Regexp(t, `(?m)^✓ (pass )? *`+played+`\b`, stdout+stderr)
	}
	require.Contains(t, stderr, "note: nothing of mcp/lost-session-is-an-error can be played: the case needs MCP servers that no other case uses")
}
