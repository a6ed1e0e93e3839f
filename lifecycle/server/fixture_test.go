package server

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is the provider of a test.
type model func(ctx context.Context, r llm.Request, emit func(llm.Item) error) error

func (m model) Stream(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
	return m(ctx, r, emit)
}

func says(text string) llm.Item { return llm.Item{Kind: llm.Text, Text: text} }

// items plays its items at once and ends well.
func items(all ...llm.Item) model {
	return func(_ context.Context, _ llm.Request, emit func(llm.Item) error) error {
		for _, i := range all {
			if err := emit(i); err != nil {
				return err
			}
		}
		return nil
	}
}

// silent gives nothing until its context ends.
func silent(ctx context.Context, _ llm.Request, _ func(llm.Item) error) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// late answers with text after d.
func late(d time.Duration) model {
	return func(ctx context.Context, _ llm.Request, emit func(llm.Item) error) error {
		select {
		case <-time.After(d):
			return emit(says("late"))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// pipes is a listener whose connections are [net.Pipe], so that a bubble can wait on them.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// fixture is a served server and a client of it.
type fixture struct {
	t      *testing.T
	server *Server
	pipes  *pipes
	client *http.Client
	log    *logged
	start  time.Time
	exited chan Exit
}

// logged keeps log lines; safe for concurrent use.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func valid() Config {
	return Config{
		Settings: config.Defaults(),
		File: config.File{Agent: config.Agent{Name: "helper", TurnDepth: 5,
			LLM: config.LLM{Provider: "openai", Model: "gpt", BaseURL: "http://model.test/v1"}}},
		Version: "1.2.3",
	}
}

func serve(t *testing.T, m model, edit func(c *Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, pipes: newPipes(), log: &logged{}, start: time.Now(), exited: make(chan Exit, 1)}
	c := valid()
	c.Log = slog.New(slog.NewTextHandler(f.log, nil))
	if edit != nil {
		edit(&c)
	}
	s, err := New(c)
	require.NoError(t, err)
	s.agent.Client = m
	f.server = s
	f.client = &http.Client{Transport: &http.Transport{DialContext: f.pipes.dial}}
	go func() { f.exited <- s.Serve(f.pipes) }()
	return f
}

// end shuts down and waits.
func (f *fixture) end() Exit {
	f.server.Signal("SIGTERM")
	exit := <-f.exited
	f.client.CloseIdleConnections()
	return exit
}

func (f *fixture) elapsed() time.Duration { return time.Since(f.start) }

func (f *fixture) do(method, path, body string) *http.Response {
	f.t.Helper()
	r, err := http.NewRequest(method, "http://server.test"+path, strings.NewReader(body))
	require.NoError(f.t, err)
	resp, err := f.client.Do(r)
	require.NoError(f.t, err)
	return resp
}

func (f *fixture) ask(body string) *http.Response {
	f.t.Helper()
	return f.do(http.MethodPost, "/v1/chat/completions", body)
}

const (
	streaming = `{"stream":true,"messages":[{"role":"user","content":"hi"}]}`
	plain     = `{"messages":[{"role":"user","content":"hi"}]}`
)

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(body)
}

// raw sends a streaming request on a connection of its own and reads the response's head.
func (f *fixture) raw() (net.Conn, *bufio.Reader) {
	f.t.Helper()
	conn, err := f.pipes.dial(context.Background(), "", "")
	require.NoError(f.t, err)
	r, err := http.NewRequest(http.MethodPost, "http://server.test/v1/chat/completions", strings.NewReader(streaming))
	require.NoError(f.t, err)
	require.NoError(f.t, r.Write(conn))
	reader := bufio.NewReader(conn)
	for {
		line, err := reader.ReadString('\n')
		require.NoError(f.t, err)
		if line == "\r\n" {
			return conn, reader
		}
	}
}
