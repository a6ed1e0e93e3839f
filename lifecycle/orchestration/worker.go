package orchestration

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
	"github.com/stallwright/stallwright/lifecycle/telemetry"
)

// submitResult is the tool with which a worker hands in what it has found.
const submitResult = "submit_result"

const resultSchema = `{"type":"object","properties":{"summary":{"type":"string"},"result":{"type":"string"},"confidence":{"type":"string","enum":["high","medium","low"]}},"required":["summary","result","confidence"]}`

const (
	workerAttempts   = 2 // at handing in a result
	workerCorrection = "[SYSTEM CORRECTION] You did not call the submit_result tool. Call it now with your result."
)

// carryOut plays a plan wave by wave: the tasks that need nothing unfinished go side by side, and the next wave begins when all of them
// have ended. No task begins once the run is over.
func (p *play) carryOut(ctx context.Context, plan *plan) error {
	created := run.PlanCreated{Goal: plan.Goal, Rationale: plan.Rationale, Summary: plan.Summary}
	for _, t := range plan.tasks {
		created.Tasks = append(created.Tasks, t.text)
	}
	if err := p.run.Emit(ctx, created); err != nil {
		return err
	}
	for {
		wave := plan.wave()
		if len(wave) == 0 {
			return context.Cause(ctx)
		}
		for _, t := range wave {
			if err := p.run.Emit(ctx, run.TaskStarted{Task: t.named(), Description: t.text}); err != nil {
				return err
			}
		}
		if err := p.together(ctx, wave); err != nil {
			return err
		}
	}
}

// together plays the tasks of a wave and waits for all. A panic of one ends the others, and is the run's.
func (p *play) together(ctx context.Context, wave []*task) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	panics := make([]any, len(wave))
	errs := make([]error, len(wave))
	for i, t := range wave {
		all.Go(func() {
			defer func() {
				if panics[i] = recover(); panics[i] != nil {
					cancel(&Failure{Kind: AgentError, Code: run.InternalError, Reason: "a worker panicked"})
				}
			}()
			errs[i] = p.work(ctx, t)
		})
	}
	all.Wait()
	for _, cause := range panics {
		if cause != nil {
			panic(cause)
		}
	}
	return firstOf(errs)
}

func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// work plays one task to its end. Its failure is the task's; the error is why the run is over.
func (p *play) work(ctx context.Context, t *task) error {
	began := time.Now()
	watched, span := telemetry.Task(ctx, strconv.Itoa(t.id), t.worker.Name)
	ending := run.Ending{How: run.Failed, Code: run.InternalError} // a panic's
	defer func() { span.End(ending) }()
	t.result, t.failure = p.attempts(watched, t)
	ending = t.ending(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t.ended, t.took = true, time.Since(began)
	done := run.TaskCompleted{Task: t.named(), Success: t.failure == nil, Duration: t.took, Result: t.result}
	if t.failure != nil {
		done.Result = t.failure.Error()
	}
	return p.run.Emit(ctx, done)
}

// ending is how a task ended, for telemetry: with its run, or by itself.
func (t *task) ending(ctx context.Context) run.Ending {
	switch {
	case ctx.Err() != nil:
		return agent.Ending(context.Cause(ctx))
	case t.failure != nil:
		return run.Ending{How: run.Failed, Code: run.Code(t.failure.Kind)}
	}
	return run.Ending{How: run.Completed}
}

// attempts has a worker do a task, once more when it hands nothing in.
func (p *play) attempts(ctx context.Context, t *task) (string, *Failure) {
	conversation := []llm.Message{{Role: "user", Content: t.prompt()}}
	for range workerAttempts {
		w := &working{task: t, tools: p.tools, list: t.worker.allowed(p.tools), tokens: &p.tokens}
		c := &call{run: p.run, show: w.show}
		bounded, end := p.o.Timeouts.begin(ctx, c)
		a := p.counted(t.worker.Agent)
		if p.o.Gate != nil {
			a.Gate = p.o.Gate(t.named())
		}
		err := a.Answer(bounded, c, conversation, w)
		end()
		switch {
		case err != nil:
			return "", failureOf(err) // nil when the run is over
		case w.submitted:
			return w.result, nil
		}
		if said := c.said.String(); said != "" {
			conversation = append(conversation, llm.Message{Role: "assistant", Content: said})
		}
		conversation = append(conversation, llm.Message{Role: "user", Content: workerCorrection})
	}
	return "", &Failure{Kind: SoftFailure, Code: run.ProviderError, Reason: "the worker did not call submit_result"}
}

func (t *task) named() run.Task { return run.Task{ID: t.id, Worker: t.worker.Name} }

// prompt is the task behind the results of those that it needs.
func (t *task) prompt() string {
	var b strings.Builder
	for _, n := range t.needs {
		fmt.Fprintf(&b, "Result of task %d (%s):\n%s\n\n", n.id, n.text, n.result)
	}
	b.WriteString(t.text)
	return b.String()
}

// allowed are the tools that the worker has of the run's.
func (w *Worker) allowed(tools agent.Tools) []llm.Tool {
	if tools == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(tools.List()), func(t llm.Tool) bool {
		return t.Name == submitResult || w.Filter != nil && !slices.ContainsFunc(w.Filter, func(glob string) bool {
			fits, err := path.Match(glob, t.Name)
			return err == nil && fits
		})
	})
}

// working are the tools of one call of a worker: those of the run that it may use, and the one with which it hands in its result.
type working struct {
	task   *task
	tools  agent.Tools
	list   []llm.Tool
	tokens *atomic.Int64 // of the run: its workers share connections, on which a token must be one call's

	mu        sync.Mutex
	ids       map[string]string // of the model's calls, as the response names them
	submitted bool
	result    string
}

// List is what the worker may call.
func (w *working) List() []llm.Tool {
	submit := llm.Tool{Name: submitResult, Description: "Hand in the result of your task. Call it exactly once, at the end.", Schema: json.RawMessage(resultSchema)}
	return append(slices.Clip(w.list), submit)
}

// Decides is so of the tool that hands in.
func (w *working) Decides(name string) bool { return name == submitResult }

// Call takes the result, or has a tool called.
func (w *working) Call(ctx context.Context, c llm.ToolCall, _ int, progress func(run.ToolProgress)) (string, bool, error) {
	if c.Name == submitResult {
		content, ok := w.submit(c)
		return content, !ok, nil
	}
	began := time.Now()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.task.tools += time.Since(began)
	}()
	return w.tools.Call(ctx, c, int(w.tokens.Add(1)), progress)
}

func (w *working) submit(c llm.ToolCall) (string, bool) {
	var said struct{ Result string }
	if json.Unmarshal([]byte(c.Arguments), &said) != nil || strings.TrimSpace(said.Result) == "" {
		return "submit_result needs a result, as a string", false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.submitted, w.result = true, said.Result
	return "accepted", true
}

// show makes of a worker's event what the response tells of it: of its text, its usage and its result nothing.
func (w *working) show(e run.Event) run.Event {
	t := w.task.named()
	switch e := e.(type) {
	case run.Text, run.ToolStarted, run.ToolUsage:
		return nil
	case run.Reasoning:
		return run.WorkerReasoning{Task: t, Content: e.Content}
	case run.ToolRequested:
		if e.Name == submitResult {
			return nil
		}
		return run.WorkerToolStarted{Task: t, ID: w.name(e.ID, e.Name), Name: e.Name, Arguments: e.Arguments}
	case run.ToolProgress:
		return run.WorkerToolProgress{Task: t, ToolProgress: e}
	case run.ToolCompleted:
		if e.Name == submitResult {
			return nil
		}
		defer w.forget(e.ID)
		return run.WorkerToolCompleted{Task: t, ID: w.name(e.ID, e.Name), Success: !e.Failed, Duration: e.Duration, Result: e.Content}
	}
	return e
}

// forget lets a later call have the same id.
func (w *working) forget(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ids, id)
}

// name is what the response calls a call of the model's: models give the same ids to calls of different workers.
func (w *working) name(id, tool string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ids == nil {
		w.ids = map[string]string{}
	}
	if w.ids[id] == "" {
		w.ids[id] = fmt.Sprintf("task%d_%s_%d", w.task.id, tool, int(w.tokens.Add(1)))
	}
	return w.ids[id]
}
