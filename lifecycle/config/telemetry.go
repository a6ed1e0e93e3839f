package config

import (
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Telemetry is where spans go. The variables are OpenTelemetry's.
type Telemetry struct {
	// Endpoint is the URL that spans are posted to: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, or OTEL_EXPORTER_OTLP_ENDPOINT with /v1/traces
	// behind it. Empty is off.
	Endpoint string
	// Headers go with every export: OTEL_EXPORTER_OTLP_HEADERS, and over it OTEL_EXPORTER_OTLP_TRACES_HEADERS, as name=value,name=value with
	// percent-encoding in the values.
	Headers map[string]Secret
	Service string // OTEL_SERVICE_NAME, as spans name the server; stallwright when not given
}

const (
	defaultService = "stallwright"
	maxOTLPHeaders = 32
)

// telemetry reads what is told about telemetry. What might be a credential is not shown in errors.
func (e *env) telemetry(t *Telemetry) {
	e.read("OTEL_SERVICE_NAME", text(&t.Service))
	e.secretly("OTEL_EXPORTER_OTLP_ENDPOINT", func(v string) string {
		wrong := collectorURL(v)
		t.Endpoint = strings.TrimSuffix(v, "/") + "/v1/traces"
		return wrong
	})
	e.secretly("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", func(v string) string {
		t.Endpoint = v
		return collectorURL(v)
	})
	e.secretly("OTEL_EXPORTER_OTLP_HEADERS", otlpHeaders(&t.Headers))
	e.secretly("OTEL_EXPORTER_OTLP_TRACES_HEADERS", otlpHeaders(&t.Headers))
	if t.Endpoint == "" {
		return
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		e.read(name, oneOf(new(string), []string{"http/protobuf"}))
	}
}

// collectorURL shows nothing of a wrong URL: what is in it may be a credential.
func collectorURL(s string) string {
	u := webURL(s)
	switch {
	case u == nil:
		return noWebURL
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "must hold no user, query or fragment: credentials belong into OTEL_EXPORTER_OTLP_HEADERS"
	}
	return ""
}

// otlpHeaders puts headers over those that are there already.
func otlpHeaders(to *map[string]Secret) func(string) string {
	return func(v string) string {
		pairs := strings.Split(v, ",")
		if len(pairs) > maxOTLPHeaders {
			return "want at most 32 headers"
		}
		for _, pair := range pairs {
			name, value, ok := strings.Cut(pair, "=")
			name = strings.TrimSpace(name)
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if !ok || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
				return "want name=value,name=value, with what is special in a value percent-encoded"
			}
			if *to == nil {
				*to = map[string]Secret{}
			}
			(*to)[name] = Secret(value)
		}
		return ""
	}
}

// warnings are the contradictions in what is told about telemetry.
func (t Telemetry) warnings(flush time.Duration) (out []string) {
	switch {
	case t.Endpoint == "" && len(t.Headers) > 0:
		out = append(out, "OTEL_EXPORTER_OTLP_HEADERS has no effect without OTEL_EXPORTER_OTLP_ENDPOINT")
	case t.Endpoint != "" && flush == 0:
		out = append(out, "TELEMETRY_FLUSH_SECS is 0: the spans of the last seconds are lost at every exit")
	}
	return out
}
