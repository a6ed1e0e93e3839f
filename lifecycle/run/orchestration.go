package run

import (
	"encoding/json"
	"time"
)

// The events of an orchestrated run. Its coordinator's reasoning and its final text are [Reasoning] and [Text].

// PlanCreated is a plan of the coordinator that is about to be carried out.
type PlanCreated struct {
	Goal      string
	Tasks     []string // what each is to do, by id
	Rationale string
	Summary   string // of the planning, may be empty
}

// DirectAnswer is an answer that the coordinator gives itself.
type DirectAnswer struct{ Response, Rationale string }

// ClarificationNeeded is a question that the coordinator has for the user.
type ClarificationNeeded struct {
	Question  string
	Options   []string // may be empty
	Rationale string
}

// Task is one task of a plan, as its events name it.
type Task struct {
	ID     int    // in its plan, from 0
	Worker string // empty when it is nobody's in particular
}

// TaskStarted says that a worker begins.
type TaskStarted struct {
	Task
	Description string
}

// TaskCompleted says that a task has ended.
type TaskCompleted struct {
	Task
	Success  bool
	Duration time.Duration
	Result   string // or why it failed
}

// Synthesizing says that the coordinator is asked what the results come to.
type Synthesizing struct{ Iteration int }

// IterationCompleted says what became of a plan, from 1.
type IterationCompleted struct {
	Iteration           int
	WillReplan          bool
	Reasoning           string // may be empty
	Planning, Execution time.Duration
	Tasks, Tools        time.Duration // summed over the tasks, and over the tools in them
}

// ReplanStarted says that another plan is carried out.
type ReplanStarted struct {
	Iteration int
	Trigger   string
}

// WorkerReasoning is a piece of a worker's visible thinking.
type WorkerReasoning struct {
	Task
	Content string
}

// WorkerToolStarted says that a worker calls a tool.
type WorkerToolStarted struct {
	Task
	ID, Name  string // the id is unique in the run
	Arguments json.RawMessage
}

// WorkerToolCompleted is the result of such a call.
type WorkerToolCompleted struct {
	Task
	ID       string
	Success  bool
	Duration time.Duration
	Result   string // or what went wrong
}

// WorkerToolProgress is what a worker's tool tells of its progress.
type WorkerToolProgress struct {
	Task
	ToolProgress
}

func (e PlanCreated) event()         {}
func (e DirectAnswer) event()        {}
func (e ClarificationNeeded) event() {}
func (e TaskStarted) event()         {}
func (e TaskCompleted) event()       {}
func (e Synthesizing) event()        {}
func (e IterationCompleted) event()  {}
func (e ReplanStarted) event()       {}
func (e WorkerReasoning) event()     {}
func (e WorkerToolStarted) event()   {}
func (e WorkerToolCompleted) event() {}
func (e WorkerToolProgress) event()  {}
