package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// inactivityVisibleThinkingDoesNot: a model that streams its reasoning may think for many windows.
func inactivityVisibleThinkingDoesNot() harness.Scenario {
	const guarantee = "inactivity.visible-thinking-does-not"
	thinking := func(answer func(thought script.Think, gap time.Duration) script.Program) func(*harness.Trial) {
		return func(t *harness.Trial) {
			gap := t.Windows.Inactivity - t.Stage.Tick
			p := answer(script.Think{Chunks: []string{"first, ", "second, ", "third, ", "last, "}, Every: gap}, gap)
			lead := script.Pause{For: t.Windows.Inactivity / 7}
			p.Steps = append([]script.Step{lead, script.Role{}}, p.Steps...)
			t.Script(p, turns())
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	set := harness.Set{Inactivity: true}
	return harness.Scenario{
		ID:      "inactivity/visible-thinking-does-not",
		Claim:   "a model whose reasoning comes a tick inside the inactivity window is not given up, however many windows it thinks",
		Needs:   []harness.Feature{harness.Streaming},
		Reached: []expect.Event{saying(providerThink, "last")},
		Variants: []harness.Variant{
			{Name: "before-text", Set: set, Checks: isWhole(guarantee, "so"), Play: thinking(func(thought script.Think, gap time.Duration) script.Program {
				return proper(thought, script.Pause{For: gap}, script.Text{Chunks: []string{"so"}})
			})},
			{Name: "between-texts", Set: set, Checks: isWhole(guarantee, "one two"), Play: thinking(func(thought script.Think, gap time.Duration) script.Program {
				return proper(script.Text{Chunks: []string{"one "}}, thought, script.Pause{For: gap}, script.Text{Chunks: []string{"two"}})
			})},
			{Name: "before-a-tool-call", Set: set, Checks: survives(guarantee), Play: thinking(func(thought script.Think, gap time.Duration) script.Program {
				return calling(thought, script.Pause{For: gap}, script.Tool{ID: "call_1", Name: "lookup", Args: []string{`{"city":"Oslo"}`}})
			})},
		},
	}
}
