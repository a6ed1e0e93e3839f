package server

import (
	"net/http"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/orchestration"
)

// coordinatorDepth is how many turns the coordinator has for one decision: AURA's.
const coordinatorDepth = 6

// newOrchestrator makes the coordinator and the workers of an orchestrated agent, whose own agent the coordinator is. It is nil for others.
func newOrchestrator(c Config, transport *http.Transport, own *agent.Agent) *orchestration.Orchestrator {
	f := c.File.Orchestration
	if !f.Enabled {
		return nil
	}
	t := f.Timeouts.Within(c.Settings.Windows)
	o := &orchestration.Orchestrator{
		Coordinator:     *own,
		Generic:         orchestration.Worker{Agent: *own},
		Timeouts:        orchestration.Timeouts{PerCall: t.PerCall, Inactivity: t.Inactivity},
		MaxCycles:       f.MaxPlanningCycles,
		Attempts:        f.MaxPlanParseRetries,
		NoDirectAnswer:  !f.AllowDirectAnswers,
		NoClarification: !f.AllowClarification,

		ToolsInPlanning: f.ToolsInPlanning, MaxToolsPerWorker: f.MaxToolsPerWorker,
	}
	o.Coordinator.TurnDepth = coordinatorDepth
	o.Generic.Agent.SystemPrompt = f.WorkerSystemPrompt
	for _, w := range f.Workers {
		o.Workers = append(o.Workers, newWorker(w, f.WorkerSystemPrompt, transport, own))
	}
	return o
}

func newWorker(w config.OrchestrationWorker, prompt string, transport *http.Transport, own *agent.Agent) orchestration.Worker {
	a := *own
	a.Client, a.Provider, a.Model = newModel(w.LLM, transport), providerName(w.LLM.Provider), w.LLM.Model
	a.TurnDepth = w.TurnDepth
	a.SystemPrompt = w.Preamble
	if prompt != "" {
		a.SystemPrompt = prompt + "\n\n" + w.Preamble
	}
	return orchestration.Worker{Name: w.Name, Description: w.Description, Agent: a, Filter: w.MCPFilter}
}
