package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestrateCancelReachesWorkers: a run that ends takes all its workers with it.
func orchestrateCancelReachesWorkers() harness.Scenario {
	const id = "orchestrate.cancel-reaches-workers"
	var variants []harness.Variant
	for _, e := range slices.Concat(leavings(), cappings(), []callEnding{draining()}) {
		over := harness.HTTPTools
		variants = append(variants, harness.Variant{
			Name: e.name, Set: harness.Set{Orchestrated: true, Tools: over}, Needs: e.needs,
			Checks: []harness.Check{e.cancels(id, over),
				{Name: "leaves-the-talking-worker", Guarantee: id, Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
					return inExchange{model: beta, n: 1, what: providerLeft, after: e.over, from: e.window(at), to: e.window(at) + soon(at)}
				}},
				requests(id, alpha, 1), requests(id, beta, 1), requests(id, leader, 1),
			},
			Play: func(t *harness.Trial) { e.end(t, inWave(t, e.whole)) },
		})
	}
	return harness.Scenario{
		ID:       "orchestrate/cancel-reaches-workers",
		Claim:    "when an orchestrated run ends early, the model request of one worker and the tool call of another end with it, and the tasks behind them never begin",
		Needs:    []harness.Feature{harness.Orchestration},
		Alone:    true,
		Dialects: chat()[:1],
		Variants: variants,
		Reached:  []expect.Event{providerStall, toolRequest},
	}
}

// inWave has one worker call a tool that never answers and another fall silent, with a task behind them, and returns when both are so far.
func inWave(t *harness.Trial, whole bool) *caller.Request {
	later := delivers(beta, "late") // asked for by a server that begins the next task all the same
	later.Times = script.Any
	t.Script(plans(sideBySide(task(t, alpha), task(t, beta)), task(t, beta)),
		by(alpha, calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))),
		by(beta, silent(script.Role{}, script.Text{Chunks: []string{"so "}})), later)
	t.Tools(toolOf("lookup", forever, "late"))
	r := t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: !whole})
	t.Await(toolRequest)
	t.Await(providerStall)
	return r
}
