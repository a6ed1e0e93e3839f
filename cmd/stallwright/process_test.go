package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/provider"
)

// program is a command under test that runs beside the test.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr *bufio.Reader
}

func start(t *testing.T, env []string, name string, args ...string) *program {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(cmd.Environ(), env...)
	cmd.Dir = t.TempDir()
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	return &program{t, cmd, bufio.NewReader(stdout), bufio.NewReader(stderr)}
}

// await reads lines until one has the text.
func (p *program) await(r *bufio.Reader, text string) string {
	p.t.Helper()
	var seen strings.Builder
	for {
		line, err := r.ReadString('\n')
		seen.WriteString(line)
		if strings.Contains(line, text) {
			return line
		}
		require.NoError(p.t, err, "no %q in:\n%s", text, seen.String())
	}
}

// end reads what is left and returns it with the exit code.
func (p *program) end() (code int, stdout, stderr string) {
	p.t.Helper()
	out, err := io.ReadAll(p.stdout)
	require.NoError(p.t, err)
	errs, err := io.ReadAll(p.stderr)
	require.NoError(p.t, err)
	err = p.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(out), string(errs)
	}
	require.NoError(p.t, err)
	return 0, string(out), string(errs)
}

func TestSignalsStopARun(t *testing.T) {
	for _, tc := range []struct {
		name   string
		player string
		signal syscall.Signal
		twice  bool
		want   int
		why    string
	}{
		{"an interrupt stops it gently", "wait", syscall.SIGINT, false, 130, "SIGINT"},
		{"a termination stops it gently", "wait", syscall.SIGTERM, false, 143, "SIGTERM"},
		{"a second interrupt does not wait for the player", "deaf", syscall.SIGINT, true, 130, "SIGINT"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := start(t, []string{"STUB_PLAYER=" + tc.player}, "stub", "run", "--report", "json")
			p.await(p.stderr, "waiting")
			require.NoError(t, p.cmd.Process.Signal(tc.signal))
			p.await(p.stderr, "stopping")
			if tc.twice {
				require.NoError(t, p.cmd.Process.Signal(tc.signal))
			}
			code, stdout, _ := p.end()
			require.Equal(t, tc.want, code)
			require.Contains(t, stdout, "stopped: "+tc.why)
			written, err := os.ReadFile(filepath.Join(p.cmd.Dir, "stallwright-results.json"))
			require.NoError(t, err)
			require.Contains(t, string(written), `"stopped": "`+tc.why+`"`)
		})
	}
}

func TestSignalsInTheStartUpLeaveAReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "case.yaml")
	require.NoError(t, os.WriteFile(file, []byte("case: run/two-chunks\nabout: Two chunks arrive.\nclient: [ask: hello]\nexpect: [happens: client ask]\n"), 0o600))
	for _, verb := range [][]string{{"run"}, {"repro", file}} {
		for _, tc := range []struct {
			signal syscall.Signal
			want   int
			why    string
		}{{syscall.SIGINT, 130, "SIGINT"}, {syscall.SIGTERM, 143, "SIGTERM"}} {
			t.Run(verb[0]+" "+tc.why, func(t *testing.T) {
				p := start(t, []string{"STUB_START=wait", "STUB_PLAYER=wait"}, "stub", append(verb, "--report", "json", "--report", "junit")...)
				p.await(p.stderr, "starting up")
				require.NoError(t, p.cmd.Process.Signal(tc.signal))
				code, stdout, stderr := p.end()
				require.Equal(t, tc.want, code, stderr)
				require.Contains(t, stdout, "stopped: "+tc.why)
				require.Contains(t, stderr, "stopping: what is under way finishes")
				written, err := os.ReadFile(filepath.Join(p.cmd.Dir, "stallwright-results.json"))
				require.NoError(t, err)
				require.Contains(t, string(written), `"stopped": "`+tc.why+`"`)
				require.FileExists(t, filepath.Join(p.cmd.Dir, "stallwright-junit.xml"))
			})
		}
	}
}

func TestServe(t *testing.T) {
	config := filepath.Join(t.TempDir(), "agent.toml")
	require.NoError(t, os.WriteFile(config, []byte("[agent]\nname = \"demo\"\n[agent.llm]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\n"), 0o600))
	p := start(t, []string{"PORT=1", "HEARTBEAT_SECS=7200"}, "stallwright", "serve", "--config", config, "--port", "0")
	require.Contains(t, p.await(p.stderr, `"level":"WARN"`), "heartbeat interval")
	line := p.await(p.stderr, `"msg":"listening"`)
	_, addr, ok := strings.Cut(line, `"addr":"`)
	require.True(t, ok, line)
	addr, _, _ = strings.Cut(addr, `"`)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + addr + "/health")
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	p.await(p.stderr, "Received SIGTERM")
	code, stdout, _ := p.end()
	require.Zero(t, code)
	require.Empty(t, stdout)
}

func TestServeSaysThatAPortIsInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	config := filepath.Join(t.TempDir(), "agent.toml")
	require.NoError(t, os.WriteFile(config, []byte("[agent]\nname = \"demo\"\n[agent.llm]\nprovider = \"openai\"\nmodel = \"m\"\n"), 0o600))
	code, _, stderr := start(t, nil, "stallwright", "serve", "--config", config, "--port", port).end()
	require.Equal(t, 2, code)
	require.Equal(t, fmt.Sprintf("stallwright: error: 127.0.0.1:%s is in use\nstallwright: hint: stop what listens there, or choose another port; 0 takes any that is free\n", port), stderr)
}

func TestFakeProvider(t *testing.T) {
	p := start(t, nil, "stallwright", "fake", "provider", "--listen", "127.0.0.1:0", "--script", "error-in-stream")
	base := strings.TrimSpace(p.await(p.stdout, "http://"))
	require.Equal(t, "export OPENAI_BASE_URL="+base+"\n", p.await(p.stdout, "export"))

	for range 2 { // it answers any number
		out, err := exec.Command("ask", base+"/chat/completions").Output()
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(out, []byte("200\n")), string(out))
		require.Contains(t, string(out), "the model is overloaded")
	}
	require.Regexp(t, `^\+\d+\.\d{3} provider #1 request POST /v1/chat/completions model=gpt-x`, p.await(p.stderr, "#1 request"))
	require.Regexp(t, `provider #1 text "The answer "\n$`, p.await(p.stderr, "#1 text"))

	out, err := exec.Command("ask", base+"/chat/completions", "evil.test").Output()
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(out, []byte("403\n")), string(out))
	p.await(p.stderr, `the host "evil.test" is not this fake's`)
	out, err = exec.Command("ask", base+"/nothing").Output()
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(out, []byte("404\n")), string(out))

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	code, _, _ := p.end()
	require.Zero(t, code)
}

func TestFakeProviderPlaysAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "busy.yaml")
	require.NoError(t, os.WriteFile(file, []byte("programs:\n- steps: [status: 503]\n- times: any\n  steps:\n  - pause: {for: 1ms, jitter: 1ms}\n  - text: well\n  - done\n"), 0o600))
	p := start(t, nil, "stallwright", "fake", "provider", "--listen", "127.0.0.1:0", "--script", file)
	base := strings.TrimSpace(p.await(p.stdout, "http://"))
	for _, want := range []string{"503\n", "200\n"} {
		out, err := exec.Command("ask", base+"/chat/completions").Output()
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(out, []byte(want)), string(out))
	}
	require.Regexp(t, `provider seed \d+\n$`, p.await(p.stderr, "seed")) // to play the same jitter again
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	code, _, _ := p.end()
	require.Zero(t, code)
}

func TestFakeProviderSpeaksAllDialectsAndHasAnAdminAPI(t *testing.T) {
	p := start(t, nil, "stallwright", "fake", "provider", "--listen", "127.0.0.1:0")
	root := strings.TrimSuffix(strings.TrimSpace(p.await(p.stdout, "http://")), "/v1")
	for _, line := range []string{
		"OPENAI_BASE_URL=" + root + "/v1", "ANTHROPIC_BASE_URL=" + root, "GOOGLE_GEMINI_BASE_URL=" + root, "OLLAMA_HOST=" + root,
		"AWS_ENDPOINT_URL_BEDROCK_RUNTIME=" + root, "STALLWRIGHT_ADMIN_URL=" + root + "/_stallwright", "AWS_DEFAULT_REGION=us-east-1",
	} {
		require.Equal(t, "export "+line+"\n", p.await(p.stdout, "export"))
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	send := func(method, url, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, root+url, strings.NewReader(body))
		require.NoError(t, err)
		resp, err := client.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(answer)
	}
	for _, tc := range []struct{ name, path, body string }{
		{"openai", "/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello [[sw:a]]"}]}`},
		{"responses", "/v1/responses", `{"model":"m","stream":true,"input":"hello [[sw:a]]"}`},
		{"anthropic", "/v1/messages", `{"model":"m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"hello [[sw:a]]"}]}`},
		{"gemini", "/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"hello [[sw:a]]"}]}]}`},
		{"ollama", "/api/chat", `{"model":"m","messages":[{"role":"user","content":"hello [[sw:a]]"}]}`},
		{"bedrock", "/model/m/converse-stream", `{"messages":[{"role":"user","content":[{"text":"hello [[sw:a]]"}]}]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, answer := send("POST", "/_stallwright/scripts?marker=a", "programs:\n- when: {dialect: "+tc.name+"}\n  steps: [text: said over HTTP, finish, done]\n")
			require.Equal(t, http.StatusOK, status, answer)
			status, answer = send("POST", tc.path, tc.body)
			require.Equal(t, http.StatusOK, status, answer)
			require.Contains(t, answer, "said over HTTP")
			_, answer = send("DELETE", "/_stallwright/scripts?marker=a", "")
			require.Equal(t, `{"unplayed":[]}`+"\n", answer)
		})
	}
	require.Regexp(t, `^\[a\] \+\d+\.\d{3} provider #1 text "said over HTTP"\n$`, p.await(p.stderr, "#1 text"))

	_, answer := send("GET", "/v1beta/models", "")
	require.Contains(t, answer, "gemini-x")
	_, answer = send("GET", "/v1/models", "")
	require.Contains(t, answer, "gpt-x")
	status, answer := send("POST", "/_stallwright/gates/m:generateContent", "{}") // no dialect takes it
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, answer, "no step awaits")
	out, err := exec.Command("ask", root+"/_stallwright/reset", "evil.test").Output()
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(out, []byte("403\n")), string(out))

	// Without a marker the script that it began with is replaced.
	status, _ = send("POST", "/_stallwright/scripts", `{"steps": [{"text": "another"}, "done"]}`)
	require.Equal(t, http.StatusOK, status)
	out, err = exec.Command("ask", root+"/v1/chat/completions").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "another")

	follow, err := client.Get(root + "/_stallwright/timeline/stream")
	require.NoError(t, err)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT)) // a stream does not keep it
	io.Copy(io.Discard, follow.Body)
	follow.Body.Close()
	code, _, _ := p.end()
	require.Zero(t, code)
}

func TestFakeProviderSpeaksTLS(t *testing.T) {
	p := start(t, nil, "stallwright", "fake", "provider", "--listen", "127.0.0.1:0", "--tls")
	root := strings.TrimSuffix(strings.TrimSpace(p.await(p.stdout, "https://")), "/v1")
	require.Equal(t, "export OLLAMA_HOST="+root+"\n", p.await(p.stdout, "OLLAMA_HOST"))
	_, file, _ := strings.Cut(strings.TrimSpace(p.await(p.stdout, "export SSL_CERT_FILE=")), "=")
	for _, name := range []string{"NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"} {
		require.Equal(t, "export "+name+"="+file+"\n", p.await(p.stdout, "export"))
	}
	cert, err := os.ReadFile(file)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(cert))
	for _, name := range []string{"127.0.0.1", "localhost"} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: name}, ForceAttemptHTTP2: true}
		client := &http.Client{Transport: transport}
		resp, err := client.Post(root+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, "HTTP/2.0", resp.Proto)
		require.Contains(t, string(body), "[DONE]")
		resp, err = client.Get(root + "/_stallwright/timeline/stream")
		require.NoError(t, err)
		first, err := bufio.NewReader(resp.Body).ReadString('\n')
		require.NoError(t, err)
		resp.Body.Close()
		require.Contains(t, first, `"kind":"request"`)
		transport.CloseIdleConnections()
	}
	out, err := exec.Command("ask", root+"/v1/chat/completions").Output() // who does not trust it
	require.Error(t, err, string(out))
	ask := exec.Command("ask", root+"/v1/chat/completions")
	ask.Env = append(os.Environ(), "SSL_CERT_FILE="+file)
	out, err = ask.Output()
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(out, []byte("200\n")), string(out))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	code, _, _ := p.end()
	require.Zero(t, code)
	require.NoFileExists(t, file)
}

func TestFakeProviderSpeaksTLSWithAGivenCertificate(t *testing.T) {
	cert, err := provider.NewCertificate("127.0.0.1")
	require.NoError(t, err)
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return file
	}
	certFile, keyFile := write("cert.pem", "CERTIFICATE", cert.Certificate[0]), write("key.pem", "PRIVATE KEY", key)
	p := start(t, nil, "stallwright", "fake", "provider", "--listen", "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile)
	base := strings.TrimSpace(p.await(p.stdout, "https://"))
	ask := exec.Command("ask", base+"/chat/completions")
	ask.Env = append(os.Environ(), "SSL_CERT_FILE="+certFile)
	out, err := ask.Output()
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(out, []byte("200\n")), string(out))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	code, stdout, _ := p.end()
	require.Zero(t, code)
	require.NotContains(t, stdout, "SSL_CERT_FILE", "whoever has a certificate knows how it is trusted")
	require.FileExists(t, certFile)
}

func TestAttachedRunNeedsTheFakeInUse(t *testing.T) {
	p := start(t, []string{"STUB=canary/plain@before=fail"}, "stub", "run", "--url", "http://127.0.0.1:9", "--provider-listen", "127.0.0.1:0")
	code, _, stderr := p.end()
	require.Equal(t, 3, code)
	require.Contains(t, stderr, "stallwright: hint: no request reached the fake provider at http://127.0.0.1:0/v1")
}
