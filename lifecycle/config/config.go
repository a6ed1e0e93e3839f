// Package config reads what the server is told: its windows from the environment, its agent from a TOML file.
package config

import (
	"log/slog"
	"time"
)

// Settings are what the process is told by its environment. The zero value is not useful: start from [Defaults].
type Settings struct {
	Windows
	Signing
	Host       string // HOST, an address or a name without a port
	Port       int    // PORT, 0 picks a free one
	ConfigPath string // CONFIG_PATH
	// Connections (MAX_CONNECTIONS) is how many connections of clients are served at once, at most 1,000,000; a few more are told that there
	// are too many. 0 is no limit.
	Connections   int
	LogLevel      slog.Level // LOG_LEVEL: debug, info, warn or error
	LogFormat     string     // LOG_FORMAT: json or text
	Buffer        int        // STREAMING_BUFFER_SIZE, events a run may hold for a slow reader, 1 to 100,000
	CustomEvents  bool       // AURA_CUSTOM_EVENTS
	EmitReasoning bool       // AURA_EMIT_REASONING, needs CustomEvents
	// ToolResultMode (TOOL_RESULT_MODE) says how tool results reach the caller: none, open-web-ui or aura.
	ToolResultMode string
	Telemetry      Telemetry
}

// Windows are the clocks and bounds of the server, each at most 30 days. 0 is off, except where the field says otherwise.
type Windows struct {
	FirstChunk time.Duration // FIRST_CHUNK_TIMEOUT_SECS
	Inactivity time.Duration // STREAM_INACTIVITY_TIMEOUT_SECS
	Stream     time.Duration // STREAMING_TIMEOUT_SECS
	Heartbeat  time.Duration // HEARTBEAT_SECS
	Shutdown   time.Duration // SHUTDOWN_TIMEOUT_SECS, the grace; 0 is no grace
	Straggler  time.Duration // SHUTDOWN_STRAGGLER_SECS, phase 3 begins this long after the drain; 0 is at once
	Abort      time.Duration // SHUTDOWN_ABORT_SECS, how long phase 3 waits for the aborted; 0 is not at all
	Cleanup    time.Duration // MCP_CLEANUP_SECS, how long an ending waits for MCP cleanup; 0 is not at all
	Connect    time.Duration // MCP_CONNECT_SECS, in place of the file's connect_timeout_secs, which knows whole seconds only; 0 is the file's
	Approval   time.Duration // HITL_TIMEOUT_SECS, in place of the file's timeout_secs, which knows whole seconds only; 0 is the file's
	LastWrite  time.Duration // LAST_WRITE_SECS, the write deadline of a run's last frames; 0 is an error
	Flush      time.Duration // TELEMETRY_FLUSH_SECS, how long the exit waits for telemetry; 0 is not at all
	// PerCall (ORCHESTRATION_PER_CALL_SECS) and TaskInactivity (ORCHESTRATION_INACTIVITY_SECS) stand in place of the file's timeouts of
	// orchestration, which know whole seconds only; 0 is the file's.
	PerCall, TaskInactivity time.Duration
}

// Defaults are the settings of a process that is told nothing.
func Defaults() Settings {
	return Settings{
		Windows: Windows{
			FirstChunk: 90 * time.Second,
			Stream:     15 * time.Minute,
			Heartbeat:  15 * time.Second,
			Shutdown:   30 * time.Second,
			Straggler:  5 * time.Second,
			Abort:      400 * time.Millisecond,
			Cleanup:    5 * time.Second,
			LastWrite:  5 * time.Second,
			Flush:      5 * time.Second,
		},
		Signing:        Signing{Tolerance: 5 * time.Minute},
		Host:           "127.0.0.1",
		Port:           8080,
		ConfigPath:     "config.toml",
		Connections:    4096,
		LogFormat:      "json",
		Buffer:         400,
		ToolResultMode: "none",
		Telemetry:      Telemetry{Service: defaultService},
	}
}

// File is the content of a configuration file, checked and with its templates filled in.
type File struct {
	Agent         Agent
	MCP           MCP
	HITL          HITL
	Orchestration Orchestration
}

// MCP is the table [mcp]: the servers whose tools the model may call.
type MCP struct {
	ConnectTimeout time.Duration // connect_timeout_secs, for each server, tools included; 10 s when not given
	Servers        []MCPServer   // by name
}

// The transports of MCP servers.
const (
	StreamableHTTP = "http_streamable"
	SSE            = "sse"
	Stdio          = "stdio"
)

// MCPServer is a table [mcp.servers.NAME].
type MCPServer struct {
	Name               string
	Transport          string            // transport: http_streamable, sse or stdio
	URL                string            // url, an http or https URL; of all but stdio
	Headers            map[string]string // headers sent with every request
	HeadersFromRequest map[string]string // headers_from_request: the header sent, by the header of the client's request that it is copied from
	Command            []string          // cmd, the program and its first arguments, then args; of stdio
	Env                map[string]string // env, besides the server's own PATH and HOME; of stdio
	ProtocolVersion    string            // protocol_version, a revision of MCP; negotiated when empty
}

// Agent is the table [agent].
type Agent struct {
	Name          string // name, never empty
	Alias         string // alias, may be empty
	SystemPrompt  string // system_prompt, may be empty
	TurnDepth     int    // turn_depth, model turns of one run, 1 to 1,000, 5 when not given
	ToolExecution string // tool_execution: sequential (when not given), batched, concurrent or concurrent-fifo
	LLM           LLM
}

// The providers. OpenAI is Chat Completions; its Responses API is a provider of its own.
const (
	OpenAI          = "openai"
	OpenAIResponses = "openai-responses"
	Anthropic       = "anthropic"
	Gemini          = "gemini"
	Ollama          = "ollama"
)

// defaultBaseURL is where a provider is when the file does not say.
func defaultBaseURL(provider *string) string {
	if provider == nil {
		return ""
	}
	return map[string]string{
		OpenAI: "https://api.openai.com/v1", OpenAIResponses: "https://api.openai.com/v1", Anthropic: "https://api.anthropic.com",
		Gemini: "https://generativelanguage.googleapis.com/v1beta", Ollama: "http://127.0.0.1:11434",
	}[*provider]
}

// LLM is the table [agent.llm].
type LLM struct {
	Provider string // provider, one of those below
	Model    string // model, never empty
	APIKey   Secret // api_key, may be empty
	BaseURL  string // base_url, an http or https URL; the provider's own when not given
}
