package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseOrchestration(t *testing.T) {
	f, err := Parse("c.toml", []byte(minimal+`
[orchestration]
enabled = true
max_planning_cycles = 2
max_plan_parse_retries = 4
worker_system_prompt = "Be {{ env.MOOD }}."
allow_direct_answers = false
tools_in_planning = "full"
max_tools_per_worker = 7
[orchestration.timeouts]
per_call_timeout_secs = 20
stream_inactivity_timeout_secs = 5
[orchestration.worker.beta]
description = "Worker beta"
preamble = "You are worker beta."
mcp_filter = []
[orchestration.worker.alpha]
description = "Worker alpha"
preamble = "You are worker alpha."
mcp_filter = ["get_*", "list"]
turn_depth = 9
[orchestration.worker.alpha.llm]
provider = "ollama"
model = "small"
`), from(map[string]string{"MOOD": "brief"}))
	require.NoError(t, err)
	require.Equal(t, Orchestration{
		Enabled: true, MaxPlanningCycles: 2, MaxPlanParseRetries: 4, WorkerSystemPrompt: "Be brief.", AllowClarification: true,
		ToolsInPlanning: "full", MaxToolsPerWorker: 7, Timeouts: OrchestrationTimeouts{PerCall: 20 * time.Second, Inactivity: 5 * time.Second},
		Workers: []OrchestrationWorker{
			{Name: "alpha", Description: "Worker alpha", Preamble: "You are worker alpha.", MCPFilter: []string{"get_*", "list"}, TurnDepth: 9,
				LLM: LLM{Provider: Ollama, Model: "small", BaseURL: "http://127.0.0.1:11434"}},
			{Name: "beta", Description: "Worker beta", Preamble: "You are worker beta.", MCPFilter: []string{}, TurnDepth: f.Agent.TurnDepth, LLM: f.Agent.LLM},
		},
	}, f.Orchestration)
}

func TestOrchestrationHasDefaultsAndNoWindows(t *testing.T) {
	f, err := Parse("c.toml", []byte(minimal+"[orchestration]\n"), from(nil))
	require.NoError(t, err)
	require.Equal(t, Orchestration{
		MaxPlanningCycles: 3, MaxPlanParseRetries: 3, AllowDirectAnswers: true, AllowClarification: true, ToolsInPlanning: "summary", MaxToolsPerWorker: 10,
	}, f.Orchestration)
}

func TestParseOrchestrationErrors(t *testing.T) {
	const worker = "[orchestration.worker.a]\ndescription = 'd'\npreamble = 'p'\n"
	for _, tt := range []struct{ name, text, want string }{
		{"an unknown timeout", "[orchestration.timeouts]\nper_call_timeout = 1\n", `c.toml:8:1: unknown key "orchestration.timeouts.per_call_timeout": did you mean "orchestration.timeouts.per_call_timeout_secs"?`},
		{"an unknown key of a worker", worker + "tools = ['x']\n", `c.toml:10:1: unknown key "orchestration.worker.a.tools": [orchestration.worker.a] has description, llm, mcp_filter, preamble, turn_depth`},
		{"a worker without its preamble", "[orchestration.worker.a]\ndescription = 'd'\n", "c.toml:7:23: orchestration.worker.a.preamble is missing"},
		{"an agent without workers", "[orchestration]\nenabled = true\n", "c.toml:7:2: orchestration.worker is missing: an orchestrated agent needs a worker, as [orchestration.worker.NAME]"},
		{"a worker without a name", "[orchestration.worker.\"\"]\ndescription = 'd'\npreamble = 'p'\n", "c.toml:7:16: orchestration.worker: a worker needs a name"},
		{"a glob that is none", worker + "mcp_filter = ['[']\n", `c.toml:10:1: orchestration.worker.a.mcp_filter: "[" is no pattern`},
		{"no attempts", "[orchestration]\nmax_plan_parse_retries = 0\n", "c.toml:8:1: orchestration.max_plan_parse_retries: 0 is not from 1 to 100"},
		{"a window that is no number", "[orchestration.timeouts]\nper_call_timeout_secs = '1s'\n", "c.toml:8:1: orchestration.timeouts.per_call_timeout_secs is a string, want an integer"},
		{"a negative window", "[orchestration.timeouts]\nper_call_timeout_secs = -1\n", "c.toml:8:1: orchestration.timeouts.per_call_timeout_secs: -1 is not from 0 to 2592000"},
		{"what is seen of tools", "[orchestration]\ntools_in_planning = 'all'\n", `c.toml:8:1: orchestration.tools_in_planning: "all": want one of summary, none, full`},
		{"a provider of a worker's own without its model", worker + "[orchestration.worker.a.llm]\nprovider = 'openai'\n", "c.toml:10:25: orchestration.worker.a.llm.model is missing"},
		{"guards that this version has not", "[orchestration]\nduplicate_call_block_threshold = 5\n", "c.toml:8:1: [orchestration.duplicate_call_block_threshold] is not supported by this version"},
		{"a worker's stores", worker + "vector_stores = ['x']\n", "c.toml:10:1: [orchestration.worker.a.vector_stores] is not supported by this version"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("c.toml", []byte(minimal+tt.text), from(nil))
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestWarningsOfOrchestration(t *testing.T) {
	const off = `agent "a": the orchestration per-call and inactivity windows are off: one silent worker holds its run until the stream window is over`
	for _, tt := range []struct {
		name                          string
		perCall, inactivity, server   time.Duration
		perCallInstead, windowInstead time.Duration // of the environment
		want                          []string
	}{
		{name: "windows in their order", perCall: time.Minute, inactivity: 20 * time.Second, server: 30 * time.Second},
		{name: "none at all", want: []string{off}},
		{name: "the environment's count", perCallInstead: time.Minute, windowInstead: 20 * time.Second, server: 30 * time.Second},
		{name: "a call as long as the run", perCall: 15 * time.Minute, want: []string{`agent "a": orchestration per-call window (15m0s) is not below the stream window (15m0s): it can never fire`}},
		{name: "an inactivity window as long as the call", perCall: time.Minute, inactivity: time.Minute,
			want: []string{`agent "a": orchestration inactivity window (1m0s) is not below the per-call window (1m0s): it can never fire`}},
		{name: "an outer window that is not above the inner", perCall: time.Minute, inactivity: 30 * time.Second, server: 30 * time.Second,
			want: []string{`agent "a": inactivity window (30s) is not above the orchestration inactivity window (30s): a silent worker ends the whole run, not its task`}},
		{name: "an outer window without an inner", perCall: time.Minute, server: 30 * time.Second,
			want: []string{`agent "a": inactivity window (30s) is on and that of orchestration is off: a silent worker, or its tool, ends the whole run`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Defaults()
			s.Inactivity, s.PerCall, s.TaskInactivity = tt.server, tt.perCallInstead, tt.windowInstead
			f := File{Agent: Agent{Name: "a"}, Orchestration: Orchestration{Enabled: true, Timeouts: OrchestrationTimeouts{PerCall: tt.perCall, Inactivity: tt.inactivity}}}
			require.Equal(t, tt.want, f.Warnings(s))
			f.Orchestration.Enabled = false
			require.Empty(t, f.Warnings(s))
		})
	}
}
