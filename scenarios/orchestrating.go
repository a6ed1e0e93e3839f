package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// What scenarios about coordinators and workers share. Workers are told apart by their models, whose names are theirs.

const (
	alpha, beta = "alpha", "beta"
	leader      = harness.CoordinatorModel
)

// planStep is a step of a plan, as AURA has them.
type planStep struct {
	Type   string     `json:"type"`
	Task   string     `json:"task,omitempty"`
	Worker string     `json:"worker,omitempty"`
	Steps  []planStep `json:"steps,omitempty"`
	Items  []planStep `json:"items,omitempty"`
}

// task is a step for one worker, which leads the worker's requests to the trial's script.
func task(t *harness.Trial, worker string) planStep {
	return planStep{Type: "task", Task: t.Marked("do what " + worker + " does"), Worker: worker}
}

func sideBySide(items ...planStep) planStep { return planStep{Type: "parallel", Items: items} }

// createsPlan is the call with which a coordinator makes a plan.
func createsPlan(id string, steps ...planStep) script.Tool {
	if steps == nil {
		steps = []planStep{}
	}
	return harness.PlainCall(id, "create_plan", map[string]any{"goal": "an answer", "steps": steps, "routing_rationale": "it takes work", "planning_summary": "as it says"})
}

// by is a program for the next request to this model.
func by(model string, p script.Program) script.Program {
	p.When.Model = model
	return p
}

// plans is a coordinator that makes a plan.
func plans(steps ...planStep) script.Program {
	return by(leader, calling(script.Role{}, createsPlan("plan_1", steps...)))
}

// responds is one that gives the final answer.
func responds(text string) script.Program {
	return by(leader, calling(script.Role{}, harness.PlainCall("respond_1", "respond_directly", map[string]any{"response": text, "routing_rationale": "it is known"})))
}

// submits is the call with which a worker hands in its result.
func submits(text string) script.Tool {
	return harness.PlainCall("submit_1", "submit_result", map[string]any{"summary": "it is done", "result": text, "confidence": "high"})
}

// delivers is a worker that does these steps and hands in its result.
func delivers(worker, text string, before ...script.Step) script.Program {
	return by(worker, calling(append(append([]script.Step{script.Role{}}, before...), submits(text))...))
}

// asked are the requests to a model.
func asked(model string) expect.Event { return saying(providerRequest, "model="+model+" ") }

// toldPlan is what the coordinator is told of its first plan.
func toldPlan() expect.Event { return saying(toldModel, "plan_1 ") }

// inExchange expects something in the n-th exchange with a model, from 1, between two instants after another event of it, or of any other
// lane, or after its request when that is zero. Servers may close the connections of other exchanges whenever they are done with them.
type inExchange struct {
	model    string
	n        int
	what     expect.Event
	after    expect.Event
	from, to time.Duration
}

// Judge is that of [expect.Happens]; it is inconclusive when there was no such exchange.
func (x inExchange) Judge(h expect.History) expect.Judgement {
	e, ok := h.Find(nth(asked(x.model), x.n))
	if !ok {
		return missed(x, asked(x.model).String())
	}
	after := nth(asked(x.model), x.n)
	if x.after != (expect.Event{}) {
		after = x.after
	}
	if after.Lane == harness.ProviderLane {
		after.Ref, after.Nth = e.Ref, 0
	}
	return expect.Happens{What: of(x.what, e.Ref), After: after, From: x.from, To: x.to}.Judge(h)
}

func (x inExchange) String() string {
	return fmt.Sprintf("%s of request %d to %s, %s to %s after its %s", x.what, x.n, x.model, x.from, x.to, x.after)
}

// neverLeft expects no exchange with a model to be left before its answer is done.
type neverLeft struct{ model string }

// Judge fails as forbidden, and is inconclusive when there was no exchange.
func (x neverLeft) Judge(h expect.History) expect.Judgement {
	judged := missed(x, asked(x.model).String())
	for _, e := range h.Events {
		if !asked(x.model).Fits(e) {
			continue
		}
		left := expect.Never{What: of(providerLeft, e.Ref)}
		if done, ok := h.Find(of(providerDone, e.Ref)); ok {
			left.Before = of(providerDone, done.Ref)
		}
		if judged = left.Judge(h); judged.Evidence.Because != nil {
			return judged
		}
	}
	return judged
}

func (x neverLeft) String() string {
	return "no request to " + x.model + " left before its answer is done"
}

// requests is the check that a model is asked so often.
func requests(guarantee, model string, n int) harness.Check {
	return harness.Check{Name: "asks-" + model, Guarantee: guarantee, Noun: "request-to-" + model, Expect: shows(expect.Times{What: asked(model), Min: n, Max: n})}
}

// tellsCoordinator is the check that the coordinator is told this of its plan.
func tellsCoordinator(guarantee, name, text string) harness.Check {
	return harness.Check{Name: name, Guarantee: guarantee, Noun: "told-result", Expect: shows(tellsOf{toldModel, "plan_1", text})}
}

// givesUp is the check that the n-th exchange with a model is left a window after the anchor.
func givesUp(guarantee, name, model string, n int, after expect.Event, window func(harness.At) time.Duration) harness.Check {
	return harness.Check{Name: name, Guarantee: guarantee, Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
		return inExchange{model: model, n: n, what: providerLeft, after: after, from: window(at), to: window(at)}
	}}
}

func taskInactivity(at harness.At) time.Duration { return at.TaskInactivity }

func perCall(at harness.At) time.Duration { return at.PerCall }

// orchestratorEvent is an event of that name.
func orchestratorEvent(name string, parts ...string) expect.Event {
	return saying(clientEvent, "aura.orchestrator."+name+" "+strings.Join(parts, ""))
}

// orchestrated says what scenarios about orchestration need.
func orchestrated() []harness.Feature {
	return []harness.Feature{harness.Streaming, harness.Orchestration}
}

// stalled is the set of a server whose workers and coordinator have an inactivity window.
func stalled() harness.Set { return harness.Set{Orchestrated: true, TaskInactivity: true} }

// answerHolds expects this text somewhere in what the client reads, in whatever pieces it comes.
type answerHolds string

// Judge fails as a value.
func (x answerHolds) Judge(h expect.History) expect.Judgement {
	var b strings.Builder
	last := timeline.Event{At: h.End}
	for _, e := range h.Events {
		if clientText.Fits(e) {
			b.WriteString(e.Detail)
			last = e
		}
	}
	return found(strings.Contains(b.String(), string(x)), last, x.String(), fmt.Sprintf("%.120q", b.String()))
}

func (x answerHolds) String() string { return fmt.Sprintf("an answer with %q in it", string(x)) }
