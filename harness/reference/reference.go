// Package reference is the built-in target: the agent server in lifecycle.
package reference

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/dialects"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/server"
)

// Package is the import path below which the code under test lies.
const Package = "github.com/stallwright/stallwright/lifecycle/"

// Target is the reference server, in this process or, when executable is not empty, as `EXECUTABLE serve`.
func Target(executable string) harness.Target { return Executing(executable, "") }

// Executing is the reference with another way of executing the tool calls of one turn. Only the usual way claims to be sequential.
func Executing(executable, execution string) harness.Target {
	t := harness.Target{
		Name: "reference", Features: harness.Features(), Start: start,
		Dialects: []string{harness.OpenAI, "responses", "anthropic", "gemini", "ollama"}, Flavours: dialects.Flavours(),
	}
	if execution != "" && execution != "sequential" {
		t.Execution = execution
		t.Features = slices.DeleteFunc(t.Features, func(f harness.Feature) bool { return f == harness.SequentialTools })
	}
	if executable != "" {
		t.Command = func(s harness.Setup) harness.Command { return command(executable, s) }
	}
	return t
}

// agentFile is the server's config with the fake's address in it.
func agentFile(s harness.Setup) string {
	dialect, base := s.Dialect, s.Provider
	provider := cmp.Or(dialects.Base(dialect), config.OpenAI)
	host := strings.TrimSuffix(base, "/v1")
	switch dialect {
	case "responses":
		provider = config.OpenAIResponses
	case "anthropic", "ollama":
		base = host
	case "gemini":
		base = host + "/v1beta"
	}
	if provider != dialect && provider == config.OpenAI && dialect != "" {
		base = host + "/" + dialect + "/v1"
	}
	text := "[agent]\nname = \"reference\"\nsystem_prompt = \"You are the server under test.\"\n"
	if s.Execution != "" {
		text += fmt.Sprintf("tool_execution = %q\n", s.Execution)
	}
	text += fmt.Sprintf("\n[agent.llm]\nprovider = %q\nmodel = %q\napi_key = \"not-a-key\"\nbase_url = %q\n", provider, harness.CoordinatorModel, base)
	for _, t := range s.Tools {
		text += toolServer(t)
	}
	return text + approvals(s) + orchestration(s.Workers, provider, base)
}

// forwarded are the client's headers that go on to MCP servers over HTTP.
const forwarded = `headers_from_request = { Authorization = "authorization", X-Account = "x-account" }`

// toolServer is the table of one MCP server.
func toolServer(t harness.ToolServer) string {
	table := "mcp.servers." + t.Name
	if t.Transport == harness.StdioTools {
		command := t.Command
		if command == nil { // in this process the pipe stands for it
			command = []string{t.Name}
		}
		words := make([]string, len(command))
		for i, w := range command {
			words[i] = fmt.Sprintf("%q", w)
		}
		return fmt.Sprintf("\n[%s]\ntransport = \"stdio\"\ncmd = [%s]\nprotocol_version = %q\n", table, strings.Join(words, ", "), t.Transport.Revision())
	}
	transport := "http_streamable"
	if t.Transport == harness.SSETools {
		transport = "sse"
	}
	return fmt.Sprintf("\n[%s]\ntransport = %q\nurl = %q\nprotocol_version = %q\n%s\n", table, transport, t.URL, t.Transport.Revision(), forwarded)
}

// environment is what the server is told beside its config.
func environment(s harness.Setup) map[string]string {
	w := s.Windows
	env := map[string]string{
		"FIRST_CHUNK_TIMEOUT_SECS":       w.FirstChunk.String(),
		"STREAM_INACTIVITY_TIMEOUT_SECS": w.Inactivity.String(),
		"STREAMING_TIMEOUT_SECS":         w.Stream.String(),
		"HEARTBEAT_SECS":                 w.Heartbeat.String(),
		"SHUTDOWN_TIMEOUT_SECS":          w.Shutdown.String(),
		"SHUTDOWN_STRAGGLER_SECS":        w.Straggler.String(),
		"SHUTDOWN_ABORT_SECS":            w.Abort.String(),
		"MCP_CLEANUP_SECS":               w.Cleanup.String(),
		"MCP_CONNECT_SECS":               w.Connect.String(),
		"HITL_TIMEOUT_SECS":              w.Approval.String(),
		"LAST_WRITE_SECS":                w.LastWrite.String(),
		"TELEMETRY_FLUSH_SECS":           w.Flush.String(),
		"STREAMING_BUFFER_SIZE":          "16",
		"AURA_CUSTOM_EVENTS":             "true",
		"AURA_EMIT_REASONING":            "true",
	}
	if s.Collector != "" {
		env["OTEL_EXPORTER_OTLP_ENDPOINT"] = s.Collector
	}
	if s.Signed {
		env["AURA_HITL_WEBHOOK_SECRET"] = harness.ApprovalSecret
	}
	maps.Copy(env, orchestrationWindows(w))
	return env
}

func start(s harness.Setup) (harness.Server, error) {
	env := environment(s)
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	settings, err := config.FromEnv(lookup)
	if err != nil {
		return nil, err
	}
	file, err := config.Parse("reference.toml", []byte(agentFile(s)), lookup)
	if err != nil {
		return nil, err
	}
	srv, err := server.New(server.Config{
		Settings: settings, File: file, Dial: s.Dial, Pipe: s.Pipe, Hooks: Hooks(),
		Log: slog.New(slog.NewJSONHandler(s.Log, nil)), Version: "test",
	})
	if err != nil {
		return nil, err
	}
	r := &running{server: srv, done: make(chan struct{})}
	go func() { // ends at the second signal at the latest
		defer close(r.done)
		r.exit = srv.Serve(s.Listener)
	}()
	return r, nil
}

type running struct {
	server *server.Server
	done   chan struct{}
	exit   server.Exit
}

func (r *running) Signal(name string)    { r.server.Signal(name) }
func (r *running) Done() <-chan struct{} { return r.done }
func (r *running) Exit() int             { return Code(r.exit) }

// Code is the exit code of a server that ended so: 0 when no run had to be aborted.
func Code(e server.Exit) int {
	if e.Clean {
		return 0
	}
	return 1
}

// Hooks are the faults that the reference commits when a prompt asks for them: [[fault:panic]] panics in the run,
// [[fault:deaf 8s]] holds the run for so long whatever is cancelled, and those of calls that wait for approval.
func Hooks() server.Hooks {
	return server.Hooks{Approval: waiting, Turn: func(_ context.Context, prompt string) {
		_, rest, ok := strings.Cut(prompt, "[[fault:")
		if !ok {
			return
		}
		fault, _, _ := strings.Cut(rest, "]]")
		switch name, arg, _ := strings.Cut(fault, " "); name {
		case "panic":
			panic("a fault hook")
		case "deaf":
			if d, err := time.ParseDuration(arg); err == nil {
				time.Sleep(d)
			}
		}
	}}
}

// command starts the reference as a child.
func command(executable string, s harness.Setup) harness.Command {
	c := harness.Command{
		Args:  []string{executable, "serve", "--config", "agent.toml", "--fault-hooks"},
		Files: map[string]string{"agent.toml": agentFile(s)},
		Env:   []string{"HOST=127.0.0.1", "PORT=0"},
		Ready: listening,
	}
	for k, v := range environment(s) {
		c.Env = append(c.Env, k+"="+v)
	}
	return c
}

// listening finds the address in the log line that says the server listens.
func listening(line string) string {
	_, addr, ok := strings.Cut(harness.LogLine(line), "listening addr=")
	if !ok {
		return ""
	}
	addr, _, _ = strings.Cut(addr, " ")
	return addr
}
