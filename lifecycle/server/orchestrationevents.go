package server

import (
	"cmp"
	"encoding/json"

	"github.com/stallwright/stallwright/lifecycle/run"
)

// The events of an orchestrated run, with AURA's fields.

const coordinator = "coordinator" // the agent that all of them are of

// lead is what every event of an orchestrated run ends with.
type lead struct {
	AgentID   string `json:"agent_id"`
	SessionID string `json:"session_id"`
}

type planCreated struct {
	Goal      string   `json:"goal"`
	Tasks     []string `json:"tasks"`
	Mode      string   `json:"routing_mode"` // routed, of a plan with one task, or orchestrated
	Rationale string   `json:"routing_rationale"`
	Planning  string   `json:"planning_response,omitempty"`
	lead
}

type directAnswer struct {
	Response  string `json:"response"`
	Rationale string `json:"routing_rationale"`
	lead
}

type clarificationNeeded struct {
	Question  string   `json:"question"`
	Options   []string `json:"options,omitempty"`
	Rationale string   `json:"routing_rationale"`
	lead
}

type taskStarted struct {
	Description  string `json:"description"`
	Task         int    `json:"task_id"`
	Orchestrator string `json:"orchestrator_id"`
	Worker       string `json:"worker_id"` // the orchestrator's of a task that is nobody's in particular
	lead
}

type taskCompleted struct {
	Task         int    `json:"task_id"`
	Orchestrator string `json:"orchestrator_id"`
	Worker       string `json:"worker_id"`
	Success      bool   `json:"success"`
	Duration     int64  `json:"duration_ms"`
	Result       string `json:"result,omitempty"`
	lead
}

type iterationComplete struct {
	Iteration   int    `json:"iteration"`
	WillReplan  bool   `json:"will_replan"`
	Reasoning   string `json:"reasoning,omitempty"`
	Planning    int64  `json:"planning_ms"`
	Execution   int64  `json:"execution_ms"`
	TaskCompute int64  `json:"task_compute_ms"`
	Tools       int64  `json:"tool_ms"`
	lead
}

type replanStarted struct {
	Iteration int    `json:"iteration"`
	Trigger   string `json:"trigger"`
	lead
}

type synthesizing struct {
	Iteration int `json:"iteration"`
	lead
}

type workerReasoning struct {
	Task    int    `json:"task_id"`
	Worker  string `json:"worker_id"`
	Content string `json:"content"`
	lead
}

// workerThought is the same once more, for clients that know single agents only.
type workerThought struct {
	Content   string `json:"content"`
	AgentID   string `json:"agent_id"`
	AgentName string `json:"agent_name"`
	ParentID  string `json:"parent_agent_id"`
	SessionID string `json:"session_id"`
}

type workerToolStarted struct {
	Task      int             `json:"task_id"`
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"tool_name"`
	Worker    string          `json:"worker_id"`
	Arguments json.RawMessage `json:"arguments"`
	lead
}

type workerToolCompleted struct {
	Task     int    `json:"task_id"`
	ID       string `json:"tool_call_id"`
	Success  bool   `json:"success"`
	Duration int64  `json:"duration_ms"`
	Result   string `json:"result,omitempty"`
	lead
}

// agentID is the agent that a run's own events are of.
func (s *Server) agentID() string {
	if s.orchestrator != nil {
		return coordinator
	}
	return "main"
}

// orchestrated writes what an orchestrated run tells of itself.
func (o *stream) orchestrated(e run.Event) {
	l, id := lead{coordinator, o.session}, o.x.run.ID()
	tell := func(name string, value any) { o.custom("aura.orchestrator."+name, value) }
	switch e := e.(type) {
	case run.PlanCreated:
		mode := "orchestrated"
		if len(e.Tasks) == 1 {
			mode = "routed"
		}
		tell("plan_created", planCreated{e.Goal, e.Tasks, mode, e.Rationale, e.Summary, l})
	case run.DirectAnswer:
		tell("direct_answer", directAnswer{e.Response, e.Rationale, l})
	case run.ClarificationNeeded:
		tell("clarification_needed", clarificationNeeded{e.Question, e.Options, e.Rationale, l})
	case run.TaskStarted:
		tell("task_started", taskStarted{e.Description, e.ID, id, cmp.Or(e.Worker, id), l})
	case run.TaskCompleted:
		tell("task_completed", taskCompleted{e.ID, id, cmp.Or(e.Worker, id), e.Success, e.Duration.Milliseconds(), e.Result, l})
	case run.Synthesizing:
		tell("synthesizing", synthesizing{e.Iteration, l})
	case run.IterationCompleted:
		tell("iteration_complete", iterationComplete{e.Iteration, e.WillReplan, e.Reasoning,
			e.Planning.Milliseconds(), e.Execution.Milliseconds(), e.Tasks.Milliseconds(), e.Tools.Milliseconds(), l})
	case run.ReplanStarted:
		tell("replan_started", replanStarted{e.Iteration, e.Trigger, l})
	case run.WorkerReasoning:
		if o.x.server.settings.EmitReasoning {
			worker := cmp.Or(e.Worker, id)
			tell("worker_reasoning", workerReasoning{e.ID, worker, e.Content, l})
			o.custom("aura.reasoning", workerThought{e.Content, worker, worker, coordinator, o.session})
		}
	case run.WorkerToolStarted:
		tell("tool_call_started", workerToolStarted{e.Task.ID, e.ID, e.Name, cmp.Or(e.Worker, id), e.Arguments, l})
	case run.WorkerToolCompleted:
		tell("tool_call_completed", workerToolCompleted{e.Task.ID, e.ID, e.Success, e.Duration.Milliseconds(), e.Result, l})
	case run.WorkerToolProgress:
		worker := cmp.Or(e.Worker, id)
		o.custom("aura.progress", progressOf(e.ToolProgress, tail{worker, worker, o.session}))
	}
}
