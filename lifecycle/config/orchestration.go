package config

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"time"
)

const (
	defaultPlanningCycles = 3
	defaultPlanRetries    = 3
	defaultToolsPerWorker = 10
	maxWorkers            = 64
	maxCycles             = 100 // of planning, and of attempts at a plan: each costs a call
	maxListedTools        = 1000
)

// Orchestration is the table [orchestration]: a coordinator plans, and workers carry the plan out. It is off unless Enabled, and zero in a
// file without it.
type Orchestration struct {
	Enabled             bool
	MaxPlanningCycles   int    // max_planning_cycles, plans of one run, 1 to 100, 3 when not given
	MaxPlanParseRetries int    // max_plan_parse_retries, attempts at one decision of the coordinator, 1 to 100, 3 when not given
	WorkerSystemPrompt  string // worker_system_prompt, of tasks that name no worker, and before every worker's preamble
	AllowDirectAnswers  bool   // allow_direct_answers, before any plan; true when not given
	AllowClarification  bool   // allow_clarification, true when not given
	ToolsInPlanning     string // tools_in_planning, what the coordinator is told of tools: summary (when not given), none or full
	MaxToolsPerWorker   int    // max_tools_per_worker, how many of each worker's tools it is told of, 1 to 1,000, 10 when not given
	Timeouts            OrchestrationTimeouts
	Workers             []OrchestrationWorker // by name
}

// OrchestrationTimeouts is the table [orchestration.timeouts]. Each is in whole seconds and off when 0 or not given.
type OrchestrationTimeouts struct {
	PerCall    time.Duration // per_call_timeout_secs, one call of the coordinator or of a worker
	Inactivity time.Duration // stream_inactivity_timeout_secs, between two items of such a call
}

// OrchestrationWorker is a table [orchestration.worker.NAME].
type OrchestrationWorker struct {
	Name        string
	Description string   // description, for the coordinator
	Preamble    string   // preamble, the worker's system prompt
	MCPFilter   []string // mcp_filter, globs of the tools it has; all when nil, none when empty
	TurnDepth   int      // turn_depth, that of [agent] when not given
	LLM         LLM      // llm, that of [agent.llm] when not given
}

// rawOrchestration has the types of the table [orchestration].
type rawOrchestration struct {
	Enabled             *bool   `toml:"enabled"`
	MaxPlanningCycles   *int64  `toml:"max_planning_cycles"`
	MaxPlanParseRetries *int64  `toml:"max_plan_parse_retries"`
	WorkerSystemPrompt  *string `toml:"worker_system_prompt"`
	AllowDirectAnswers  *bool   `toml:"allow_direct_answers"`
	AllowClarification  *bool   `toml:"allow_clarification"`
	ToolsInPlanning     *string `toml:"tools_in_planning"`
	MaxToolsPerWorker   *int64  `toml:"max_tools_per_worker"`
	Timeouts            struct {
		PerCall    *int64 `toml:"per_call_timeout_secs"`
		Inactivity *int64 `toml:"stream_inactivity_timeout_secs"`
	} `toml:"timeouts"`
	Worker map[string]rawWorker `toml:"worker"`
}

type rawWorker struct {
	Description *string  `toml:"description"`
	Preamble    *string  `toml:"preamble"`
	MCPFilter   []string `toml:"mcp_filter"`
	TurnDepth   *int64   `toml:"turn_depth"`
	LLM         *rawLLM  `toml:"llm"`
}

// orchestration checks the table. Its workers come in the order of their names.
func (d *document) orchestration(raw *rawOrchestration, agent *Agent) Orchestration {
	const table = "orchestration."
	if _, there := d.at["orchestration"]; !there {
		return Orchestration{}
	}
	o := Orchestration{
		Enabled:             given(raw.Enabled, false),
		MaxPlanningCycles:   d.number(table+"max_planning_cycles", raw.MaxPlanningCycles, defaultPlanningCycles, 1, maxCycles),
		MaxPlanParseRetries: d.number(table+"max_plan_parse_retries", raw.MaxPlanParseRetries, defaultPlanRetries, 1, maxCycles),
		WorkerSystemPrompt:  d.text(table+"worker_system_prompt", raw.WorkerSystemPrompt, "", nil),
		AllowDirectAnswers:  given(raw.AllowDirectAnswers, true),
		AllowClarification:  given(raw.AllowClarification, true),
		ToolsInPlanning:     d.text(table+"tools_in_planning", raw.ToolsInPlanning, "summary", among([]string{"summary", "none", "full"})),
		MaxToolsPerWorker:   d.number(table+"max_tools_per_worker", raw.MaxToolsPerWorker, defaultToolsPerWorker, 1, maxListedTools),
		Timeouts: OrchestrationTimeouts{
			PerCall:    d.seconds(table+"timeouts.per_call_timeout_secs", raw.Timeouts.PerCall, 0, 0),
			Inactivity: d.seconds(table+"timeouts.stream_inactivity_timeout_secs", raw.Timeouts.Inactivity, 0, 0),
		},
	}
	names := slices.Sorted(maps.Keys(raw.Worker))
	if len(names) > maxWorkers {
		d.fail(d.at["orchestration.worker"], "orchestration.worker: %d workers, want at most %d", len(names), maxWorkers)
		return o
	}
	for _, name := range names {
		if name == "" {
			d.fail(d.at["orchestration.worker"], "orchestration.worker: a worker needs a name")
			continue
		}
		w := raw.Worker[name]
		o.Workers = append(o.Workers, d.worker(name, &w, agent))
	}
	if o.Enabled && len(o.Workers) == 0 {
		d.fail(d.at["orchestration"], "orchestration.worker is missing: an orchestrated agent needs a worker, as [orchestration.worker.NAME]")
	}
	return o
}

func (d *document) worker(name string, raw *rawWorker, agent *Agent) OrchestrationWorker {
	table := "orchestration.worker." + name
	w := OrchestrationWorker{
		Name:        name,
		Description: d.under(table, "description", raw.Description, required, notEmpty),
		Preamble:    d.under(table, "preamble", raw.Preamble, required, notEmpty),
		MCPFilter:   raw.MCPFilter,
		TurnDepth:   d.number(table+".turn_depth", raw.TurnDepth, agent.TurnDepth, 1, maxTurnDepth),
		LLM:         agent.LLM,
	}
	for _, glob := range raw.MCPFilter {
		if _, err := path.Match(glob, ""); err != nil {
			d.fail(d.at[table+".mcp_filter"], "%s.mcp_filter: %s is no pattern", table, quote(glob))
		}
	}
	if raw.LLM != nil {
		w.LLM = d.llm(table+".llm", raw.LLM)
	}
	return w
}

// llm checks the table of a provider. What is missing is told where the table stands.
func (d *document) llm(table string, l *rawLLM) LLM {
	return LLM{
		Provider: d.under(table, "provider", l.Provider, required, among(providers)),
		Model:    d.under(table, "model", l.Model, required, notEmpty),
		APIKey:   Secret(d.under(table, "api_key", l.APIKey, "", headerSafe)),
		BaseURL:  d.under(table, "base_url", l.BaseURL, defaultBaseURL(l.Provider), baseURL),
	}
}

func given(b *bool, otherwise bool) bool {
	if b == nil {
		return otherwise
	}
	return *b
}

// Within are the timeouts with those of the environment in their place.
func (t OrchestrationTimeouts) Within(w Windows) OrchestrationTimeouts {
	return OrchestrationTimeouts{PerCall: cmp.Or(w.PerCall, t.PerCall), Inactivity: cmp.Or(w.TaskInactivity, t.Inactivity)}
}

// warnings are the contradictions between the windows of an orchestrated agent.
func (o Orchestration) warnings(s Settings, warn func(format string, args ...any)) {
	if !o.Enabled {
		return
	}
	t := o.Timeouts.Within(s.Windows)
	if t.PerCall > 0 && s.Stream > 0 && t.PerCall >= s.Stream {
		warn("orchestration per-call window (%v) is not below the stream window (%v): it can never fire", t.PerCall, s.Stream)
	}
	if t.PerCall > 0 && t.Inactivity >= t.PerCall {
		warn("orchestration inactivity window (%v) is not below the per-call window (%v): it can never fire", t.Inactivity, t.PerCall)
	}
	if t.PerCall == 0 && t.Inactivity == 0 {
		warn("the orchestration per-call and inactivity windows are off: one silent worker holds its run until the stream window is over")
	}
	if s.Inactivity > 0 && s.Inactivity <= t.Inactivity {
		warn("inactivity window (%v) is not above the orchestration inactivity window (%v): a silent worker ends the whole run, not its task", s.Inactivity, t.Inactivity)
	}
	if s.Inactivity > 0 && t.Inactivity == 0 {
		warn("inactivity window (%v) is on and that of orchestration is off: a silent worker, or its tool, ends the whole run", s.Inactivity)
	}
}
