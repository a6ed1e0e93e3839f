package collector

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// What is kept of the peer's words, in bytes, and of the spans of one export.
const (
	maxWord  = 128
	maxSpans = 2000
)

func each(t *tracepb.TracesData, do func(*tracepb.Span)) {
	for _, r := range t.GetResourceSpans() {
		for _, s := range r.GetScopeSpans() {
			for _, span := range s.GetSpans() {
				do(span)
			}
		}
	}
}

func spans(t *tracepb.TracesData) (n int) {
	each(t, func(*tracepb.Span) { n++ })
	return n
}

// lines are the spans in words.
func lines(t *tracepb.TracesData) (out []string) {
	each(t, func(s *tracepb.Span) {
		if len(out) < maxSpans {
			out = append(out, line(s))
		}
	})
	return out
}

// line is NAME parent=ID status=WORD ending=WORD code=WORD trace=ID span=ID; what is missing is -. The ending is that of AURA's attribute
// stream.termination, the code error.type of the conventions, else the status's message.
func line(s *tracepb.Span) string {
	status := strings.ToLower(strings.TrimPrefix(s.GetStatus().GetCode().String(), "STATUS_CODE_"))
	return fmt.Sprintf("%s parent=%s status=%s ending=%s code=%s trace=%s span=%s", word(s.GetName()), id(s.GetParentSpanId()), status,
		text(s.GetAttributes(), "stream.termination"), word(cmp.Or(attribute(s.GetAttributes(), "error.type"), s.GetStatus().GetMessage())),
		id(s.GetTraceId()), id(s.GetSpanId()))
}

// service is the name of the service that an export is of.
func service(t *tracepb.TracesData) string {
	for _, r := range t.GetResourceSpans() {
		return text(r.GetResource().GetAttributes(), "service.name")
	}
	return "-"
}

func attribute(all []*commonpb.KeyValue, key string) string {
	for _, a := range all {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

func text(all []*commonpb.KeyValue, key string) string { return word(attribute(all, key)) }

// word is text of the peer, bounded; - when there is none.
func word(s string) string {
	if len(s) > maxWord {
		s = strings.ToValidUTF8(s[:maxWord], "") + "…"
	}
	return cmp.Or(s, "-")
}

// id is the first four bytes of an id: enough to tell those of one trial apart.
func id(b []byte) string { return cmp.Or(hex.EncodeToString(b[:min(4, len(b))]), "-") }
