package config

import (
	"cmp"
	"fmt"
	"time"
)

// Warnings are the contradictions between the windows with which this agent will run: clocks that can never fire, or
// none at all. The server says each once at its start.
func (f File) Warnings(s Settings) []string {
	agent := f.Agent.Alias
	if agent == "" {
		agent = f.Agent.Name
	}
	var out []string
	warn := func(format string, args ...any) {
		out = append(out, "agent "+quote(agent)+": "+fmt.Sprintf(format, args...))
	}
	never := func(name string, d time.Duration) {
		if s.Stream > 0 && d >= s.Stream {
			warn("%s (%v) is not below the stream window (%v): it can never fire", name, d, s.Stream)
		}
	}
	never("first chunk window", s.FirstChunk)
	never("inactivity window", s.Inactivity)
	if connect := cmp.Or(s.Connect, f.MCP.ConnectTimeout); len(f.MCP.Servers) > 0 {
		never("connect window of MCP servers", connect)
	}
	switch {
	case s.Stream > 0 && s.Heartbeat >= s.Stream:
		warn("heartbeat interval (%v) is not below the stream window (%v): there is never a heartbeat", s.Heartbeat, s.Stream)
	case s.FirstChunk > 0 && s.Heartbeat >= s.FirstChunk:
		warn("heartbeat interval (%v) is not below the first chunk window (%v): a slow first chunk is waited for in silence", s.Heartbeat, s.FirstChunk)
	}
	switch {
	case s.FirstChunk == 0 && s.Stream == 0:
		warn("the first chunk and stream windows are off: a silent provider is waited for without end")
	case s.Inactivity == 0 && s.Stream == 0:
		warn("the inactivity and stream windows are off: a provider that falls silent is waited for without end")
	}
	f.Orchestration.warnings(s, warn)
	if s.EmitReasoning && !s.CustomEvents {
		warn("AURA_EMIT_REASONING has no effect without AURA_CUSTOM_EVENTS")
	}
	for _, w := range s.Telemetry.warnings(s.Flush) {
		warn("%s", w)
	}
	f.HITL.warnings(s, f.Orchestration, warn)
	return out
}
