package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTelemetryFromEnv(t *testing.T) {
	for _, tt := range []struct {
		name string
		vars map[string]string
		want Telemetry
	}{
		{"it is off when nothing is said", nil, Telemetry{Service: "stallwright"}},
		{"the path of traces goes behind the endpoint", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/"},
			Telemetry{Endpoint: "http://collector:4318/v1/traces", Service: "stallwright"}},
		{"an endpoint of traces is as it is, and comes first", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://traces.test/in"},
			Telemetry{Endpoint: "https://traces.test/in", Service: "stallwright"}},
		{"headers are decoded, and those of traces come first", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
			"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Basic%20a==, x-team=red", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-team=blue"},
			Telemetry{Endpoint: "http://c/v1/traces", Service: "stallwright", Headers: map[string]Secret{"authorization": "Basic a==", "x-team": "blue"}}},
		{"another protocol matters only where there is an endpoint", map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, Telemetry{Service: "stallwright"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := FromEnv(from(tt.vars))
			require.NoError(t, err)
			require.Equal(t, tt.want, s.Telemetry)
		})
	}
}

func TestTelemetryErrorsShowNoCredentials(t *testing.T) {
	const headers = "want name=value,name=value, with what is special in a value percent-encoded"
	for _, tt := range []struct{ name, variable, value, want string }{
		{"an endpoint is a URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "secret:4317", "want an http or https URL"},
		{"an endpoint holds no user", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://secret@c", "must hold no user, query or fragment: credentials belong into OTEL_EXPORTER_OTLP_HEADERS"},
		{"nor a query", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c/?key=secret", "must hold no user, query or fragment: credentials belong into OTEL_EXPORTER_OTLP_HEADERS"},
		{"a header has a value", "OTEL_EXPORTER_OTLP_HEADERS", "secret", headers},
		{"a header has no line end", "OTEL_EXPORTER_OTLP_HEADERS", "a=secret%0a", headers},
		{"a header is encoded rightly", "OTEL_EXPORTER_OTLP_HEADERS", "a=secret%", headers},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := FromEnv(from(map[string]string{tt.variable: tt.value}))
			require.EqualError(t, err, tt.variable+": "+tt.want)
		})
	}
	_, err := FromEnv(from(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}))
	require.EqualError(t, err, `OTEL_EXPORTER_OTLP_PROTOCOL="grpc": want one of http/protobuf`)
}

func TestTelemetryWarnings(t *testing.T) {
	s := Defaults()
	s.Telemetry.Headers = map[string]Secret{"a": "b"}
	require.Contains(t, File{}.Warnings(s)[0], "OTEL_EXPORTER_OTLP_HEADERS has no effect")
	s.Telemetry.Endpoint, s.Flush = "http://c", 0
	require.Contains(t, File{}.Warnings(s)[0], "TELEMETRY_FLUSH_SECS is 0")
}
