package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// inactivitySparesTools: while a tool works, nobody expects the model to speak.
func inactivitySparesTools() harness.Scenario {
	const guarantee = "inactivity.spares-tools"
	// Off the windows and off the heartbeats.
	long := func(w harness.Windows) time.Duration { return 2*w.Inactivity + w.Heartbeat*2/7 }
	play := func(script func(takes time.Duration) mcp.Script, calls ...string) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(asks(t, callEach(t, calls...)...)...)
			t.Tools(script(long(t.Windows)))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	set := harness.Set{Inactivity: true, Tools: harness.HTTPTools}
	checks := func(last string) []harness.Check {
		return []harness.Check{
			{Name: "not-cancelled", Guarantee: guarantee, Noun: "tool-cancelled", Expect: shows(expect.Never{What: toolCancelled})},
			{Name: "tells-the-model", Guarantee: guarantee, Noun: "tool-result", Expect: shows(tellsOf{toldModel, "call_" + last, "rain"})},
		}
	}
	// In real time two such tools would not fit into the stream window.
	twice := func(takes time.Duration) mcp.Script {
		s := toolOf("lookup", takes*4/7, "sun")
		s.Tools = append(s.Tools, toolOf("book", takes*4/7, "rain").Tools...)
		return s
	}
	telling := func(takes time.Duration) mcp.Script {
		s := toolOf("lookup", takes, "rain")
		s.Tools[0].Progress = mcp.Progress{Count: 3, Every: takes / 4, Text: "so far"}
		return s
	}
	return harness.Scenario{
		ID:    "inactivity/spares-tools",
		Claim: "a tool that works for more than two inactivity windows is waited for, silent or not, and the run ends well",
		Needs: []harness.Feature{harness.Streaming},
		Variants: slices.Concat(overTransports(harness.Variant{Name: "silent", Set: set, Checks: checks("lookup"), Play: play(func(takes time.Duration) mcp.Script {
			return toolOf("lookup", takes, "rain")
		}, "lookup")}), []harness.Variant{
			{Name: "telling-progress", Set: set, Checks: checks("lookup"), Reached: []expect.Event{toolProgress}, Play: play(telling, "lookup")},
			{Name: "one-after-the-other", Set: set, Checks: checks("book"), Play: play(twice, "lookup", "book")},
		}),
		Reached: []expect.Event{runsTool("lookup")},
		Checks:  isWhole(guarantee, "done"),
	}
}
