package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

// provider is a real one over TCP. It says one word and then, when stall is set, waits to be left.
func provider(t *testing.T, stall bool) (baseURL string, started, left chan struct{}) {
	started, left = make(chan struct{}, 8), make(chan struct{}, 8)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		started <- struct{}{}
		if stall {
			<-r.Context().Done()
			left <- struct{}{}
			return
		}
		_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", started, left
}

// overTCP serves on a loopback port.
func overTCP(t *testing.T, baseURL string, edit func(c *Config)) (url string, s *Server, exited chan Exit) {
	c := valid()
	c.File.Agent.LLM.BaseURL = baseURL
	if edit != nil {
		edit(&c)
	}
	s, err := New(c)
	require.NoError(t, err)
	url, exited = listening(t, s)
	return url, s, exited
}

// listening serves s on a loopback port.
func listening(t testing.TB, s *Server) (url string, exited chan Exit) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	exited = make(chan Exit, 1)
	go func() { exited <- s.Serve(l) }()
	return "http://" + l.Addr().String() + "/v1/chat/completions", exited
}

// endless says more than the network's buffers hold.
func endless(_ context.Context, _ llm.Request, emit func(llm.Item) error) error {
	for {
		if err := emit(says(strings.Repeat("x", 64<<10))); err != nil {
			return err
		}
	}
}

func TestOverTCP(t *testing.T) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()

	t.Run("a complete answer and a clean exit", func(t *testing.T) {
		baseURL, _, _ := provider(t, false)
		url, s, exited := overTCP(t, baseURL, nil)
		for range 3 {
			resp, err := client.Post(url, "application/json", strings.NewReader(streaming))
			require.NoError(t, err)
			require.Contains(t, text(t, resp), `"content":"word"`)
		}
		s.Signal("SIGTERM")
		require.Equal(t, Exit{Clean: true}, <-exited)
	})

	t.Run("a client that leaves takes the provider call with it", func(t *testing.T) {
		baseURL, started, left := provider(t, true)
		url, s, exited := overTCP(t, baseURL, nil)
		ctx, leave := context.WithCancel(context.Background())
		defer leave()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(streaming))
		require.NoError(t, err)
		resp, err := client.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		<-started
		leave()
		<-left
		s.Signal("SIGTERM")
		require.Equal(t, Exit{Clean: true}, <-exited)
	})

	t.Run("a drain ends the stream, aborts the provider call and is clean", func(t *testing.T) {
		baseURL, started, left := provider(t, true)
		url, s, exited := overTCP(t, baseURL, func(c *Config) { c.Settings.Shutdown = 20 * time.Millisecond })
		resp, err := client.Post(url, "application/json", strings.NewReader(streaming))
		require.NoError(t, err)
		<-started
		s.Signal("SIGTERM")
		<-left
		body := text(t, resp)
		require.Contains(t, body, `"code":"server_shutdown"`)
		require.True(t, strings.HasSuffix(body, "data: [DONE]\n\n"), body)
		require.Equal(t, Exit{Clean: true}, <-exited)
	})

	t.Run("a reader that stalls is cut at the end of its run", func(t *testing.T) {
		url, s, exited := overTCP(t, "http://unused.test", func(c *Config) {
			c.Settings.Stream = 50 * time.Millisecond
			c.Settings.LastWrite = 50 * time.Millisecond
		})
		s.agent.Client = model(endless)
		conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/v1/chat/completions"))
		require.NoError(t, err)
		defer conn.Close()
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(streaming))
		require.NoError(t, err)
		require.NoError(t, r.Write(conn))
		_, err = conn.Read(make([]byte, 1))
		require.NoError(t, err)
		<-s.registry.Idle()
		s.Signal("SIGTERM")
		require.Equal(t, Exit{Clean: true}, <-exited)
	})
}
