package collector

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func attr(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

// export is a request with one span of that name.
func export(name string) []byte {
	b, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{attr("service.name", "agents")}},
		ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{
			Name: name, TraceId: []byte{1, 2, 3, 4, 5}, SpanId: []byte{6, 7, 8, 9, 10},
			Status:     &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: "said"},
			Attributes: []*commonpb.KeyValue{attr("stream.termination", "timed_out"), attr("error.type", "stream_timeout")},
		}}}},
	}}})
	if err != nil {
		panic(err)
	}
	return b
}

func packed(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// world is a collector in a bubble, and a client of it.
type world struct {
	t      *testing.T
	fake   *Collector
	tl     *timeline.Timeline
	gates  script.Gates
	client *http.Client
	served chan error
}

func open(t *testing.T, s Script) *world {
	var network memnet.Network
	l, err := network.Listen("collector.test:80")
	require.NoError(t, err)
	w := &world{t: t, fake: &Collector{}, tl: timeline.New(), served: make(chan error, 1), client: &http.Client{Transport: &http.Transport{DialContext: network.DialContext}}}
	require.NoError(t, w.fake.Open(&Session{Script: s, Timeline: w.tl, Gates: &w.gates}))
	go func() { w.served <- w.fake.Serve(l) }()
	return w
}

func (w *world) close() {
	w.fake.Close()
	require.NoError(w.t, <-w.served)
	w.client.CloseIdleConnections()
}

// post sends a body, and returns the status and what is answered, or 0.
func (w *world) post(ctx context.Context, body []byte, edit ...func(*http.Request)) (int, string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://collector.test"+Path, bytes.NewReader(body))
	require.NoError(w.t, err)
	r.Header.Set("Content-Type", "application/x-protobuf")
	for _, e := range edit {
		e(r)
	}
	answer, err := w.client.Do(r)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	require.NoError(w.t, err)
	return answer.StatusCode, string(said)
}

// events are those of the timeline in words.
func (w *world) events() (out []string) {
	for _, e := range w.tl.Events() {
		require.Equal(w.t, Lane, e.Lane)
		out = append(out, strings.TrimSpace(e.Ref+" "+e.Kind+" "+e.Detail))
	}
	return out
}

func zipped(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }

const spanLine = "#1 span chat gpt parent=- status=error ending=timed_out code=stream_timeout trace=01020304 span=06070809"

func TestAnExportIsRecordedAndAccepted(t *testing.T) {
	for _, how := range []string{"plain", "gzip"} {
		synctest.Test(t, func(t *testing.T) {
			w := open(t, Script{})
			defer w.close()
			body, edit := export("chat gpt"), func(*http.Request) {}
			if how == "gzip" {
				body, edit = packed(body), zipped
			}
			status, said := w.post(t.Context(), body, edit)
			require.Equal(t, 200, status)
			require.Empty(t, said, "a full success says nothing")
			require.Equal(t, []string{"#1 request 1 spans in 136 bytes of agents", spanLine, "#1 accepted 0 rejected"}, w.events(), how)
		})
	}
}

func TestPrograms(t *testing.T) {
	for _, tt := range []struct {
		name   string
		steps  []script.Step
		status int
		said   string
		took   time.Duration
		events []string // behind those of the export
	}{
		{"no steps accept", nil, 200, "", 0, []string{"#1 accepted 0 rejected"}},
		{"a partial success", []script.Step{Accept{Rejected: 3, Message: "no"}}, 200, "\x0a\x06\x08\x03\x12\x02no", 0, []string{"#1 accepted 3 rejected"}},
		{"a pause", []script.Step{script.Pause{For: 3 * time.Second}}, 200, "", 3 * time.Second, []string{"#1 accepted 0 rejected"}},
		{"a stall that ends", []script.Step{fault.Stall{For: time.Minute}}, 200, "", time.Minute, []string{"#1 stall", "#1 accepted 0 rejected"}},
		{"a stall that does not", []script.Step{fault.Stall{}}, 0, "", time.Hour, []string{"#1 stall", "#1 left"}},
		{"a status", []script.Step{fault.Status{Code: 503, Header: map[string]string{"Retry-After": "7"}}}, 503, "\x12\x13refused by a script", 0, []string{"#1 status 503"}},
		{"a status with a body of its own", []script.Step{fault.Status{Code: 404, ContentType: "text/html", Body: "<html>"}}, 404, "<html>", 0, []string{"#1 status 404"}},
		{"a reset", []script.Step{fault.Reset{}}, 0, "", 0, []string{"#1 reset"}},
		{"a cut", []script.Step{fault.Cut{}}, 0, "", 0, []string{"#1 cut"}},
		{"a gate of its own", []script.Step{script.Open{Gate: "g"}, script.Await{Gate: "g"}}, 200, "", 0, []string{"#1 open g", "#1 await g", "#1 accepted 0 rejected"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t, Script{Programs: []Program{{Steps: tt.steps}}})
				defer w.close()
				ctx, stop := context.WithTimeout(t.Context(), time.Hour)
				defer stop()
				start := time.Now()
				status, said := w.post(ctx, export("chat gpt"))
				synctest.Wait()
				require.Equal(t, tt.status, status)
				require.Equal(t, tt.said, said)
				require.Equal(t, tt.took, time.Since(start))
				require.Equal(t, tt.events, w.events()[2:])
				require.Empty(t, w.fake.Release())
			})
		})
	}
}

func TestWhatIsNoExportIsRefused(t *testing.T) {
	with := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, tt := range []struct {
		name   string
		body   []byte
		edit   func(*http.Request)
		status int
		event  string
	}{
		{"another path", nil, func(r *http.Request) { r.URL.Path = "/v1/logs" }, 404, `#1 violation 404 traces are posted to /v1/traces, not to "/v1/logs"`},
		{"another method", nil, func(r *http.Request) { r.Method = "PUT" }, 405, `#1 violation 405 traces are posted, not "PUT"`},
		{"JSON", nil, with("Content-Type", "application/json"), 415, `#1 violation 415 this fake reads application/x-protobuf, not "application/json"`},
		{"another compression", nil, with("Content-Encoding", "zstd"), 415, `#1 violation 415 the content encoding "zstd" is not known`},
		{"what is not compressed", export("x"), zipped, 400, "#1 violation 400 the body is not gzip"},
		{"half a body", packed(export("x"))[:30], zipped, 400, "#1 violation 400 the body ends in the middle"},
		{"no protobuf", []byte("hello"), asItIs, 400, "#1 violation 400 the body is no export request"},
		{"too much", export(strings.Repeat("x", 2000)), asItIs, 413, "#1 refused 413 larger than 1000 bytes"},
		{"a little that is much", packed(export(strings.Repeat("x", 1<<20))), zipped, 413, "#1 refused 413 larger than 1000 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t, Script{MaxBody: 1000, Programs: []Program{{Steps: []script.Step{fault.Reset{}}}}})
				defer w.close()
				status, _ := w.post(t.Context(), tt.body, tt.edit)
				require.Equal(t, tt.status, status)
				require.Equal(t, []string{tt.event}, w.events())
				require.Equal(t, []string{"program 1 was played 0 times of 1"}, w.fake.Release())
			})
		})
	}
}

func asItIs(*http.Request) {}

func TestProgramsAreTakenInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, Script{Programs: []Program{{Times: 2, Steps: []script.Step{fault.Status{Code: 503}}}, {Times: script.Any, Steps: []script.Step{fault.Status{Code: 400}}}}})
		defer w.close()
		for _, want := range []int{503, 503, 400, 400} {
			status, _ := w.post(t.Context(), export("x"))
			require.Equal(t, want, status)
		}
		require.Empty(t, w.fake.Release())
		status, _ := w.post(t.Context(), export("x"))
		require.Equal(t, 503, status, "nothing is played any more")
	})
}

func TestCloseEndsWhatIsPlayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, Script{Programs: []Program{{Steps: []script.Step{script.Await{Gate: "never"}}}}})
		over := make(chan struct{})
		go func() {
			defer close(over)
			w.post(t.Context(), export("x"))
		}()
		synctest.Wait()
		w.close()
		<-over
		require.Equal(t, "#1 await never", w.events()[2], "that the fake closed is nobody's leaving")
		require.Len(t, w.events(), 3)
		require.ErrorContains(t, w.fake.Open(&Session{}), "closed")
	})
}

func TestHostileSpansStayOnOneLine(t *testing.T) {
	long := line(&tracepb.Span{Name: strings.Repeat("n", 5000), TraceId: bytes.Repeat([]byte{1}, 100)})
	require.Equal(t, strings.Repeat("n", maxWord)+"… parent=- status=unset ending=- code=- trace=01010101 span=-", long)
}

func TestAResetIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, Script{Programs: []Program{{Steps: []script.Step{fault.Reset{}}}}})
		defer w.close()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://collector.test"+Path, bytes.NewReader(export("x")))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-protobuf")
		_, err = w.client.Do(r)
		require.ErrorIs(t, err, syscall.ECONNRESET)
	})
}

func TestMoreConnectionsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, fake: &Collector{MaxConns: 1}, tl: timeline.New(), served: make(chan error, 1)}
		var network memnet.Network
		l, err := network.Listen("collector.test:80")
		require.NoError(t, err)
		w.client = &http.Client{Transport: &http.Transport{DialContext: network.DialContext, DisableKeepAlives: true}}
		require.NoError(t, w.fake.Open(&Session{Script: Script{Programs: []Program{{Steps: []script.Step{script.Pause{For: time.Minute}}}}}, Timeline: w.tl}))
		go func() { w.served <- w.fake.Serve(l) }()
		defer w.close()
		first := make(chan struct{})
		go func() {
			defer close(first)
			w.post(t.Context(), export("x"))
		}()
		synctest.Wait()
		start := time.Now()
		status, _ := w.post(t.Context(), export("x"))
		require.Equal(t, 200, status)
		require.Equal(t, time.Minute, time.Since(start))
		<-first
	})
}
