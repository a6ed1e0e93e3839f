package soak

import (
	"fmt"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// The workers of an orchestrated server, whose models have their names.
const (
	alpha, beta = "alpha", "beta"
	leader      = harness.CoordinatorModel
)

// together are the kinds of runs of a server whose agent is a coordinator. They all stream, so that a person can be asked.
func together() []kind {
	well := []string{completed}
	failed := []string{"provider_error"}
	leaves := []string{left, completed}
	answer := by(leader, deciding("respond_1", "respond_directly", map[string]any{"response": "all said", "routing_rationale": "it is known"}))
	delivers := func(worker string, before ...script.Step) script.Program {
		return by(worker, append(before, deciding("submit_1", "submit_result", map[string]any{"summary": "done", "result": "done", "confidence": "high"})...))
	}
	plan := func(r *run) script.Program {
		step := func(worker string) map[string]any {
			return map[string]any{"type": "task", "worker": worker, "task": "do what " + worker + " does [[sw:" + r.marker + "]]"}
		}
		steps := []any{map[string]any{"type": "parallel", "items": []any{step(alpha), step(beta)}}}
		return by(leader, deciding("plan_1", "create_plan", map[string]any{"goal": "an answer", "steps": steps, "routing_rationale": "it takes work", "planning_summary": "as it says"}))
	}
	words := script.Text{Chunks: []string{"one ", "two ", "three"}, Every: 20 * time.Millisecond}
	refuses := func(worker string) script.Program {
		p := by(worker, []script.Step{fault.Status{Code: 500}})
		p.Times = script.Any
		return p
	}
	return []kind{
		{"answers-directly", 10, well, func(r *run) {
			r.provider(answer)
			r.end(r.ask(true))
		}},
		{"plans", 14, well, func(r *run) {
			r.provider(plan(r), delivers(alpha, words), delivers(beta), answer)
			r.end(r.ask(true))
		}},
		{"workers-call-tools", 10, well, func(r *run) {
			r.provider(plan(r), by(alpha, calls(r.call(r.dice.IntN(transports))).Steps), by(beta, calls(r.call(r.dice.IntN(transports))).Steps),
				delivers(alpha), delivers(beta), answer)
			r.end(r.ask(true))
		}},
		{"worker-fails", 6, well, func(r *run) {
			r.provider(plan(r), refuses(alpha), delivers(beta), answer)
			r.end(r.ask(true))
		}},
		{"worker-falls-silent", 6, well, func(r *run) {
			r.provider(plan(r), by(alpha, []script.Step{words, fault.Stall{}}), delivers(beta), answer)
			r.end(r.ask(true))
		}},
		{"worker-tool-never-answers", 4, well, func(r *run) {
			n := r.dice.IntN(transports)
			r.tool(n, script.Await{Gate: script.Never})
			r.provider(plan(r), by(alpha, calls(r.call(n)).Steps), delivers(beta), answer)
			r.end(r.ask(true))
		}},
		{"all-workers-fail", 5, failed, func(r *run) {
			r.provider(plan(r), refuses(alpha), refuses(beta))
			r.end(r.ask(true))
		}},
		{"plans-nothing", 5, failed, func(r *run) {
			empty := by(leader, deciding("plan_1", "create_plan", map[string]any{"goal": "an answer", "steps": []any{}, "routing_rationale": "none", "planning_summary": "none"}))
			empty.Times = script.Any
			r.provider(empty)
			r.end(r.ask(true))
		}},
		{"coordinator-is-silent", 3, []string{"first_chunk_timeout"}, func(r *run) {
			r.provider(stalls(script.Headers{}))
			r.end(r.ask(true))
		}},
		{"person-approves", 6, well, func(r *run) {
			r.provider(plan(r), by(alpha, calls(r.book()).Steps), delivers(alpha), delivers(beta), answer)
			q := r.ask(true)
			r.decide(r.dice.IntN(2) > 0)
			r.end(q)
		}},
		{"left-with-a-person-asked", 6, leaves, func(r *run) {
			r.provider(plan(r), by(alpha, calls(r.book()).Steps), delivers(beta))
			r.leave(r.ask(true))
		}},
		{"left-at-work", 10, leaves, func(r *run) {
			n := r.dice.IntN(transports)
			r.tool(n, script.Await{Gate: script.Never})
			r.provider(plan(r), by(alpha, calls(r.call(n)).Steps), by(beta, []script.Step{words, fault.Stall{}}))
			r.leave(r.ask(true))
		}},
	}
}

// by are the steps of the next answer of a model.
func by(model string, steps []script.Step) script.Program {
	return script.Program{When: script.When{Model: model}, Steps: steps}
}

// deciding is an answer that calls one of the tools of coordinators and workers.
func deciding(id, tool string, arguments map[string]any) []script.Step {
	return calls(harness.PlainCall(id, tool, arguments)).Steps
}

// decide gives the decision that the run asks for, as somebody beside its client.
func (r *run) decide(approved bool) {
	e, ok := r.events.Await(patience, harness.Asked.Chosen())
	if !ok {
		r.late = true
		return
	}
	person := caller.Caller{Dial: r.client.Dial, Address: r.client.Address, Timeline: r.events, Lane: harness.PersonLane}
	defer person.LeaveAll()
	r.end(person.Ask(caller.Ask{Path: "/v1/approvals/" + harness.DecisionID(e), Body: fmt.Sprintf(`{"approved":%t}`, approved)}))
}
