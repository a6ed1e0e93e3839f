package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// inactivityOffByDefault: with the default settings a long pause between two outputs is no failure.
func inactivityOffByDefault() harness.Scenario {
	const guarantee = "inactivity.off-by-default"
	pausing := func(answer func(pause time.Duration) script.Program) func(*harness.Trial) {
		return func(t *harness.Trial) {
			// Above the first-chunk window too, which is above any usual inactivity window.
			t.Script(answer(t.Windows.FirstChunk*10/7), turns())
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	two := script.Text{Chunks: []string{"two"}}
	return harness.Scenario{
		ID:    "inactivity/off-by-default",
		Claim: "with no inactivity window set, a model that pauses after its first output for longer than the first-chunk window is waited for",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "in-text", Checks: isWhole(guarantee, "one two"), Play: pausing(func(pause time.Duration) script.Program {
				return proper(script.Role{}, script.Text{Chunks: []string{"one "}}, fault.Stall{For: pause}, two)
			})},
			{Name: "in-reasoning", Checks: isWhole(guarantee, "two"), Play: pausing(func(pause time.Duration) script.Program {
				return proper(script.Role{}, script.Think{Chunks: []string{"well, "}}, fault.Stall{For: pause}, two)
			})},
			{Name: "in-arguments", Dialects: inPieces(), Reached: []expect.Event{saying(providerTool, "Oslo")}, Checks: survives(guarantee), Play: pausing(func(pause time.Duration) script.Program {
				return calling(script.Tool{ID: "call_1", Name: "lookup", Args: []string{`{"city":"Oslo"}`}, Every: pause})
			})},
		},
	}
}
