package orchestration

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxTasks = 100 // of one plan: each is at least one call of a model
	maxDepth = 8   // of groups within groups: more is no plan that somebody meant
)

// step is a part of a plan as the coordinator writes it: a task, a chain of steps, or a group of steps side by side.
type step struct {
	Type   string `json:"type"`
	Task   string `json:"task"`
	Worker string `json:"worker"`
	Steps  []step `json:"steps"` // of a chain
	Items  []step `json:"items"` // of a parallel
}

// plan is what the coordinator wants done.
type plan struct {
	Goal      string          `json:"goal"`
	Steps     json.RawMessage `json:"steps"`
	Rationale string          `json:"routing_rationale"`
	Summary   string          `json:"planning_summary"`

	tasks []*task
}

// task is a task of a plan on its way.
type task struct {
	id     int
	text   string
	worker *Worker
	needs  []*task // that must have completed before

	started bool
	ended   bool
	result  string
	failure *Failure // nil when it completed
	took    time.Duration
	tools   time.Duration // of that
}

// readPlan makes tasks of what the coordinator wrote, or says what is wrong with it.
func (o *Orchestrator) readPlan(arguments string) (*plan, *Failure) {
	p := &plan{}
	if err := json.Unmarshal([]byte(arguments), p); err != nil {
		return nil, unreadable()
	}
	if strings.TrimSpace(p.Goal) == "" {
		return nil, malformed("the plan has no goal")
	}
	steps, f := readSteps(p.Steps)
	switch {
	case f != nil:
		return nil, f
	case len(steps) == 0:
		return nil, malformed("the plan has no steps")
	}
	if _, f := o.chain(p, steps, nil, 1); f != nil {
		return nil, f
	}
	return p, nil
}

// readSteps reads the steps of a plan, nil when there are none. What a step says beyond its keys, such as an order of its own, would go
// unheeded, so it is refused.
func readSteps(text json.RawMessage) (steps []step, f *Failure) {
	if len(text) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&steps)
	if err == nil {
		return steps, nil
	}
	// The package has no type for this error.
	if quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if key, err := strconv.Unquote(quoted); err == nil {
			return nil, malformed("steps have no key %.40q: what waits for what is said with chain and parallel", key)
		}
	}
	return nil, unreadable()
}

func unreadable() *Failure {
	return malformed("the plan cannot be read: steps are objects with type task, parallel or chain")
}

// chain adds steps that follow each other, the first after the given tasks, and returns those that the next step must wait for.
func (o *Orchestrator) chain(p *plan, steps []step, after []*task, depth int) ([]*task, *Failure) {
	for _, s := range steps {
		var f *Failure
		if after, f = o.step(p, s, after, depth); f != nil {
			return nil, f
		}
	}
	return after, nil
}

func (o *Orchestrator) step(p *plan, s step, after []*task, depth int) ([]*task, *Failure) {
	if depth > maxDepth {
		return nil, malformed("the plan is nested deeper than %d levels", maxDepth)
	}
	switch s.Type {
	case "task":
		return o.task(p, s, after)
	case "chain":
		if len(s.Steps) == 0 {
			return nil, malformed("a chain has no steps")
		}
		return o.chain(p, s.Steps, after, depth+1)
	case "parallel":
		if len(s.Items) == 0 {
			return nil, malformed("a parallel group has no items")
		}
		var last []*task
		for _, item := range s.Items {
			ends, f := o.step(p, item, after, depth+1)
			if f != nil {
				return nil, f
			}
			last = append(last, ends...)
		}
		return last, nil
	}
	return nil, malformed("there is no step of type %.40q: want task, parallel or chain", s.Type)
}

func (o *Orchestrator) task(p *plan, s step, after []*task) ([]*task, *Failure) {
	t := &task{id: len(p.tasks), text: s.Task, needs: after}
	switch {
	case strings.TrimSpace(s.Task) == "":
		return nil, malformed("task %d says nothing", t.id)
	case len(p.tasks) == maxTasks:
		return nil, malformed("the plan has more than %d tasks", maxTasks)
	case s.Worker == "":
		t.worker = &o.Generic
	default:
		at := slices.IndexFunc(o.Workers, func(w Worker) bool { return w.Name == s.Worker })
		if at < 0 {
			return nil, malformed("task %d: there is no worker %.40q", t.id, s.Worker)
		}
		t.worker = &o.Workers[at]
	}
	p.tasks = append(p.tasks, t)
	return []*task{t}, nil
}

// wave takes the tasks that can begin: all that they need has completed. A task that can never begin fails.
func (p *plan) wave() []*task {
	var ready []*task
	for _, t := range p.tasks { // what a task needs stands before it
		if t.started || t.ended {
			continue
		}
		switch lost := slices.IndexFunc(t.needs, func(n *task) bool { return n.failure != nil }); {
		case lost >= 0:
			t.ended, t.failure = true, &Failure{Kind: DependencyFailed, Reason: "task " + strconv.Itoa(t.needs[lost].id) + " failed"}
		case !slices.ContainsFunc(t.needs, func(n *task) bool { return !n.ended }):
			t.started = true
			ready = append(ready, t)
		}
	}
	return ready
}

// completed says whether any task did.
func (p *plan) completed() bool {
	return slices.ContainsFunc(p.tasks, func(t *task) bool { return t.ended && t.failure == nil })
}

// results are what became of the tasks, in words for the coordinator, and for the user when there is nothing better.
func (p *plan) results() string {
	var b strings.Builder
	for _, t := range p.tasks {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("## Task " + strconv.Itoa(t.id) + ": " + t.text + "\n\n")
		if t.failure != nil {
			b.WriteString("Failed: " + t.failure.Error())
		} else {
			b.WriteString(t.result)
		}
	}
	return b.String()
}
