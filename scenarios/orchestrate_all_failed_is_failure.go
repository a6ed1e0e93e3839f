package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestrateAllFailedIsFailure: of nothing there is nothing to make an answer of.
func orchestrateAllFailedIsFailure() harness.Scenario {
	const id = "orchestrate.all-failed-is-failure"
	checks := []harness.Check{
		{Name: "fails-visibly", Guarantee: id, Noun: "error-frame", Needs: []harness.Feature{harness.ErrorFrames}, Expect: shows(expect.Times{What: clientError, Min: 1, Max: 1})},
		{Name: "is-no-success", Guarantee: id, Noun: "finish", Expect: shows(expect.Never{What: clientFinish})},
		{Name: "has-no-text", Guarantee: id, Noun: "answer", Expect: shows(expect.Never{What: clientText})},
	}
	variant := func(name string, stream bool, loses func(worker string) script.Program) harness.Variant {
		v := harness.Variant{Name: name, Set: stalled(), Needs: []harness.Feature{harness.Streaming}, Checks: checks, Play: func(t *harness.Trial) {
			// A server that asks the coordinator all the same is told the user's answer.
			anyhow := responds("it is done")
			anyhow.Times = script.Any
			t.Script(plans(sideBySide(task(t, alpha), task(t, beta))), loses(alpha), loses(beta), anyhow)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}}
		if !stream {
			v.Needs = []harness.Feature{harness.NonStreaming}
		}
		return v
	}
	stalls := func(worker string) script.Program {
		return by(worker, silent(script.Role{}, script.Text{Chunks: []string{"so "}}))
	}
	refuses := func(worker string) script.Program {
		return by(worker, script.Program{Steps: []script.Step{fault.Status{Code: 500}}})
	}
	talks := func(worker string) script.Program {
		p := by(worker, proper(script.Role{}, script.Text{Chunks: []string{"no idea"}}))
		p.Times = script.Any
		return p
	}
	return harness.Scenario{
		ID:       "orchestrate/all-failed-is-failure",
		Claim:    "a run all of whose tasks failed ends as failed, and the client can see it",
		Needs:    []harness.Feature{harness.Orchestration},
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			variant("stalled", true, stalls), variant("refused", true, refuses), variant("without-results", true, talks), variant("refused-whole", false, refuses),
		},
		Reached: []expect.Event{asked(alpha), asked(beta)},
	}
}
