package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestMain is also the child of the stdio tests.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(playChild(role))
	}
	goleak.VerifyTestMain(m)
}

const (
	roleVariable = "TOOLS_TEST_ROLE"
	logVariable  = "TOOLS_TEST_LOG"

	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// network has servers by host. Its connections are [net.Pipe], so that a bubble can wait on them.
type network map[string]*pipes

func (n network) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(addr)
	p, ok := n[host]
	if !ok {
		return nil, errors.New("connection refused")
	}
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

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

// said is a message of the client.
type said struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
		Cursor    string          `json:"cursor"`
		Version   string          `json:"protocolVersion"`
		Meta      struct {
			Token string `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// handler answers one message.
type handler func(w http.ResponseWriter, r *http.Request, m said)

// fake is an MCP server over HTTP that does as the test says and writes down what it saw.
type fake struct {
	t     *testing.T
	on    map[string]handler // by method, or HTTP method
	pipes *pipes
	http  *http.Server
	start time.Time
	done  chan struct{}
	sent  chan string // to the stream of HTTP+SSE

	mu     sync.Mutex
	events []string
}

// serve starts a fake of this revision at http://NAME/mcp.
func serve(t *testing.T, n network, name, revision string) *fake {
	f := &fake{t: t, pipes: newPipes(), start: time.Now(), done: make(chan struct{}), sent: make(chan string)}
	n[name] = f.pipes
	f.on = map[string]handler{
		"server/discover": func(w http.ResponseWriter, _ *http.Request, m said) {
			if revision == modern {
				succeed(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
			} else {
				reply(w, m, `"error":{"code":-32601,"message":"no such method"}`)
			}
		},
		"initialize": func(w http.ResponseWriter, _ *http.Request, m said) {
			w.Header().Set("Mcp-Session-Id", "s1")
			succeed(w, m, `{"protocolVersion":"`+revision+`","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`)
		},
		"tools/list": func(w http.ResponseWriter, _ *http.Request, m said) {
			succeed(w, m, `{"tools":[{"name":"echo","description":"says it","inputSchema":{"type":"object","x":1}},{"name":"slow","inputSchema":{"type":"object"}}]}`)
		},
		"tools/call": func(w http.ResponseWriter, r *http.Request, m said) {
			if m.Params.Name == "slow" {
				f.hang(w, r, m)
				return
			}
			succeed(w, m, `{"content":[{"type":"text","text":`+quoted(string(m.Params.Arguments))+`}]}`)
		},
		"DELETE": func(http.ResponseWriter, *http.Request, said) {},
	}
	f.http = &http.Server{Handler: f, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(f.done)
		_ = f.http.Serve(f.pipes)
	}()
	return f
}

// close ends the fake. What it still serves ends with its connections.
func (f *fake) close() {
	_ = f.http.Close()
	<-f.done
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // net/http sees a client leave only then
	var m said
	_ = json.Unmarshal(body, &m)
	switch {
	case r.Method != http.MethodPost:
		f.note("%s", r.Method)
		m.Method = r.Method
	case m.Method == "notifications/cancelled":
		f.note("cancelled %s: %s", m.Params.RequestID, m.Params.Reason)
	case m.Method == "tools/call":
		f.note("call %s %s", m.ID, m.Params.Name)
	case m.Method == "":
		f.note("said %s", body)
	default:
		f.note("%s", m.Method)
	}
	h := f.on[m.Method]
	switch {
	case h != nil:
		h(w, r, m)
	case r.Method == http.MethodPost && len(m.ID) == 0 || m.Method == "":
		w.WriteHeader(http.StatusAccepted)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, fmt.Sprintf(format, args...))
}

// seen is what the fake saw since the last time, once nothing moves any more.
func (f *fake) seen() []string {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := f.events
	f.events = nil
	return seen
}

// hang opens a stream and waits for the client to leave it.
func (f *fake) hang(w http.ResponseWriter, r *http.Request, m said) {
	open(w)
	<-r.Context().Done()
	f.note("left %s", m.ID)
}

func open(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
}

func emit(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// data is a message as an event.
func data(message string) string { return "data: " + message + "\n\n" }

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// text is a result with this text, for this id.
func text(id, s string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":` + quoted(s) + `}]}}`
}

func reply(w http.ResponseWriter, m said, member string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,`+member+`}`)
}

func succeed(w http.ResponseWriter, m said, result string) { reply(w, m, `"result":`+result) }

// at makes the configuration for a fake.
func at(name string) Server {
	return Server{Name: name, Transport: HTTPStreamable, URL: "http://" + name + "/mcp"}
}

// bubble plays a test in virtual time. That it ends at all shows that nothing is left of what it started.
func bubble(t *testing.T, play func(t *testing.T, n network)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { play(t, network{}) })
}

func lease(t *testing.T, p *Pool) *Lease {
	t.Helper()
	l, err := p.Lease(t.Context(), nil)
	require.NoError(t, err)
	return l
}

// later is a call that runs beside the test.
type later struct {
	result Result
	err    error
	after  time.Duration
	done   chan struct{}
	cancel context.CancelCauseFunc
}

func begin(l *Lease, c Call, token string, progress func(Progress)) *later {
	ctx, cancel := context.WithCancelCause(context.Background())
	call := &later{done: make(chan struct{}), cancel: cancel}
	start := time.Now()
	go func() {
		defer close(call.done)
		call.result, call.err = l.Call(ctx, c, token, progress)
		call.after = time.Since(start)
	}()
	return call
}

func slow() Call { return Call{ID: "c1", Name: "slow"} }

func echo(s string) Call {
	return Call{ID: "c1", Name: "echo", Arguments: json.RawMessage(`{"s":` + quoted(s) + `}`)}
}

func (f *fake) elapsed() time.Duration { return time.Since(f.start) }

// sse makes the fake speak HTTP+SSE: what the handlers write as JSON goes on the stream.
func (f *fake) sse() {
	f.on["GET"] = func(w http.ResponseWriter, r *http.Request, _ said) {
		open(w)
		emit(w, "event: endpoint\ndata: /post\n\n")
		for {
			select {
			case text := <-f.sent:
				emit(w, text)
			case <-r.Context().Done():
				f.note("stream left")
				return
			}
		}
	}
	for method, h := range f.on {
		if method == "GET" || method == "DELETE" {
			continue
		}
		f.on[method] = func(w http.ResponseWriter, r *http.Request, m said) {
			w.WriteHeader(http.StatusAccepted)
			_ = http.NewResponseController(w).Flush()
			if m.Params.Name != "slow" {
				h(&onStream{f: f, gone: r.Context().Done()}, r, m)
			}
		}
	}
}

// onStream writes to the stream of HTTP+SSE.
type onStream struct {
	f    *fake
	gone <-chan struct{} // nil waits for ever
}

func (o *onStream) Header() http.Header { return make(http.Header) }

func (o *onStream) WriteHeader(int) {}

func (o *onStream) Write(p []byte) (int, error) {
	select {
	case o.f.sent <- "event: message\n" + data(strings.TrimSpace(string(p))):
		return len(p), nil
	case <-o.gone:
		return 0, net.ErrClosed
	}
}
