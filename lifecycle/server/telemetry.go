package server

import (
	"cmp"
	"log/slog"

	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/telemetry"
)

// exportTo is where the spans of the server go.
func exportTo(c Config, log *slog.Logger) telemetry.Config {
	t := c.Settings.Telemetry
	headers := make(map[string]string, len(t.Headers))
	for name, value := range t.Headers {
		headers[name] = string(value)
	}
	return telemetry.Config{Endpoint: t.Endpoint, Headers: headers, Service: t.Service, Version: c.Version, Dial: c.Dial, Log: log}
}

// watched is who answers, as the spans of its runs name it.
func (s *Server) watched() telemetry.Agent {
	return telemetry.Agent{Name: s.file.Agent.Name, Provider: s.agent.Provider, Model: s.agent.Model}
}

// endSpan closes the span of a run that has its ending. The agent's spans are closed already, unless it is deaf.
func (x *exchange) endSpan() {
	x.span.Turns(x.run.Turns())
	x.span.End(x.run.Ending())
}

// providerName is a provider in the words of OpenTelemetry's conventions.
func providerName(provider string) string {
	return cmp.Or(map[string]string{config.OpenAIResponses: "openai", config.Gemini: "gcp.gemini"}[provider], provider)
}
