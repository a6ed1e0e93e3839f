package process

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/harness"
)

// modeVar makes this binary a server under test.
const modeVar = "PROCESS_TEST_SERVER"

func TestMain(m *testing.M) {
	if mode, ok := os.LookupEnv(modeVar); ok {
		os.Exit(serve(mode, os.Getenv("PROVIDER")))
	}
	goleak.VerifyTestMain(m)
}

// serve is a server that passes requests on to the provider. A mode makes it go wrong at its start, and a prompt
// later.
func serve(mode, provider string) int {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	switch mode {
	case "exits":
		fmt.Fprintln(os.Stderr, "no config\x1b[31m here")
		return 3
	case "mute":
		fmt.Println("thinking about it")
		<-time.After(time.Minute) // the parent ends it before
		return 0
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	}
	stop := make(chan os.Signal, 2)
	if mode != "deaf" {
		signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 4
	}
	folder, _ := os.Getwd()
	config, _ := os.ReadFile("conf/agent.toml")
	log.Info("listening", "addr", listener.Addr().String(), "folder", folder, "config", string(config))
	go http.Serve(listener, agent(provider, func(prompt string) {
		switch {
		case mode == "crashes", strings.Contains(prompt, "crash"):
			log.Error("about to crash")
			os.Exit(3)
		case strings.Contains(prompt, "spawn"):
			exec.Command("sleep", "60").Start()
		case strings.Contains(prompt, "log"):
			log.Info("asked", "prompt", "log")
		}
	}))
	log.Info("leaving", "signal", (<-stop).String())
	return 0
}

// agent passes requests on to the provider and answers its health.
func agent(provider string, hook func(prompt string)) http.Handler {
	target, _ := url.Parse(strings.TrimSuffix(provider, "/v1"))
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		Transport:     &http.Transport{DisableKeepAlives: true},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" {
			return
		}
		body, _ := io.ReadAll(r.Body)
		hook(string(body))
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		proxy.ServeHTTP(w, r)
	})
}

// target is this binary as a server under test.
func target(t testing.TB, mode string) harness.Target {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return harness.Target{
		Name: "little", Features: harness.Features(),
		Command: func(s harness.Setup) harness.Command { return command(executable, mode, s) },
	}
}

func command(executable, mode string, s harness.Setup) harness.Command {
	return harness.Command{
		Args:  []string{executable},
		Env:   []string{modeVar + "=" + mode, "PROVIDER=" + s.Provider},
		Files: map[string]string{"conf/agent.toml": "stream " + s.Windows.Stream.String()},
		Ready: func(line string) string {
			_, addr, ok := strings.Cut(harness.LogLine(line), "listening addr=")
			addr, _, _ = strings.Cut(addr, " ")
			if !ok {
				return ""
			}
			return addr
		},
	}
}
