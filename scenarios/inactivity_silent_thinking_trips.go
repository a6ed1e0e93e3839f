package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// inactivitySilentThinkingTrips: Chat Completions streams nothing while a model thinks, and nothing tells that from a
// dead stream.
func inactivitySilentThinkingTrips() harness.Scenario {
	const guarantee = "inactivity.silent-thinking-trips"
	thinking := func(answer func(thought time.Duration) script.Program) func(*harness.Trial) {
		return func(t *harness.Trial) {
			p := answer(t.Windows.Inactivity * 16 / 7)
			lead := script.Pause{For: t.Windows.Inactivity / 7}
			p.Steps = append([]script.Step{lead}, p.Steps...)
			t.Script(p, turns())
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			t.Await(providerLeft)
		}
	}
	set := harness.Set{Inactivity: true}
	late := script.Text{Chunks: []string{"late"}}
	return harness.Scenario{
		ID:    "inactivity/silent-thinking-trips",
		Claim: "a model that thinks in silence after its first output is given up when the inactivity window is over, whatever it would have said",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "before-text", Set: set, Play: thinking(func(thought time.Duration) script.Program {
				return proper(script.Role{}, script.Text{Chunks: []string{"let me see. "}}, fault.Stall{For: thought}, late)
			})},
			{Name: "before-a-tool-call", Set: set, Play: thinking(func(thought time.Duration) script.Program {
				call := script.Tool{ID: "call_1", Name: "lookup", Args: []string{`{"city":"Oslo"}`}}
				return calling(script.Role{}, script.Text{Chunks: []string{"let me see. "}}, fault.Stall{For: thought}, call)
			})},
			{Name: "after-visible-thinking", Set: set, Play: thinking(func(thought time.Duration) script.Program {
				return proper(script.Role{}, script.Think{Chunks: []string{"well, ", "perhaps "}}, fault.Stall{For: thought}, late)
			})},
		},
		Checks: append(endsAt(guarantee, providerStall, inactivityWindow), dropsLate(guarantee)),
	}
}
