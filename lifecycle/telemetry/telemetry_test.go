package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/stallwright/stallwright/lifecycle/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is telemetry with a collector in the same bubble.
type fixture struct {
	*Telemetry
	t      *testing.T
	log    bytes.Buffer
	server *http.Server
	start  time.Time

	mu    sync.Mutex
	asked []time.Duration
	spans []*tracepb.Span
	last  http.Header
}

// pipes is a listener whose connections are [net.Pipe], so that a bubble can wait on them.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// watch starts telemetry whose collector answers so.
func watch(t *testing.T, answer http.HandlerFunc) *fixture {
	f := &fixture{t: t, start: time.Now()}
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	f.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.take(r)
		answer(w, r)
	})}
	go f.server.Serve(l)
	f.Telemetry = New(Config{
		Endpoint: "http://collector.test/v1/traces", Headers: map[string]string{"Authorization": "Bearer hidden"}, Service: "agents", Version: "1.2.3",
		Dial: l.dial, Log: slog.New(slog.NewTextHandler(&f.log, nil)),
	})
	return f
}

func (f *fixture) take(r *http.Request) {
	z, err := gzip.NewReader(r.Body)
	require.NoError(f.t, err)
	body, err := io.ReadAll(z)
	require.NoError(f.t, err)
	var traces tracepb.TracesData
	require.NoError(f.t, proto.Unmarshal(body, &traces))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.last = append(f.asked, time.Since(f.start)), r.Header
	for _, rs := range traces.ResourceSpans {
		require.Equal(f.t, "agents", rs.Resource.Attributes[0].Value.GetStringValue())
		for _, s := range rs.ScopeSpans {
			f.spans = append(f.spans, s.Spans...)
		}
	}
}

// end flushes within five seconds, and returns how long that took.
func (f *fixture) end() time.Duration {
	from := time.Now()
	f.Flush(5 * time.Second)
	took := time.Since(from)
	f.server.Close()
	synctest.Wait()
	return took
}

var agent = Agent{Name: "helper", Provider: "openai", Model: "gpt"}

func (f *fixture) run(e run.Ending) {
	_, span := f.Run(context.Background(), "req_1", agent)
	span.End(e)
}

func accepts(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// says is the value of an attribute.
func says(s *tracepb.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return cmp.Or(a.Value.GetStringValue(), a.Value.String())
		}
	}
	return ""
}

func completed() run.Ending { return run.Ending{How: run.Completed} }

func TestSpansOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watch(t, accepts)
		ctx, whole := f.Run(context.Background(), "req_1", agent)
		whole.Session("cs_1")
		_, turn := Turn(ctx, agent)
		turn.Usage(3, 4)
		turn.Finish("tool_calls")
		turn.End(completed())
		inTool, tool := Tool(ctx, "lookup", "call_1")
		_, asked := Approval(inTool, "lookup", "decision_1")
		asked.Decided("denied")
		asked.End(completed())
		tool.End(run.Ending{How: run.Failed, Code: "tool_error", Message: "secret"})
		inTask, task := Task(ctx, "1", "writer")
		_, below := Turn(inTask, agent)
		below.End(run.Ending{How: run.Disconnected})
		task.End(run.Ending{How: run.TimedOut, Code: run.StreamTimeout})
		whole.End(completed())
		whole.End(run.Ending{How: run.Failed}) // too late
		require.Zero(t, f.end())

		by := map[string]*tracepb.Span{}
		for _, s := range f.spans {
			by[s.Name] = s
			require.Equal(t, f.spans[0].TraceId, s.TraceId)
			require.NotContains(t, s.String(), "secret")
		}
		require.Len(t, f.spans, 6)
		root := by["invoke_agent helper"]
		require.Empty(t, root.ParentSpanId)
		require.Equal(t, tracepb.Status_STATUS_CODE_OK, root.Status.Code)
		require.Equal(t, []string{"invoke_agent", "openai", "gpt", "cs_1", "completed", "req_1"}, []string{says(root, "gen_ai.operation.name"), says(root, "gen_ai.provider.name"),
			says(root, "gen_ai.request.model"), says(root, "gen_ai.conversation.id"), says(root, "stream.termination"), says(root, "http.request_id")})
		call := by["execute_tool lookup"]
		require.Equal(t, root.SpanId, call.ParentSpanId)
		require.Equal(t, tracepb.Status_STATUS_CODE_ERROR, call.Status.Code)
		require.Equal(t, []string{"call_1", "tool_error"}, []string{says(call, "gen_ai.tool.call.id"), says(call, "error.type")})
		require.Equal(t, call.SpanId, by["approval lookup"].ParentSpanId)
		require.Equal(t, "denied", says(by["approval lookup"], "stallwright.approval.decision"))
		require.Equal(t, "stream_timeout", by["invoke_agent writer"].Status.Message)
		require.Equal(t, by["invoke_agent writer"].SpanId, by["chat gpt"].ParentSpanId, "the last of that name")
		require.Equal(t, tracepb.Status_STATUS_CODE_UNSET, by["chat gpt"].Status.GetCode())
		require.Equal(t, "disconnected", says(by["chat gpt"], "stream.termination"))
	})
}

func TestTelemetryThatIsOff(t *testing.T) {
	off := New(Config{})
	require.Nil(t, off)
	ctx, whole := off.Run(context.Background(), "req_1", agent)
	require.Equal(t, context.Background(), ctx)
	_, turn := Turn(ctx, agent)
	turn.Usage(1, 2)
	turn.End(completed())
	whole.Session("cs_1")
	whole.End(completed())
	off.Flush(0)
}

func TestHostileTextIsShortAndValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watch(t, accepts)
		ctx, whole := f.Run(context.Background(), "req_1", agent)
		_, tool := Tool(ctx, strings.Repeat("x", maxText-4)+"\xff\xfe äöü", "\xff")
		tool.End(completed())
		whole.End(completed())
		f.end()
		require.Len(t, f.spans, 2)
		require.Less(t, len(f.spans[0].Name), 2*maxText)
		require.Equal(t, "\uFFFD", says(f.spans[0], "gen_ai.tool.call.id"))
	})
}

func TestExports(t *testing.T) {
	status := func(code int, retryAfter string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if retryAfter != "" {
				w.Header().Set("Retry-After", retryAfter)
			}
			w.WriteHeader(code)
		}
	}
	const ms = time.Millisecond
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		asked  []time.Duration // since the flush began
		took   time.Duration
		said   string
	}{
		{"a span is taken at once", accepts, []time.Duration{0}, 0, "telemetry flushed"},
		{"what may be retried is, with longer and longer pauses", status(503, ""), []time.Duration{0, 500 * ms, 1500 * ms, 3500 * ms}, 3500 * ms, "the collector answers 503"},
		{"a collector says when", status(429, "2"), []time.Duration{0, 2000 * ms, 4000 * ms}, 5000 * ms, "the collector answers 429"},
		{"no longer than the flush lasts", status(503, "3600"), []time.Duration{0}, 5000 * ms, "the collector answers 503"},
		{"what is too large stays so", status(413, ""), []time.Duration{0}, 0, "the collector answers 413"},
		{"what is refused is not asked again", status(401, ""), []time.Duration{0}, 0, "the collector answers 401"},
		{"nobody is sent elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other.test/", http.StatusTemporaryRedirect)
		}, []time.Duration{0}, 0, "the collector answers 307"},
		{"an answer that ends early is none", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			w.WriteHeader(200)
		}, []time.Duration{0, 500 * ms, 1500 * ms, 3500 * ms}, 3500 * ms, "unexpected EOF"},
		{"a partial success is not repeated", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte{0x0a, 0x02, 0x08, 0x01}) }, []time.Duration{0}, 0, "the collector rejected telemetry"},
		{"an answer that is no message rejects nothing", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }, []time.Duration{0}, 0, "telemetry flushed"},
		{"a silent collector is cut off at the bound", hangs, []time.Duration{0}, 5000 * ms, "telemetry lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := watch(t, tt.answer)
				f.run(completed())
				require.Equal(t, tt.took, f.end())
				require.Equal(t, tt.asked, f.asked)
				require.Contains(t, f.log.String(), tt.said)
				require.NotContains(t, f.log.String(), "hidden")
				require.NotContains(t, f.log.String(), "collector.test")
				require.Equal(t, "Bearer hidden", f.last.Get("Authorization"))
			})
		})
	}
}

func TestACollectorThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watch(t, accepts)
		f.server.Close()
		f.run(completed())
		require.Equal(t, 3500*time.Millisecond, f.end())
		require.Contains(t, f.log.String(), "connection refused")
		require.Contains(t, f.log.String(), `msg="telemetry lost" spans=1 exported=0`)
	})
}

func TestAFullQueueBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watch(t, hangs)
		f.run(completed())
		time.Sleep(batchDelay)
		synctest.Wait() // the first export hangs
		from := time.Now()
		for range maxQueue + 100 {
			f.run(completed())
		}
		require.Zero(t, time.Since(from))
		require.Equal(t, 5*time.Second, f.end())
		require.Contains(t, f.log.String(), `msg="telemetry lost" spans=2149 exported=0`)
	})
}

func TestAFlushWithoutSpansTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.Zero(t, watch(t, hangs).end())
	})
}

func TestAFlushWithoutTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watch(t, hangs)
		f.run(completed())
		from := time.Now()
		f.Flush(0)
		require.Zero(t, time.Since(from))
		f.server.Close()
	})
}

func FuzzRejectedSpans(f *testing.F) {
	f.Add([]byte{0x0a, 0x02, 0x08, 0x01})
	f.Add([]byte{0x0a, 0x0b, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, answer []byte) { require.GreaterOrEqual(t, rejectedSpans(answer), int64(0)) })
}
