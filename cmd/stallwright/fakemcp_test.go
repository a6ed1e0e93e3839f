package main

import (
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
)

func TestMCPScriptsAreValid(t *testing.T) {
	for _, s := range mcpScripts() {
		require.NoError(t, s.file.Validate(), s.name)
		text, err := s.file.YAML()
		require.NoError(t, err, s.name)
		_, err = mcp.Parse(s.name, text)
		require.NoError(t, err, "%s\n%s", s.name, text)
	}
}

const mcpInitialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestFakeMCP(t *testing.T) {
	p := start(t, nil, "stallwright", "fake", "mcp", "--listen", "127.0.0.1:0")
	url := strings.TrimSpace(p.await(p.stdout, "http://"))
	root := strings.TrimSuffix(url, "/mcp")
	for _, line := range []string{"MCP_SERVER_URL=" + url, "MCP_SSE_URL=" + root + "/sse", "STALLWRIGHT_ADMIN_URL=" + root + "/_stallwright"} {
		require.Equal(t, "export "+line+"\n", p.await(p.stdout, "export"))
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	session := ""
	send := func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, root+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if path == "/mcp" && session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("MCP-Protocol-Version", "2025-11-25")
		}
		resp, err := client.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(answer)
	}
	call := func(tool, arguments string) string {
		t.Helper()
		status, answer := send("POST", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+tool+`","arguments":{`+arguments+`}}}`)
		require.Equal(t, http.StatusOK, status, answer)
		return answer
	}
	status, answer := send("POST", "/mcp", mcpInitialize)
	require.Equal(t, http.StatusOK, status, answer)
	require.Regexp(t, `^\+\d+\.\d{3} mcp #1 request initialize id=1`, p.await(p.stderr, "#1 request"))
	require.Contains(t, call("slow_task", `"task_id":"t1","duration_seconds":0.01`), "Task t1 completed")
	p.await(p.stderr, "#2 ended answered") // a client sees bytes before their event is recorded
	_, answer = send("GET", "/tasks?id=t1", "")
	require.Contains(t, answer, `"status":"completed"`)
	_, answer = send("GET", "/cancellations", "")
	require.Equal(t, "[]\n", answer)

	// Scripts come over HTTP, gates open, and the timeline is there.
	status, answer = send("POST", "/_stallwright/scripts?marker=a", "tools:\n- {name: gated, gate: go, result: {text: through the gate}}\n")
	require.Equal(t, http.StatusOK, status, answer)
	require.JSONEq(t, `{"marker":"a","programs":0,"gates":["go"]}`, answer)
	status, _ = send("POST", "/_stallwright/gates/go?marker=a", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, call("gated", `"note":"[[sw:a]]"`), "through the gate")
	_, answer = send("GET", "/_stallwright/timeline?marker=a", "")
	require.Contains(t, answer, `"kind":"result"`)
	status, answer = send("POST", "/_stallwright/scripts", "tool: {}\n")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer, `"line":1`)
	status, answer = send("POST", "/_stallwright/scripts?strict=true", "{}")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer, "never strict")
	status, answer = send("POST", "/_stallwright/scripts", "name: other\n")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer, "the name belongs to the whole fake")
	_, answer = send("GET", "/_stallwright/health", "")
	require.Contains(t, answer, `"status":"ok"`)

	for _, path := range []string{"/mcp", "/tasks", "/_stallwright/health"} {
		out, err := exec.Command("ask", root+path, "evil.test").Output()
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(out), "403\n"), "%s: %s", path, out)
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	code, _, _ := p.end()
	require.Zero(t, code)
}

func TestFakeMCPOverStdio(t *testing.T) {
	cmd := exec.Command("stallwright", "fake", "mcp", "--stdio", "--script", "exits-in-call")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	errs := new(strings.Builder)
	cmd.Stderr = errs
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill()
	_, err = io.WriteString(in, mcpInitialize+"\n"+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_files"}}`+"\n")
	require.NoError(t, err)
	said, err := io.ReadAll(out)
	require.NoError(t, err)
	require.Contains(t, string(said), `"protocolVersion":"2025-11-25"`)
	require.ErrorContains(t, cmd.Wait(), "exit status 1")
	require.Contains(t, errs.String(), "panic: out of luck\n")
}
