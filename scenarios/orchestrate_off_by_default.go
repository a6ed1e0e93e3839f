package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestrateOffByDefault: nobody gives a silent worker or coordinator up who was not told to.
func orchestrateOffByDefault() harness.Scenario {
	const id = "orchestrate.off-by-default"
	spoken := []script.Step{script.Role{}, script.Text{Chunks: []string{"so "}}}
	leaves := func(model string) harness.Check {
		return givesUp(id, "leaves-the-provider", model, 1, clientAsk, streamWindow)
	}
	play := func(programs func(*harness.Trial) []script.Program) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(programs(t)...)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	return harness.Scenario{
		ID:       "orchestrate/off-by-default",
		Claim:    "without windows of its own an orchestrated run waits for a silent coordinator or worker until the stream window is over",
		Needs:    orchestrated(),
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "coordinator", Set: harness.Set{Orchestrated: true}, Checks: []harness.Check{requests(id, leader, 1), leaves(leader)},
				Play: play(func(*harness.Trial) []script.Program { return []script.Program{by(leader, silent(spoken...))} })},
			{Name: "worker", Set: harness.Set{Orchestrated: true}, Checks: []harness.Check{requests(id, leader, 1), requests(id, alpha, 1), leaves(alpha)},
				Play: play(func(t *harness.Trial) []script.Program {
					return []script.Program{plans(task(t, alpha)), by(alpha, silent(spoken...))}
				})},
		},
		Reached: []expect.Event{providerStall},
		Checks: []harness.Check{namesClock(id, "stream_timeout"),
			{Name: "at-the-window", Guarantee: id, Noun: "error-frame", Needs: []harness.Feature{harness.ErrorFrames}, Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: clientError, After: clientAsk, From: at.Stream, To: at.Stream}
			}}},
	}
}
