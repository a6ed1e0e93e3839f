package main

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/approver"
)

func TestApproverScriptsAreValid(t *testing.T) {
	for _, s := range approverScripts() {
		require.NoError(t, s.file.Script.Validate(), s.name)
		text, err := s.file.YAML()
		require.NoError(t, err, s.name)
		_, err = approver.Parse(s.name, text)
		require.NoError(t, err, "%s\n%s", s.name, text)
	}
}

func TestFakeApprover(t *testing.T) {
	p := start(t, nil, "stallwright", "fake", "approver", "--listen", "127.0.0.1:0", "--script", "deny")
	url := strings.TrimSpace(p.await(p.stdout, "http://"))
	root := strings.TrimSuffix(url, "/approve")
	require.Equal(t, "export STALLWRIGHT_ADMIN_URL="+root+"/_stallwright\n", p.await(p.stdout, "export"))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	send := func(path, body, host string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, root+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Host = host
		resp, err := client.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(answer)
	}
	_, answer := send("/approve", `{"decision_id":"d1","items":[{"tool_name":"book"}]}`, "")
	require.Equal(t, `{"approved":false,"reason":"not today"}`, answer)
	require.Regexp(t, `^\+\d+\.\d{3} approver #1 request POST /approve id=d1 tool=book signature=off`, p.await(p.stderr, "#1 request"))
	p.await(p.stderr, "#1 decide no")

	status, answer := send("/_stallwright/scripts?marker=a", "programs:\n- steps: [await: go, decide: true]\n", "")
	require.Equal(t, http.StatusOK, status, answer)
	require.JSONEq(t, `{"marker":"a","programs":1,"gates":["go"]}`, answer)
	status, _ = send("/_stallwright/gates/go?marker=a", "", "")
	require.Equal(t, http.StatusOK, status)
	_, answer = send("/approve", `{"decision_id":"d2","items":[{"tool_name":"book","arguments":{"note":"[[sw:a]]"}}]}`, "")
	require.Equal(t, `{"approved":true}`, answer)
	for _, path := range []string{"/approve", "/_stallwright/scripts"} {
		status, _ = send(path, "", "evil.test")
		require.Equal(t, http.StatusForbidden, status, path)
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	code, _, _ := p.end()
	require.Zero(t, code)
}
