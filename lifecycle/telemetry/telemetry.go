// Package telemetry tells a collector what became of runs: spans of the OpenTelemetry SDK, exported over OTLP/HTTP behind everything else.
// There is no global tracer. The server owns one [Telemetry], and whoever works for a run begins spans below the one in its context:
//
//	Run ── Turn
//	  ├─── Tool ── Approval
//	  └─── Task ── Turn, Tool …
package telemetry

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const (
	maxQueue   = 2048            // spans that wait for the export, those of some hundred runs; more are dropped
	maxBatch   = 512             // spans of one request: some 250 kB, below what collectors take
	batchDelay = 5 * time.Second // a span waits so long for others to go with it
	scope      = "github.com/stallwright/stallwright/lifecycle/telemetry"
)

// Config is where the spans go.
type Config struct {
	Endpoint string            // the URL that spans are posted to; empty is off
	Headers  map[string]string // of each export, such as a key; never logged
	Service  string            // service.name
	Version  string            // service.version
	// Dial opens connections to the collector; nil dials the network, through the environment's proxy if there is one.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	Log  *slog.Logger // of exports that failed
}

// Telemetry owns the tracer of a server and the export of its spans. The nil pointer is telemetry that is off. It is safe for concurrent use.
type Telemetry struct {
	provider *sdktrace.TracerProvider
	client   *client
	ended    *ended
	log      *slog.Logger
}

// New starts the export, which goes on until Flush. It returns nil when there is no endpoint.
func New(c Config) *Telemetry {
	if c.Endpoint == "" {
		return nil
	}
	t := &Telemetry{client: newClient(c), log: c.Log}
	// Every limit is said here, since the SDK asks the environment for those that are not.
	batches := sdktrace.NewBatchSpanProcessor(otlptrace.NewUnstarted(t.client), sdktrace.WithMaxQueueSize(maxQueue),
		sdktrace.WithMaxExportBatchSize(maxBatch), sdktrace.WithBatchTimeout(batchDelay), sdktrace.WithExportTimeout(uploadWindow))
	t.ended = &ended{SpanProcessor: batches}
	t.provider = sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{
			AttributeValueLengthLimit: maxText, AttributeCountLimit: 64, EventCountLimit: 16, LinkCountLimit: 16,
			AttributePerEventCountLimit: 16, AttributePerLinkCountLimit: 16,
		}),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", bounded(c.Service)), attribute.String("service.version", bounded(c.Version)))),
		sdktrace.WithSpanProcessor(t.ended),
	)
	return t
}

// Flush exports what has ended and ends the export: at the latest when the bound is over, when the connection is cut and the rest is lost.
// Nothing of the export is left when it returns. Spans that end later are dropped. It is called once.
func (t *Telemetry) Flush(bound time.Duration) {
	if t == nil {
		return
	}
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		_ = t.provider.Shutdown(context.Background()) // the client has logged what went wrong
	}()
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case <-flushed:
	case <-timer.C:
		t.client.cut()
		<-flushed
	}
	t.client.close()
	exported, all := t.client.exported.Load(), t.ended.spans.Load()
	if exported < all {
		t.log.Warn("telemetry lost", "spans", all-exported, "exported", exported)
		return
	}
	t.log.Info("telemetry flushed", "exported", exported)
}

// ended counts the spans that are to be exported: the SDK tells nobody how many it drops when its queue is full.
type ended struct {
	sdktrace.SpanProcessor
	spans atomic.Int64
}

// OnEnd hands a span to the queue; it never blocks.
func (e *ended) OnEnd(s sdktrace.ReadOnlySpan) {
	e.spans.Add(1)
	e.SpanProcessor.OnEnd(s)
}

func tracer(ctx context.Context) trace.Tracer {
	return trace.SpanFromContext(ctx).TracerProvider().Tracer(scope)
}
