package collector

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/wire"
)

// ServeHTTP takes one export.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, ref := c.begin()
	if s == nil {
		http.Error(w, "stallwright: the collector plays nothing", http.StatusServiceUnavailable)
		return
	}
	defer s.playing.Done()
	p := &play{s: s, ref: ref, w: w, r: r, now: time.Now()}
	if status, kind, why := p.receive(); status != 0 {
		s.record(ref, kind, fmt.Sprintf("%d %s", status, why))
		http.Error(w, "stallwright: "+why, status)
		return
	}
	if !p.steps(c.take(s)) {
		p.accept(Accept{})
	}
}

// play is one export as it is answered.
type play struct {
	s   *session
	ref string
	w   http.ResponseWriter
	r   *http.Request
	now time.Time // the instant that the next step is counted from
}

// receive reads and records an export, or says with which status it is refused.
func (p *play) receive() (status int, kind, why string) {
	const violation = "violation"
	switch media, _, _ := mime.ParseMediaType(p.r.Header.Get("Content-Type")); {
	case p.r.URL.Path != Path:
		return http.StatusNotFound, violation, fmt.Sprintf("traces are posted to %s, not to %.100q", Path, p.r.URL.Path)
	case p.r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, violation, fmt.Sprintf("traces are posted, not %.20q", p.r.Method)
	case media != "application/x-protobuf":
		return http.StatusUnsupportedMediaType, violation, fmt.Sprintf("this fake reads application/x-protobuf, not %.100q", media)
	}
	limit := p.s.Script.maxBody()
	sent := &counted{Reader: io.LimitReader(p.r.Body, limit+1)}
	var from io.Reader = sent
	switch coding := p.r.Header.Get("Content-Encoding"); coding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(sent)
		if err != nil {
			return http.StatusBadRequest, violation, "the body is not gzip"
		}
		from = z
	default:
		return http.StatusUnsupportedMediaType, violation, fmt.Sprintf("the content encoding %.40q is not known", coding)
	}
	body, err := io.ReadAll(io.LimitReader(from, limit+1))
	switch {
	case int64(len(body)) > limit || sent.n > limit:
		return http.StatusRequestEntityTooLarge, "refused", fmt.Sprintf("larger than %d bytes", limit)
	case err != nil:
		return http.StatusBadRequest, violation, "the body ends in the middle"
	}
	// An export request has the one field of TracesData; its own package would bring gRPC along.
	var traces tracepb.TracesData
	if err := proto.Unmarshal(body, &traces); err != nil {
		return http.StatusBadRequest, violation, "the body is no export request"
	}
	p.s.record(p.ref, "request", fmt.Sprintf("%d spans in %d bytes of %s", spans(&traces), len(body), service(&traces)))
	for _, line := range lines(&traces) {
		p.s.record(p.ref, "span", line)
	}
	return 0, "", ""
}

// counted counts what is read.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	return n, err
}

// steps plays steps and reports whether one of them has answered or ended the exchange.
func (p *play) steps(steps []script.Step) (over bool) {
	for _, step := range steps {
		switch step := step.(type) {
		case script.Pause:
			p.now = p.now.Add(step.For)
			p.wait(p.now, nil)
		case script.Await:
			p.s.record(p.ref, "await", step.Gate)
			p.wait(time.Time{}, p.s.Gates.Opened(step.Gate))
			p.now = time.Now()
		case script.Open:
			p.s.record(p.ref, "open", step.Gate)
			p.s.Gates.Open(step.Gate)
		case Accept:
			p.accept(step)
			return true
		case fault.Stall:
			p.s.record(p.ref, step.Kind(), "")
			if step.For == 0 {
				p.wait(time.Time{}, nil)
			}
			p.now = p.now.Add(step.For)
			p.wait(p.now, nil)
		case fault.Status:
			p.status(step)
			return true
		case fault.Reset:
			p.end(step.Kind(), true)
			return true
		case fault.Cut:
			p.end(step.Kind(), false)
			return true
		}
	}
	return false
}

// wait waits until the instant or for the gate, for ever when neither is given. It ends the exchange when the peer has left or the session is over.
func (p *play) wait(until time.Time, gate <-chan struct{}) {
	var tick <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		tick = timer.C
	}
	select {
	case <-tick:
		return
	case <-gate:
		return
	case <-p.s.over:
	case <-p.r.Context().Done():
		p.s.record(p.ref, "left", "")
	}
	panic(http.ErrAbortHandler)
}

// accept answers well: without a partial success when nothing is rejected and nothing is said, as the protocol wants it.
func (p *play) accept(a Accept) {
	p.s.record(p.ref, "accepted", strconv.Itoa(a.Rejected)+" rejected")
	var body []byte
	if a.Rejected > 0 || a.Message != "" {
		var partial []byte
		partial = protowire.AppendTag(partial, 1, protowire.VarintType)
		partial = protowire.AppendVarint(partial, uint64(a.Rejected))
		partial = protowire.AppendTag(partial, 2, protowire.BytesType)
		partial = protowire.AppendString(partial, a.Message)
		body = protowire.AppendTag(body, 1, protowire.BytesType)
		body = protowire.AppendBytes(body, partial)
	}
	p.answer(http.StatusOK, body)
}

// status refuses. The body is a google.rpc.Status with the message alone, unless the step has its own.
func (p *play) status(s fault.Status) {
	p.s.record(p.ref, s.Kind(), strconv.Itoa(s.Code))
	body := []byte(s.Body)
	if s.Body == "" && !s.Blank {
		body = protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "refused by a script")
	}
	for name, value := range s.Header {
		p.w.Header().Set(name, value)
	}
	if s.ContentType != "" {
		p.w.Header().Set("Content-Type", s.ContentType)
	}
	p.answer(s.Code, body)
}

func (p *play) answer(status int, body []byte) {
	if p.w.Header().Get("Content-Type") == "" {
		p.w.Header().Set("Content-Type", "application/x-protobuf")
	}
	p.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	p.w.WriteHeader(status)
	_, _ = p.w.Write(body)
}

// end closes the connection without an answer.
func (p *play) end(kind string, reset bool) {
	conn, _, err := http.NewResponseController(p.w).Hijack()
	if errors.Is(err, http.ErrNotSupported) {
		panic(http.ErrAbortHandler) // HTTP/2 before it: its stream is reset
	}
	if err != nil {
		return
	}
	p.s.record(p.ref, kind, "")
	if reset {
		wire.ResetConn(conn)
		return
	}
	conn.Close()
}
