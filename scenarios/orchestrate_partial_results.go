package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestratePartialResults: what was found is not thrown away because something else was not.
func orchestratePartialResults() harness.Scenario {
	const id = "orchestrate.partial-results"
	variant := func(name string, loses func(*harness.Trial) []script.Program) harness.Variant {
		return harness.Variant{Name: name, Set: stalled(), Play: func(t *harness.Trial) {
			programs := append([]script.Program{plans(sideBySide(task(t, alpha), task(t, beta))), delivers(beta, "rain")}, loses(t)...)
			t.Script(append(programs, responds("rain it is"))...)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}}
	}
	refused := by(alpha, script.Program{Steps: []script.Step{fault.Status{Code: 500}}})
	talks := by(alpha, proper(script.Role{}, script.Text{Chunks: []string{"no idea"}}))
	return harness.Scenario{
		ID:       "orchestrate/partial-results",
		Claim:    "when some tasks of a plan fail, the coordinator is told the results of the others and the run ends well",
		Needs:    orchestrated(),
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			variant("stalled", func(*harness.Trial) []script.Program {
				return []script.Program{by(alpha, silent(script.Role{}, script.Text{Chunks: []string{"so "}}))}
			}),
			variant("refused", func(*harness.Trial) []script.Program { return []script.Program{refused} }),
			variant("cut", func(*harness.Trial) []script.Program {
				return []script.Program{by(alpha, script.Program{Steps: []script.Step{script.Text{Chunks: []string{"so "}}, fault.Cut{}}})}
			}),
			// A worker that hands nothing in may be asked again.
			variant("without-a-result", func(*harness.Trial) []script.Program {
				talks.Times = script.Any
				return []script.Program{talks}
			}),
			{Name: "in-the-way-of-another", Set: stalled(), Play: func(t *harness.Trial) {
				chain := planStep{Type: "chain", Steps: []planStep{task(t, alpha), task(t, alpha)}}
				t.Script(plans(sideBySide(chain, task(t, beta))), refused, delivers(beta, "rain"), responds("rain it is"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}, Checks: []harness.Check{requests(id, alpha, 1)}},
			// Who needs a result of those that there are is given it.
			{Name: "beside-a-chain", Set: stalled(), Checks: []harness.Check{tellsCoordinator(id, "gives-the-result-to-who-needs-it", "umbrella")}, Play: func(t *harness.Trial) {
				chain := planStep{Type: "chain", Steps: []planStep{task(t, beta), task(t, beta)}}
				told, untold := delivers(beta, "umbrella"), delivers(beta, "nothing")
				told.When.Contains, told.Times, untold.Times = "rain", script.Any, script.Any
				t.Script(plans(sideBySide(task(t, alpha), chain)), refused, told, delivers(beta, "rain"), untold, responds("rain it is"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}},
		},
		Reached: []expect.Event{asked(alpha), asked(beta)},
		Checks:  append(isWhole(id, "rain it is"), tellsCoordinator(id, "tells-the-result", "rain"), tellsCoordinator(id, "tells-the-failure", "Failed")),
	}
}
