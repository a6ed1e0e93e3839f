package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	tries        = 4                      // of one batch
	firstPause   = 500 * time.Millisecond // before the second try, and twice as long before each later one
	tryWindow    = 10 * time.Second       // OTLP's own default for one request
	uploadWindow = 30 * time.Second       // for one batch with all its tries: what waits behind it is bounded by the queue
	maxAnswer    = 64 << 10               // bytes of an answer; what counts is in the first of them
	dialWindow   = 5 * time.Second
)

// client posts batches to a collector. It takes the place of the SDK's own for OTLP/HTTP, which brings gRPC along, reads the environment and
// retries at random instants. [otlptrace.Exporter] calls it from one goroutine.
type client struct {
	url       string
	headers   map[string]string
	http      *http.Client
	transport *http.Transport
	log       *slog.Logger
	ctx       context.Context // ends every export
	cut       context.CancelFunc
	exported  atomic.Int64 // spans that the collector took
}

func newClient(c Config) *client {
	t := &http.Transport{DialContext: c.Dial, TLSHandshakeTimeout: dialWindow, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxAnswer}
	if c.Dial == nil {
		t.DialContext = (&net.Dialer{Timeout: dialWindow}).DialContext
		t.Proxy = http.ProxyFromEnvironment
	}
	to := &client{url: c.Endpoint, headers: c.Headers, transport: t, log: c.Log}
	// Another host must not get the headers.
	to.http = &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	to.ctx, to.cut = context.WithCancel(context.Background())
	return to
}

// Start implements [otlptrace.Client].
func (c *client) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client].
func (c *client) Stop(context.Context) error { return nil }

func (c *client) close() {
	c.cut()
	c.transport.CloseIdleConnections()
}

// UploadTraces implements [otlptrace.Client]. It tries again what the protocol allows to, and logs what is lost; its error is always nil,
// since the SDK would write it to a log of the whole process.
func (c *client) UploadTraces(ctx context.Context, all []*tracepb.ResourceSpans) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.ctx, stop)()
	spans := count(all)
	rejected, err := c.upload(ctx, all)
	c.exported.Add(spans - min(rejected, spans))
	switch {
	case err != nil:
		c.log.Warn("telemetry was not exported", "spans", spans, "error", err)
	case rejected > 0:
		c.log.Warn("the collector rejected telemetry", "spans", rejected)
	}
	return nil
}

// upload returns how many spans were not taken.
func (c *client) upload(ctx context.Context, all []*tracepb.ResourceSpans) (rejected int64, err error) {
	body, err := encode(all)
	if err != nil {
		return count(all), err
	}
	pause := firstPause
	for try := 1; ; try++ {
		var again time.Duration
		if rejected, again, err = c.post(ctx, body); err == nil {
			return rejected, nil
		}
		if again < 0 || try == tries || ctx.Err() != nil {
			return count(all), err
		}
		timer := time.NewTimer(max(pause, again))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return count(all), err
		}
		pause *= 2
	}
}

// post tries once. After an error, again is how long the collector wants to be left alone, or below 0 when another try is of no use.
func (c *client) post(ctx context.Context, body []byte) (rejected int64, again time.Duration, err error) {
	ctx, stop := context.WithTimeout(ctx, tryWindow)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return 0, -1, errors.New("the endpoint is no URL")
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	answer, err := c.http.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the URL
		}
		return 0, 0, err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case answer.StatusCode/100 == 2 && err == nil:
		return rejectedSpans(said), 0, nil
	case answer.StatusCode/100 == 2:
		return 0, 0, err
	}
	err = fmt.Errorf("the collector answers %d", answer.StatusCode)
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return 0, retryAfter(answer.Header.Get("Retry-After")), err
	}
	return 0, -1, err
}

// retryAfter is never longer than a batch is tried for.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 16); err == nil {
		return min(time.Duration(seconds)*time.Second, uploadWindow)
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, min(time.Until(at), uploadWindow))
	}
	return 0
}

// encode is the export request. [tracepb.TracesData] has its one field; the request's own package would bring gRPC along.
func encode(all []*tracepb.ResourceSpans) ([]byte, error) {
	plain, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: all})
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

func count(all []*tracepb.ResourceSpans) (spans int64) {
	for _, r := range all {
		for _, s := range r.GetScopeSpans() {
			spans += int64(len(s.GetSpans()))
		}
	}
	return spans
}

// rejectedSpans reads partial_success.rejected_spans of an export answer, field 1 of its field 1. What is no such answer rejects nothing.
func rejectedSpans(answer []byte) int64 {
	partial, _ := field(answer, 1, protowire.BytesType)
	_, n := field(partial, 1, protowire.VarintType)
	return max(0, int64(n))
}

// field is the last field of that number and type in a message.
func field(message []byte, number protowire.Number, kind protowire.Type) (data []byte, varint uint64) {
	for len(message) > 0 {
		n, t, head := protowire.ConsumeTag(message)
		if head < 0 {
			return data, varint
		}
		message = message[head:]
		size := protowire.ConsumeFieldValue(n, t, message)
		if size < 0 {
			return data, varint
		}
		if n == number && t == kind {
			data, _ = protowire.ConsumeBytes(message[:size])
			varint, _ = protowire.ConsumeVarint(message[:size])
		}
		message = message[size:]
	}
	return data, varint
}
