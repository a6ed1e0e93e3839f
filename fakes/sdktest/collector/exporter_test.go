// Package collector_test has OpenTelemetry's own exporter for Go, and the decoder of its collector, judge the fake collector.
package collector_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// server is a fake that runs until the end of its test.
type server struct {
	tl  *timeline.Timeline
	url string
}

func start(t *testing.T, s collector.Script) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	v := &server{tl: timeline.New(), url: "http://" + l.Addr().String() + collector.Path}
	fake := &collector.Collector{}
	require.NoError(t, fake.Open(&collector.Session{Script: s, Timeline: v.tl}))
	served := make(chan error, 1)
	go func() { served <- fake.Serve(l) }()
	t.Cleanup(func() {
		require.Empty(t, v.details("violation"))
		require.Empty(t, fake.Release())
		require.NoError(t, fake.Close())
		require.NoError(t, <-served)
	})
	return v
}

// details are those of the events of a kind.
func (v *server) details(kind string) (out []string) {
	for _, e := range v.tl.Events() {
		if e.Kind == kind {
			out = append(out, e.Detail)
		}
	}
	return out
}

// export has the exporter send a run with a turn, and returns its error.
func (v *server) export(t *testing.T, options ...otlptracehttp.Option) error {
	t.Helper()
	options = append([]otlptracehttp.Option{
		otlptracehttp.WithEndpointURL(v.url), otlptracehttp.WithHTTPClient(client(time.Minute)),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: time.Millisecond, MaxInterval: 10 * time.Millisecond, MaxElapsedTime: 10 * time.Second}),
	}, options...)
	exporter, err := otlptracehttp.New(t.Context(), options...)
	require.NoError(t, err)
	ended := &keep{}
	provider := trace.NewTracerProvider(trace.WithSyncer(ended), trace.WithResource(resource.NewSchemaless(attribute.String("service.name", "agents"))))
	ctx, run := provider.Tracer("judge").Start(context.Background(), "invoke_agent helper")
	_, turn := provider.Tracer("judge").Start(ctx, "chat gpt")
	turn.End()
	run.SetAttributes(attribute.String("stream.termination", "timed_out"))
	run.SetStatus(codes.Error, "stream_timeout")
	run.End()
	defer func() {
		require.NoError(t, provider.Shutdown(t.Context()))
		require.NoError(t, exporter.Shutdown(t.Context()))
	}()
	return exporter.ExportSpans(t.Context(), ended.spans)
}

// client shares no connection with another test. The exporter has no time limit beside that of a client that it is given.
func client(limit time.Duration) *http.Client {
	return &http.Client{Timeout: limit, Transport: &http.Transport{DisableKeepAlives: true}}
}

// keep is an exporter that keeps what it is given.
type keep struct{ spans []trace.ReadOnlySpan }

func (k *keep) ExportSpans(_ context.Context, spans []trace.ReadOnlySpan) error {
	k.spans = append(k.spans, spans...)
	return nil
}

func (k *keep) Shutdown(context.Context) error { return nil }

func TestTheExporterIsTaken(t *testing.T) {
	for name, compression := range map[string]otlptracehttp.Compression{"plain": otlptracehttp.NoCompression, "gzip": otlptracehttp.GzipCompression} {
		t.Run(name, func(t *testing.T) {
			v := start(t, collector.Script{})
			require.NoError(t, v.export(t, otlptracehttp.WithCompression(compression)))
			spans := v.details("span")
			require.Len(t, spans, 2)
			require.Regexp(t, `^chat gpt parent=[0-9a-f]{8} status=unset ending=- code=- trace=[0-9a-f]{8} span=[0-9a-f]{8}$`, spans[0])
			require.Regexp(t, `^invoke_agent helper parent=- status=error ending=timed_out code=stream_timeout trace=[0-9a-f]{8} span=[0-9a-f]{8}$`, spans[1])
			require.Contains(t, v.details("request")[0], "2 spans in ")
			require.Contains(t, v.details("request")[0], " of agents")
		})
	}
}

func TestTheExporterMeetsEachFault(t *testing.T) {
	once := func(steps ...script.Step) collector.Script {
		return collector.Script{Programs: []collector.Program{{Steps: steps}}}
	}
	short := otlptracehttp.WithHTTPClient(client(300 * time.Millisecond))
	for _, tt := range []struct {
		name   string
		script collector.Script
		option otlptracehttp.Option
		want   string   // of the error; none when empty
		kinds  []string // what the fake has answered
	}{
		{"it waits for a slow one", once(script.Pause{For: 50 * time.Millisecond}), nil, "", []string{"accepted"}},
		{"it gives a silent one up, and comes back", once(fault.Stall{}), short, "", []string{"stall", "accepted"}},
		{"it comes back after 503", once(fault.Status{Code: 503}), nil, "", []string{"status", "accepted"}},
		{"it comes back when it is told to", once(fault.Status{Code: 429, Header: map[string]string{"Retry-After": "1"}}), nil, "", []string{"status", "accepted"}},
		{"it does not come back after 400", once(fault.Status{Code: 400}), nil, "400 Bad Request", []string{"status"}},
		{"it does not come back after 413", collector.Script{MaxBody: 10}, nil, "413 Request Entity Too Large", []string{"refused"}},
		{"it reads a partial success", once(collector.Accept{Rejected: 1, Message: "too old"}), nil, "too old (1 spans rejected)", []string{"accepted"}},
		{"it sees a reset", once(fault.Reset{}), nil, "connection reset by peer", []string{"reset"}},
		{"it sees a cut", once(fault.Cut{}), nil, "EOF", []string{"cut"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := start(t, tt.script)
			var options []otlptracehttp.Option
			if tt.option != nil {
				options = append(options, tt.option)
			}
			err := v.export(t, options...)
			if tt.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.want)
			}
			var kinds []string
			for _, e := range v.tl.Events() {
				if slices.Contains([]string{"accepted", "stall", "status", "refused", "reset", "cut"}, e.Kind) {
					kinds = append(kinds, e.Kind)
				}
			}
			require.Equal(t, tt.kinds, kinds)
		})
	}
}

// The collector's own code writes the request and reads the answer.
func TestTheCollectorsDecoder(t *testing.T) {
	v := start(t, collector.Script{Programs: []collector.Program{{Steps: []script.Step{collector.Accept{Rejected: 7, Message: "no room"}}}}})
	asked := ptraceotlp.NewExportRequest()
	resources := asked.Traces().ResourceSpans().AppendEmpty()
	resources.Resource().Attributes().PutStr("service.name", "agents")
	span := resources.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetName("execute_tool " + strings.Repeat("x", 10))
	span.SetTraceID([16]byte{1, 2, 3, 4})
	span.SetSpanID([8]byte{5, 6, 7, 8})
	span.SetParentSpanID([8]byte{9, 10, 11, 12})
	span.Status().SetCode(1)
	body, err := asked.MarshalProto()
	require.NoError(t, err)
	for _, want := range []int64{7, 0} {
		req, err := http.NewRequest(http.MethodPost, v.url, bytes.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/x-protobuf")
		resp, err := client(time.Minute).Do(req)
		require.NoError(t, err)
		said, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		answer := ptraceotlp.NewExportResponse()
		require.NoError(t, answer.UnmarshalProto(said))
		require.Equal(t, want, answer.PartialSuccess().RejectedSpans())
		if want > 0 {
			require.Equal(t, "no room", answer.PartialSuccess().ErrorMessage())
		}
	}
	require.Equal(t, "execute_tool xxxxxxxxxx parent=090a0b0c status=ok ending=- code=- trace=01020304 span=05060708", v.details("span")[0])
}
