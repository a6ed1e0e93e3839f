package server

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	allowing  = "Allowing 30s for in-flight requests to complete"
	early     = "All in-flight requests completed, shutting down early"
	expired   = "Grace period expired, terminating remaining streams"
	aborting  = "Stream shutdown grace period expired, aborting stragglers"
	completed = "shutdown complete"
)

// deaf does not hear its context for a day.
func deaf(context.Context, string) { time.Sleep(24 * time.Hour) }

func TestShutdown(t *testing.T) {
	tests := []struct {
		name    string
		model   model
		edit    func(c *Config)
		request string
		stalled bool // the client does not read
		second  time.Duration
		exit    Exit
		after   time.Duration
		body    string
		log     []string
	}{
		{name: "idle exits at once", exit: Exit{Clean: true}, log: []string{allowing, early, completed}},
		{name: "no grace and idle is still clean", edit: func(c *Config) { c.Settings.Shutdown = 0 }, exit: Exit{Clean: true}, log: []string{early, completed}},
		{name: "a run that ends within the grace is untouched", model: late(29 * time.Second), request: streaming,
			exit: Exit{Clean: true}, after: 29 * time.Second, body: `"finish_reason":"stop"`, log: []string{allowing, early, completed}},
		{name: "a run that outlasts the grace is ended", model: silent, request: streaming,
			exit: Exit{Clean: true}, after: 30 * time.Second, body: `"code":"server_shutdown"`, log: []string{allowing, expired, completed}},
		{name: "a run that does not stream is ended too", model: silent, request: plain,
			exit: Exit{Clean: true}, after: 30 * time.Second, body: `"code":"server_shutdown"`, log: []string{allowing, expired, completed}},
		{name: "no grace ends runs at once", model: silent, request: streaming, edit: func(c *Config) { c.Settings.Shutdown = 0 },
			exit: Exit{Clean: true}, body: `"code":"server_shutdown"`, log: []string{expired, completed}},
		{name: "a reader that stalls is cut in phase 3", model: flood, request: streaming, stalled: true,
			after: 35 * time.Second, log: []string{allowing, expired, aborting, completed}},
		{name: "a deaf run does not hold the exit", request: streaming, edit: func(c *Config) { c.Hooks.Turn = deaf },
			exit: Exit{Unaborted: true}, after: 35*time.Second + 400*time.Millisecond, log: []string{allowing, expired, aborting, completed}},
		{name: "a second signal goes to phase 3 at once", model: silent, request: streaming, second: 3 * time.Second,
			after: 3 * time.Second, log: []string{allowing, aborting, completed}},
		{name: "a second signal cuts the drain short", model: flood, request: streaming, stalled: true, second: 32 * time.Second,
			after: 32 * time.Second, log: []string{allowing, expired, aborting, completed}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := serve(t, test.model, func(c *Config) {
					c.Settings.FirstChunk = 0
					if test.edit != nil {
						test.edit(c)
					}
				})
				body := make(chan string, 1)
				switch {
				case test.stalled:
					conn, _ := f.raw()
					defer conn.Close()
				case test.request != "":
					go func() { body <- f.readAll(test.request) }()
				}
				synctest.Wait()
				f.server.Signal("SIGTERM")
				if test.second > 0 {
					time.Sleep(test.second)
					f.server.Signal("SIGINT")
					f.server.Signal("SIGINT")
				}
				exit := <-f.exited
				require.Equal(t, test.exit, exit)
				require.Equal(t, test.after, f.elapsed())
				if test.request != "" && !test.stalled {
					require.Contains(t, <-body, test.body)
				}
				requireInOrder(t, f.log.String(), append([]string{"Received SIGTERM, initiating graceful shutdown"}, test.log...))
				for _, line := range []string{early, expired, aborting} {
					require.Equal(t, contains(test.log, line), strings.Contains(f.log.String(), line), line)
				}
				f.client.CloseIdleConnections()
				if exit.Unaborted {
					time.Sleep(25 * time.Hour)
				}
			})
		})
	}
}

// readAll is what came of a response before its end or its cut.
func (f *fixture) readAll(request string) string {
	r, _ := http.NewRequest(http.MethodPost, "http://server.test/v1/chat/completions", strings.NewReader(request))
	resp, err := f.client.Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

func requireInOrder(t *testing.T, log string, lines []string) {
	t.Helper()
	rest := log
	for _, line := range lines {
		_, after, found := strings.Cut(rest, line)
		require.True(t, found, "%q in its place in\n%s", line, log)
		rest = after
	}
}

func contains(lines []string, line string) bool {
	for _, l := range lines {
		if l == line {
			return true
		}
	}
	return false
}

func TestADrainingServerRefusesEveryRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, late(20*time.Second), nil)
		running := f.ask(streaming)
		f.server.Signal("SIGTERM")
		for _, path := range []string{"/v1/chat/completions", "/v1/models", "/health", "/metrics", "/nowhere"} {
			resp := f.do(http.MethodPost, path, streaming)
			require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
			require.Equal(t, "1", resp.Header.Get("Retry-After"))
			require.JSONEq(t, `{"error":{"message":"Server is shutting down","type":"service_unavailable","param":null,"code":null}}`, text(t, resp))
		}
		require.Contains(t, text(t, running), "late")
		require.Equal(t, Exit{Clean: true}, <-f.exited)
		require.Equal(t, 20*time.Second, f.elapsed())
	})
}

func TestARequestWhoseHeadersCameBeforeTheSignalIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, items(says("served")), nil)
		body, write := io.Pipe()
		answered := make(chan *http.Response, 1)
		go func() {
			resp, err := f.client.Post("http://server.test/v1/chat/completions", "application/json", body)
			if err == nil {
				answered <- resp
			}
		}()
		_, err := io.WriteString(write, streaming[:10])
		require.NoError(t, err)
		synctest.Wait()
		f.server.Signal("SIGTERM")
		time.Sleep(5 * time.Second)
		_, err = io.WriteString(write, streaming[10:])
		require.NoError(t, err)
		require.NoError(t, write.Close())
		require.Contains(t, text(t, <-answered), "served")
		require.Equal(t, Exit{Clean: true}, <-f.exited)
		require.Equal(t, 5*time.Second, f.elapsed())
	})
}

func TestABodyThatNeverComesHoldsNoDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, silent, func(c *Config) { c.Settings.Shutdown = 7 * time.Second })
		conn, err := f.pipes.dial(context.Background(), "", "")
		require.NoError(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: server.test\r\nContent-Length: 100\r\n\r\n{")
		require.NoError(t, err)
		synctest.Wait()
		f.server.Signal("SIGTERM")
		answer := make(chan string, 1)
		go func() {
			all, _ := io.ReadAll(conn)
			answer <- string(all)
		}()
		require.Equal(t, Exit{Clean: true}, <-f.exited)
		require.Contains(t, <-answer, "503 Service Unavailable")
		require.LessOrEqual(t, f.elapsed(), 8*time.Second)
	})
}

func TestAListenerThatFailsShutsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, silent, nil)
		require.NoError(t, f.pipes.Close())
		require.Equal(t, Exit{Clean: true}, <-f.exited)
		require.Contains(t, f.log.String(), "listener failed")
		f.server.Signal("SIGTERM")
	})
}
