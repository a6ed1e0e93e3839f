package main

import (
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/collector"
)

func TestCollectorScriptsAreValid(t *testing.T) {
	for _, s := range collectorScripts() {
		text, err := s.file.YAML()
		require.NoError(t, err, s.name)
		again, err := collector.Parse(s.name, text)
		require.NoError(t, err, "%s\n%s", s.name, text)
		require.Equal(t, s.file, again)
	}
}

func TestFakeCollector(t *testing.T) {
	p := start(t, nil, "stallwright", "fake", "collector", "--listen", "127.0.0.1:0", "--script", "unauthorized")
	url := strings.TrimSpace(p.await(p.stdout, "http://"))
	root := strings.TrimSuffix(url, "/v1/traces")
	for _, line := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + root, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "STALLWRIGHT_ADMIN_URL=" + root + "/_stallwright"} {
		require.Equal(t, "export "+line+"\n", p.await(p.stdout, "export"))
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	send := func(path, kind, body string) (int, string) {
		t.Helper()
		resp, err := client.Post(root+path, kind, strings.NewReader(body))
		require.NoError(t, err)
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(answer)
	}
	status, _ := send("/v1/traces", "application/x-protobuf", "")
	require.Equal(t, http.StatusUnauthorized, status)
	require.Regexp(t, `^\+\d+\.\d{3} collector #1 request 0 spans in 0 bytes of -`, p.await(p.stderr, "#1 request"))
	p.await(p.stderr, "#1 status 401")
	// Scripts come over HTTP, after a DELETE or with a reset; there are no markers.
	status, answer := send("/_stallwright/scripts?marker=a", "application/yaml", "{}")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer, "without a marker")
	out, err := exec.Command("ask", url, "evil.test").Output()
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(out), "403\n"), "%s", out)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	code, _, _ := p.end()
	require.Zero(t, code)
}
