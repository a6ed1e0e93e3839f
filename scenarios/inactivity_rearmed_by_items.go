package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// inactivityRearmedByItems: every item starts the window anew, so that an answer far longer than it arrives whole.
func inactivityRearmedByItems() harness.Scenario {
	const guarantee = "inactivity.rearmed-by-items"
	play := func(answer func(gap time.Duration) []script.Program) func(*harness.Trial) {
		return func(t *harness.Trial) {
			programs := answer(t.Windows.Inactivity - t.Stage.Tick)
			lead := script.Pause{For: t.Windows.Inactivity / 7}
			programs[0].Steps = append([]script.Step{lead}, programs[0].Steps...)
			t.Script(programs...)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	set := harness.Set{Inactivity: true}
	return harness.Scenario{
		ID:    "inactivity/rearmed-by-items",
		Claim: "a model whose items come a tick inside the inactivity window is not given up, however many windows its answer lasts",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "text", Set: set, Checks: isWhole(guarantee, "one two three four five"), Play: play(func(gap time.Duration) []script.Program {
				return []script.Program{proper(script.Role{}, script.Text{Chunks: []string{"one ", "two ", "three ", "four ", "five"}, Every: gap})}
			})},
			{Name: "reasoning", Set: set, Checks: isWhole(guarantee, "so"), Play: play(func(gap time.Duration) []script.Program {
				return []script.Program{proper(
					script.Role{}, script.Think{Chunks: []string{"if ", "and ", "but ", "then "}, Every: gap}, script.Pause{For: gap}, script.Text{Chunks: []string{"so"}})}
			})},
			{Name: "arguments", Dialects: inPieces(), Set: set, Reached: []expect.Event{saying(providerTool, "NO")}, Checks: survives(guarantee), Play: play(func(gap time.Duration) []script.Program {
				call := script.Tool{ID: "call_1", Name: "lookup", Args: []string{`{"city":`, `"Oslo",`, `"land":`, `"NO"}`}, Every: gap}
				return []script.Program{calling(call), turns()}
			})},
			{Name: "items-of-each-kind", Dialects: inPieces(), Set: set, Reached: []expect.Event{saying(providerTool, "Oslo")}, Checks: survives(guarantee), Play: play(func(gap time.Duration) []script.Program {
				pause := script.Pause{For: gap}
				call := script.Tool{ID: "call_1", Name: "lookup", Args: []string{`{"city":"Oslo"}`}, Every: gap}
				return []script.Program{
					calling(script.Role{}, script.Think{Chunks: []string{"well, "}}, pause, script.Text{Chunks: []string{"one "}}, pause, call, pause), turns()}
			})},
			// A server may take the answer for ended at either of the two, or wait for the terminator.
			{Name: "finish-and-usage", Dialects: usageLast(), Set: set, Reached: []expect.Event{providerFinish}, Checks: isWhole(guarantee, "one"), Play: play(func(gap time.Duration) []script.Program {
				pause := script.Pause{For: gap}
				return []script.Program{{Steps: []script.Step{
					script.Role{}, script.Text{Chunks: []string{"one"}}, pause, script.Finish{Reason: "stop"}, pause, script.Usage{Prompt: 9, Completion: 1}, pause,
					script.Done{}, script.End{}}}}
			})},
		},
	}
}
