package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func from(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestFromEnvWithoutVariables(t *testing.T) {
	s, err := FromEnv(from(nil))
	require.NoError(t, err)
	require.Equal(t, Defaults(), s)
	require.Empty(t, File{}.Warnings(s))
}

func TestFromEnvReadsEachVariable(t *testing.T) {
	s, err := FromEnv(from(map[string]string{
		"HOST": "::1", "PORT": "0", "CONFIG_PATH": "a.toml", "STREAMING_BUFFER_SIZE": "1", "AURA_CUSTOM_EVENTS": "Yes", "AURA_EMIT_REASONING": "1",
		"TOOL_RESULT_MODE": "open-web-ui", "FIRST_CHUNK_TIMEOUT_SECS": "0.25", "STREAM_INACTIVITY_TIMEOUT_SECS": "250ms", "STREAMING_TIMEOUT_SECS": "0",
		"HEARTBEAT_SECS": "1", "SHUTDOWN_TIMEOUT_SECS": "2", "SHUTDOWN_STRAGGLER_SECS": "3", "SHUTDOWN_ABORT_SECS": "4", "MCP_CLEANUP_SECS": "5", "MCP_CONNECT_SECS": "450ms",
		"HITL_TIMEOUT_SECS": "50ms", "AURA_HITL_WEBHOOK_SECRET": strings.Repeat("k", 32), "AURA_HITL_WEBHOOK_SECRET_SECONDARY": strings.Repeat("o", 32), "AURA_HITL_WEBHOOK_TOLERANCE_SECS": "7",
		"LAST_WRITE_SECS": "6", "TELEMETRY_FLUSH_SECS": "720h", "MAX_CONNECTIONS": "7", "LOG_LEVEL": "warn", "LOG_FORMAT": "text",
		"OTEL_SERVICE_NAME": "agents", "ORCHESTRATION_PER_CALL_SECS": "7", "ORCHESTRATION_INACTIVITY_SECS": "0.5",
	}))
	require.NoError(t, err)
	require.Equal(t, Settings{
		Windows: Windows{
			FirstChunk: 250 * time.Millisecond, Inactivity: 250 * time.Millisecond, Heartbeat: time.Second, Shutdown: 2 * time.Second,
			Straggler: 3 * time.Second, Abort: 4 * time.Second, Cleanup: 5 * time.Second, Connect: 450 * time.Millisecond, Approval: 50 * time.Millisecond, LastWrite: 6 * time.Second, Flush: 720 * time.Hour,
			PerCall: 7 * time.Second, TaskInactivity: 500 * time.Millisecond,
		},
		Signing: Signing{Secret: Secret(strings.Repeat("k", 32)), Secondary: Secret(strings.Repeat("o", 32)), Tolerance: 7 * time.Second},
		Host:    "::1", ConfigPath: "a.toml", Buffer: 1, CustomEvents: true, EmitReasoning: true, ToolResultMode: "open-web-ui",
		Connections: 7, LogLevel: slog.LevelWarn, LogFormat: "text",
		Telemetry: Telemetry{Service: "agents"},
	}, s)
}

func TestFromEnvBooleans(t *testing.T) {
	for v, want := range map[string]bool{"1": true, "true": true, "yes": true, "on": true, "t": true, "y": true, "Y": true, "0": false, "false": false, "no": false, "OFF": false, "f": false, "n": false} {
		s, err := FromEnv(from(map[string]string{"AURA_CUSTOM_EVENTS": v}))
		require.NoError(t, err, v)
		require.Equal(t, want, s.CustomEvents, v)
	}
}

func TestFromEnvErrors(t *testing.T) {
	const form = `want seconds ("90", "0.25") or a duration ("250ms")`
	tests := []struct{ name, variable, value, want string }{
		{"words are no window", "FIRST_CHUNK_TIMEOUT_SECS", "abc", form},
		{"nothing is no window", "FIRST_CHUNK_TIMEOUT_SECS", "", form},
		{"spaces are not skipped", "FIRST_CHUNK_TIMEOUT_SECS", " 1", form},
		{"NaN is no window", "HEARTBEAT_SECS", "NaN", form},
		{"infinity is no window", "HEARTBEAT_SECS", "-Inf", form},
		{"a window is not negative", "HEARTBEAT_SECS", "-1", "must not be negative"},
		{"a duration is not negative", "HEARTBEAT_SECS", "-1s", "must not be negative"},
		{"a huge negative is not negative either", "HEARTBEAT_SECS", "-1e999", "must not be negative"},
		{"a window is bounded", "STREAMING_TIMEOUT_SECS", "2592000.1", "want at most 30 days"},
		{"a window beyond numbers is bounded", "STREAMING_TIMEOUT_SECS", "1e999", "want at most 30 days"},
		{"a window does not overflow", "STREAMING_TIMEOUT_SECS", "9223372037", "want at most 30 days"},
		{"a tiny window is not turned off", "STREAMING_TIMEOUT_SECS", "1e-12", "must be 0 or at least 1ns"},
		{"last frames need a deadline", "LAST_WRITE_SECS", "0", "must be above 0"},
		{"a buffer holds something", "STREAMING_BUFFER_SIZE", "0", "want a whole number from 1 to 100000"},
		{"a buffer is bounded", "STREAMING_BUFFER_SIZE", "100001", "want a whole number from 1 to 100000"},
		{"a limit of connections is bounded", "MAX_CONNECTIONS", "1000001", "want a whole number from 0 to 1000000"},
		{"a level is one of the log's", "LOG_LEVEL", "WARN", "want one of debug, info, warn, error"},
		{"a format is one of the log's", "LOG_FORMAT", "xml", "want one of json, text"},
		{"a port fits", "PORT", "65536", "want a whole number from 0 to 65535"},
		{"a port is a number", "PORT", "http", "want a whole number from 0 to 65535"},
		{"a host has no port", "HOST", "localhost:80", "want an address or a name, without a port"},
		{"a host is something", "HOST", "", "want an address or a name, without a port"},
		{"a path is something", "CONFIG_PATH", "", "must not be empty"},
		{"a boolean is one", "AURA_CUSTOM_EVENTS", "maybe", "want true or false"},
		{"a mode is known", "TOOL_RESULT_MODE", "Aura", "want one of none, open-web-ui, aura"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := FromEnv(from(map[string]string{tt.variable: tt.value}))
			require.EqualError(t, err, fmt.Sprintf("%s=%q: %s", tt.variable, tt.value, tt.want))
		})
	}
	_, err := FromEnv(from(map[string]string{"PORT": "\x1b" + strings.Repeat("x", 100), "HEARTBEAT_SECS": "x"}))
	require.EqualError(t, err, `PORT="\x1b`+strings.Repeat("x", 63)+"\"…: want a whole number from 0 to 65535\nHEARTBEAT_SECS=\"x\": "+form)
}

const minimal = `# {{ env.IN_A_COMMENT }}
[agent]
name = "Harness"
[agent.llm]
provider = "openai"
model = "fake"
`

func TestParse(t *testing.T) {
	tests := []struct {
		name string
		text string
		want Agent
	}{
		{"what is not given has a default", minimal, Agent{Name: "Harness", TurnDepth: 5, ToolExecution: "sequential", LLM: LLM{Provider: "openai", Model: "fake", BaseURL: "https://api.openai.com/v1"}}},
		{"everything can be given", `
[agent]
name = "{{ env.NAME }}"
alias = "{{env.NONE|default:'h'}}"
system_prompt = """Say {{ name }} or {{ env.INJECT }}
{{ env.NONE | default: '}}' }}"""
turn_depth = 1_000
tool_execution = "concurrent-fifo"
llm = { provider = "openai", model = "m", api_key = "{{ env.EMPTY }}k", base_url = "http://[::1]:9/v1" }
`, Agent{
			Name: "Ann", Alias: "h", SystemPrompt: "Say {{ name }} or \"\nname = '{{ env.NAME }}'\n}}", TurnDepth: 1000, ToolExecution: "concurrent-fifo",
			LLM: LLM{Provider: "openai", Model: "m", APIKey: "k", BaseURL: "http://[::1]:9/v1"},
		}},
		{"dotted keys are the same keys", "agent.name='a'\nagent.llm.provider='openai'\n\"agent\".llm.model='m'", Agent{Name: "a", TurnDepth: 5, ToolExecution: "sequential", LLM: LLM{Provider: "openai", Model: "m", BaseURL: "https://api.openai.com/v1"}}},
	}
	vars := map[string]string{"NAME": "Ann", "EMPTY": "", "INJECT": "\"\nname = '{{ env.NAME }}'"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse("c.toml", []byte(tt.text), from(vars))
			require.NoError(t, err)
			require.Equal(t, File{Agent: tt.want, MCP: MCP{ConnectTimeout: 10 * time.Second}}, f)
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		name string
		text string
		want []string
	}{
		{"nothing", "", []string{"c.toml: agent.name is missing", "c.toml: agent.llm.provider is missing", "c.toml: agent.llm.model is missing"}},
		{"a misspelt table, told once", "[agnet.llm]\nx = 1\ny = 2\n", []string{`c.toml:1:2: unknown key "agnet.llm": did you mean "agent.llm"?`}},
		{"a misspelt table below a right one", minimal + "[agent.lmm]\nx = 1\n", []string{`c.toml:7:8: unknown key "agent.lmm": did you mean "agent.llm"?`}},
		{"misspelt keys, all of them", minimal + "modle = 'm'\napikey = 'k'\n[agent.zz]\n", []string{
			`c.toml:7:1: unknown key "agent.llm.modle": did you mean "agent.llm.model"?`,
			`c.toml:8:1: unknown key "agent.llm.apikey": did you mean "agent.llm.api_key"?`,
			`c.toml:9:8: unknown key "agent.zz": [agent] has alias, llm, name, system_prompt, tool_execution, turn_depth`,
		}},
		{"a key that resembles none", "quux = 1", []string{`c.toml:1:1: unknown key "quux": the file has agent, hitl, mcp, orchestration`}},
		{"a quoted key that only looks known", minimal + "\"agent.name\" = 'x'\n", []string{`c.toml:7:1: unknown key "agent.llm.agent.name": [agent.llm] has api_key, base_url, model, provider`}},
		{"a misspelt key of an inline table", "[agent]\nllm = { modl = 'm', provider = 1 }", []string{
			`c.toml:2:9: unknown key "agent.llm.modl": did you mean "agent.llm.model"?`,
			`c.toml:2:21: agent.llm.provider is an integer, want a string`,
		}},
		{"an unknown key with control characters", "\"\\u001b[31m\" = 1", []string{`c.toml:1:1: unknown key "\x1b[31m": the file has agent, hitl, mcp, orchestration`}},
		{"wrong types, all of them", "[agent]\nname = 7\nturn_depth = 'five'\nalias = true\nsystem_prompt = [1]\ntool_execution = 1.5\nllm = 1979-05-27\n", []string{
			"c.toml:2:1: agent.name is an integer, want a string",
			"c.toml:3:1: agent.turn_depth is a string, want an integer",
			"c.toml:4:1: agent.alias is a boolean, want a string",
			"c.toml:5:1: agent.system_prompt is an array, want a string",
			"c.toml:6:1: agent.tool_execution is a float, want a string",
			"c.toml:7:1: agent.llm is a date or time, want a table",
		}},
		{"a table for a value", "[agent.name]\n", []string{"c.toml:1:8: agent.name is a table, want a string"}},
		{"tables for a table", "[[agent]]\nname = 'a'\n", []string{"c.toml:1:3: agent is an array of tables, want a table"}},
		{"a value for a table", "agent = 'a'\n", []string{"c.toml:1:1: agent is a string, want a table"}},
		{"tables of later versions, each told once", minimal + "[orchestration.artifacts]\n[[orchestration.coordinator_vector_stores]]\n", []string{
			"c.toml:7:16: [orchestration.artifacts] is not supported by this version",
			"c.toml:8:17: [orchestration.coordinator_vector_stores] is not supported by this version",
		}},
		{"a later table in another form", "orchestration = { artifacts = {} }\n", []string{"c.toml:1:19: [orchestration.artifacts] is not supported by this version"}},
		{"missing variables, all of them", "[agent]\nname = '{{ env.A }}{{ env.B }}'\n[agent.llm]\nprovider = 'openai'\nmodel = 'm'\napi_key = '{{ env.C }}'\n", []string{
			"c.toml:2:1: agent.name: environment variable A is not set",
			"c.toml:2:1: agent.name: environment variable B is not set",
			"c.toml:6:1: agent.llm.api_key: environment variable C is not set",
		}},
		{"a malformed template", minimal + "api_key = '{{ env.X | default: sk-1 }}'", []string{"c.toml:7:1: agent.llm.api_key: malformed template: want {{ env.NAME }} or {{ env.NAME | default: 'x' }}"}},
		{"wrong values, all of them", "[agent]\nname = ' '\nturn_depth = 0\ntool_execution = 'parallel'\n[agent.llm]\nprovider = 'cohere'\nmodel = ''\napi_key = \"sk-1\\n\"\nbase_url = 'ftp://h'\n", []string{
			"c.toml:2:1: agent.name: must not be empty",
			"c.toml:3:1: agent.turn_depth: 0 is not from 1 to 1000",
			`c.toml:4:1: agent.tool_execution: "parallel": want one of sequential, batched, concurrent, concurrent-fifo`,
			`c.toml:6:1: agent.llm.provider: "cohere": want one of openai, openai-responses, anthropic, gemini, ollama`,
			"c.toml:7:1: agent.llm.model: must not be empty",
			"c.toml:8:1: agent.llm.api_key: holds a control character, such as a line end",
			"c.toml:9:1: agent.llm.base_url: want an http or https URL",
		}},
		{"credentials in the URL", minimal + "base_url = 'https://u:sk-1@h/v1'", []string{"c.toml:7:1: agent.llm.base_url: must not hold credentials: they belong into api_key"}},
		{"a query in the URL", minimal + "base_url = 'https://h/v1?key=sk-1'", []string{"c.toml:7:1: agent.llm.base_url: must end before the query: /chat/completions is appended to it"}},
		{"a URL that is none", minimal + "base_url = 'http://h:sk-1'", []string{"c.toml:7:1: agent.llm.base_url: want an http or https URL"}},
		{"broken TOML", minimal + "api_key = \"sk-1", []string{`c.toml:7:15: unterminated basic string`}},
		{"broken TOML below a misspelt key", "[agnet]\n= 1\n", []string{`c.toml:1:2: unknown key "agnet": did you mean "agent"?`, `c.toml:2:1: invalid character at start of key: U+003D '='`}},
		{"a number that is too large", "[agent]\nturn_depth = 99999999999999999999\n", []string{`c.toml:2:14: decimal number is too large to fit in a 64-bit signed integer`}},
		{"a table given twice", minimal + "[agent]\n", []string{`c.toml:7:2: table agent already exists`}},
		{"a byte that is no UTF-8", minimal + "api_key = '\xff'\n", []string{`c.toml:7:12: invalid UTF-8 character in literal string`}},
		{"a key given twice", minimal + "model = 'x'\n", []string{`c.toml:7:1: key model is already defined`}},
		{"too much text", strings.Repeat("#", 1<<20+1), []string{"c.toml: larger than 1 MiB"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("c.toml", []byte(tt.text), from(nil))
			require.EqualError(t, err, strings.Join(tt.want, "\n"))
		})
	}
}

func TestParseBoundsItsErrors(t *testing.T) {
	var b strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&b, "k%d = %s\n", i, strings.Repeat("1", 10))
	}
	_, err := Parse("c.toml", []byte(b.String()), from(nil))
	require.ErrorContains(t, err, "c.toml: further errors are not shown")
	require.Equal(t, 50, strings.Count(err.Error(), "\n"))

	_, err = Parse("c.toml", []byte("agent"+strings.Repeat(".x", 400_000)+" = 1"), from(nil))
	require.Less(t, len(err.Error()), 1000)
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(dir, from(nil))
	require.EqualError(t, err, dir+": is a directory: CONFIG_PATH must name one TOML file")

	path := filepath.Join(dir, "c.toml")
	_, err = Load(path, from(nil))
	require.ErrorIs(t, err, os.ErrNotExist)

	require.NoError(t, os.WriteFile(path, []byte(minimal), 0o600))
	f, err := Load(path, from(nil))
	require.NoError(t, err)
	require.Equal(t, "fake", f.Agent.LLM.Model)

	require.NoError(t, os.Truncate(path, 2<<20))
	_, err = Load(path, from(nil))
	require.EqualError(t, err, path+": larger than 1 MiB")
}

func TestSecretIsNeverShown(t *testing.T) {
	f, err := Parse("c.toml", []byte(minimal+"api_key = 'sk-1'"), from(nil))
	require.NoError(t, err)
	require.Equal(t, "sk-1", string(f.Agent.LLM.APIKey))
	var shown strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&shown, verb+verb, f, f.Agent.LLM.APIKey)
	}
	asJSON, err := json.Marshal(f)
	require.NoError(t, err)
	shown.Write(asJSON)
	slog.New(slog.NewTextHandler(&shown, nil)).Info("x", "file", f, "key", f.Agent.LLM.APIKey)
	slog.New(slog.NewJSONHandler(&shown, nil)).Info("x", "file", f, "key", f.Agent.LLM.APIKey)
	require.Contains(t, shown.String(), redacted)
	require.NotContains(t, shown.String(), "sk-1")
	require.NotContains(t, shown.String(), fmt.Sprintf("%x", "sk-1"))
	require.Empty(t, Secret("").String())
}

// However the text is broken, no error shows the key.
func TestParseErrorsNeverShowTheKey(t *testing.T) {
	const key = "sk-secret"
	text := minimal + "api_key = \"" + key + "\"\nbase_url = 'http://h'\n"
	for at := range len(text) {
		for _, put := range []string{"", "\"", "'", "\\", "=", "[", "{", "\n", "\x00", "\xff"} {
			broken := text[:at] + put + text[at+1:]
			if _, err := Parse("c.toml", []byte(broken), from(nil)); err != nil {
				require.NotContains(t, fmt.Sprintf("%v %+v", err, err), key[3:], "%q at %d", put, at)
			}
		}
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Settings)
		want   []string
	}{
		{"the defaults agree", func(*Settings) {}, nil},
		{"a first chunk window at the stream window", func(s *Settings) { s.Stream = 90 * time.Second }, []string{`agent "a": first chunk window (1m30s) is not below the stream window (1m30s): it can never fire`}},
		{"an inactivity window above the stream window", func(s *Settings) { s.Inactivity = time.Hour }, []string{`agent "a": inactivity window (1h0m0s) is not below the stream window (15m0s): it can never fire`}},
		{"windows that are off contradict nothing", func(s *Settings) { s.FirstChunk, s.Inactivity, s.Heartbeat = 0, 0, 0 }, nil},
		{"no stream window contradicts nothing", func(s *Settings) { s.Stream, s.Inactivity = 0, time.Hour }, nil},
		{"a heartbeat above the stream window", func(s *Settings) { s.Heartbeat = time.Hour }, []string{`agent "a": heartbeat interval (1h0m0s) is not below the stream window (15m0s): there is never a heartbeat`}},
		{"a heartbeat above the first chunk window", func(s *Settings) { s.Heartbeat = 2 * time.Minute }, []string{`agent "a": heartbeat interval (2m0s) is not below the first chunk window (1m30s): a slow first chunk is waited for in silence`}},
		{"no clock for the first chunk", func(s *Settings) { s.FirstChunk, s.Stream = 0, 0 }, []string{`agent "a": the first chunk and stream windows are off: a silent provider is waited for without end`}},
		{"no clock after the first chunk", func(s *Settings) { s.Stream = 0 }, []string{`agent "a": the inactivity and stream windows are off: a provider that falls silent is waited for without end`}},
		{"reasoning without events", func(s *Settings) { s.EmitReasoning = true }, []string{`agent "a": AURA_EMIT_REASONING has no effect without AURA_CUSTOM_EVENTS`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Defaults()
			tt.change(&s)
			require.Equal(t, tt.want, File{Agent: Agent{Name: "n", Alias: "a"}}.Warnings(s))
		})
	}
}

func TestWarningsOfConnecting(t *testing.T) {
	s, f := Defaults(), File{Agent: Agent{Name: "a"}, MCP: MCP{ConnectTimeout: 10 * time.Second, Servers: []MCPServer{{Name: "web"}}}}
	require.Empty(t, f.Warnings(s))
	s.Connect = 15 * time.Minute
	const want = `agent "a": connect window of MCP servers (15m0s) is not below the stream window (15m0s): it can never fire`
	require.Equal(t, []string{want}, f.Warnings(s))
	s.Connect, f.MCP.ConnectTimeout = 0, 15*time.Minute
	require.Equal(t, []string{want}, f.Warnings(s))
	f.MCP.Servers = nil
	require.Empty(t, f.Warnings(s), "there is nothing to connect to")
}

func TestWindowKeepsFractionsExact(t *testing.T) {
	for v, want := range map[string]time.Duration{"0.1": 100 * time.Millisecond, "0.3": 300 * time.Millisecond, "1e1": 10 * time.Second, "1.000000001": time.Second + 1, "-0": 0} {
		d := time.Duration(math.MaxInt64)
		require.Empty(t, window(&d)(v))
		require.Equal(t, want, d, v)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(minimal)
	f.Add("[agent]\nllm = { modl = 'm', provider = 1 }\n[[x.y]]\n[mcp.servers.\"a.b\"]\n")
	f.Add("agent.name='{{ env.A }}'\nagent.llm.provider=\"openai\"\nagent.llm.model=\"\"\"m\"\"\"")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("c.toml", []byte(text), from(map[string]string{"A": "{{ env.A }}"}))
		if err == nil {
			require.NotEmpty(t, file.Agent.Name)
			require.NotEmpty(t, file.Agent.LLM.Model)
		}
	})
}
