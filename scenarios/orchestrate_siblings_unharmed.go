package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestrateSiblingsUnharmed: one silent worker is nobody else's affair.
func orchestrateSiblingsUnharmed() harness.Scenario {
	const id = "orchestrate.siblings-unharmed"
	long := script.Text{Chunks: onAndOn(5)} // twice the window, from the first piece to the last
	slowly := func(w harness.Windows) script.Text {
		long.Every = w.TaskInactivity * 4 / 7
		return long
	}
	both := func(t *harness.Trial, programs ...script.Program) {
		t.Script(append(programs, plans(sideBySide(task(t, alpha), task(t, beta))), by(alpha, silent(script.Role{}, script.Text{Chunks: []string{"so "}})), responds("rain it is"))...)
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
	}
	tools := stalled()
	tools.Tools = harness.HTTPTools
	return harness.Scenario{
		ID:       "orchestrate/siblings-unharmed",
		Claim:    "the workers beside a stalled one begin with it, go on when it is given up, and end in their own time",
		Needs:    orchestrated(),
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "in-text", Set: stalled(), Play: func(t *harness.Trial) { both(t, delivers(beta, "rain", slowly(t.Windows))) }},
			{Name: "in-a-tool", Set: tools, Reached: []expect.Event{toolResult}, Checks: []harness.Check{
				{Name: "keeps-its-call", Guarantee: id, Noun: "tool-cancelled", Expect: shows(expect.Never{What: toolCancelled})},
			}, Play: func(t *harness.Trial) {
				t.Tools(toolOf("lookup", 2*t.Windows.TaskInactivity+t.Windows.Heartbeat/7, "rain"))
				both(t, by(beta, calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))), delivers(beta, "rain"))
			}},
		},
		Reached: []expect.Event{providerStall},
		Checks: append(isWhole(id, "rain it is"),
			harness.Check{Name: "is-not-left", Guarantee: id, Noun: "provider-connection", Expect: shows(neverLeft{beta})},
			harness.Check{Name: "begins-with-it", Guarantee: id, Noun: "late-start", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: asked(beta), After: clientAsk, To: at.Once}
			}},
			tellsCoordinator(id, "tells-the-result", "rain")),
	}
}
