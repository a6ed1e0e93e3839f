package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestrateCoordinatorStallBounded: a silent coordinator is asked again, but not for ever.
func orchestrateCoordinatorStallBounded() harness.Scenario {
	const id = "orchestrate.coordinator-stall-bounded"
	dumb := by(leader, silent(script.Role{}, script.Text{Chunks: []string{"let me "}}))
	dumb.Times = harness.PlanAttempts
	once := dumb
	once.Times = 1
	// Each attempt begins when the one before is given up, a window after its text.
	lasts := func(name, model string, first int) []harness.Check {
		var checks []harness.Check
		for n := range harness.PlanAttempts {
			checks = append(checks, givesUp(id, name+[]string{"-first", "-second"}[n], model, first+n, providerStall, taskInactivity))
		}
		return checks
	}
	ask := func(stream bool, programs func(*harness.Trial) []script.Program) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(programs(t)...)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	planning := func(*harness.Trial) []script.Program { return []script.Program{dumb} }
	failed := append(lasts("leaves-the", leader, 1),
		requests(id, leader, harness.PlanAttempts),
		harness.Check{Name: "fails-visibly", Guarantee: id, Noun: "error-frame", Needs: []harness.Feature{harness.ErrorFrames}, Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: clientError, After: nth(providerStall, harness.PlanAttempts), From: at.TaskInactivity, To: at.TaskInactivity}
		}},
		harness.Check{Name: "is-no-success", Guarantee: id, Noun: "finish", Expect: shows(expect.Never{What: clientFinish})})
	return harness.Scenario{
		ID:       "orchestrate/coordinator-stall-bounded",
		Claim:    "a coordinator that falls silent is asked again as often as is configured, and then the run fails, or ends with the results that are there",
		Needs:    []harness.Feature{harness.Orchestration},
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "planning", Set: stalled(), Needs: []harness.Feature{harness.Streaming}, Checks: failed, Play: ask(true, planning)},
			{Name: "planning-whole", Set: stalled(), Needs: []harness.Feature{harness.NonStreaming}, Checks: failed, Play: ask(false, planning)},
			{Name: "planning-once", Set: stalled(), Needs: []harness.Feature{harness.Streaming}, Checks: append(isWhole(id, "at last"), requests(id, leader, 2)),
				Play: ask(true, func(*harness.Trial) []script.Program { return []script.Program{once, responds("at last")} })},
			{Name: "after-a-wave", Set: stalled(), Needs: []harness.Feature{harness.Streaming},
				Checks: append(append(lasts("leaves-the", leader, 2), survives(id)...), requests(id, leader, 1+harness.PlanAttempts),
					harness.Check{Name: "gives-the-results", Guarantee: id, Noun: "answer", Expect: shows(answerHolds("rain in Oslo"))}),
				Play: ask(true, func(t *harness.Trial) []script.Program {
					return []script.Program{plans(task(t, alpha)), delivers(alpha, "rain in Oslo"), dumb}
				})},
		},
		Reached: []expect.Event{providerStall},
	}
}
