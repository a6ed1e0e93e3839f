package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// inactivityRearmedAfterTool: once a tool has ended, the model has one whole window for its next word.
func inactivityRearmedAfterTool() harness.Scenario {
	const guarantee = "inactivity.rearmed-after-tool"
	ended := nth(toolResult, -1)
	variant := func(takes func(harness.Windows) time.Duration, next func(*harness.Trial) script.Program) harness.Variant {
		return harness.Variant{Set: harness.Set{Inactivity: true, Tools: harness.HTTPTools}, Play: func(t *harness.Trial) {
			// Part of the window is over when the tool begins: what is left of it is not the whole.
			first := script.Program{Steps: []script.Step{
				script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`), script.Finish{Reason: "tool_calls"}, script.Usage{Prompt: 9, Completion: 9},
				script.Pause{For: t.Windows.Inactivity * 3 / 7}, script.Done{}, script.End{},
			}}
			t.Script(first, next(t))
			t.Tools(toolOf("lookup", takes(t.Windows), "rain"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}}
	}
	short := func(w harness.Windows) time.Duration { return w.Inactivity * 2 / 7 }
	long := func(w harness.Windows) time.Duration { return w.Inactivity * 9 / 7 }
	silence := func(steps ...script.Step) func(*harness.Trial) script.Program {
		return func(*harness.Trial) script.Program { return silent(steps...) }
	}
	late := func(off func(*harness.Trial) time.Duration, text string) func(*harness.Trial) script.Program {
		return func(t *harness.Trial) script.Program {
			return proper(fault.Stall{For: t.Windows.Inactivity + off(t)}, script.Role{}, script.Text{Chunks: []string{text}})
		}
	}
	early := func(t *harness.Trial) time.Duration { return -t.Stage.Tick }
	tooLate := func(t *harness.Trial) time.Duration { return t.Stage.Tick }
	named := func(name string, v harness.Variant, checks []harness.Check) harness.Variant {
		v.Name, v.Checks = name, checks
		return v
	}
	gone := append(endsAt(guarantee, ended, inactivityWindow), dropsLate(guarantee))
	return harness.Scenario{
		ID:    "inactivity/rearmed-after-tool",
		Claim: "a model that stays silent after a tool is given up exactly one whole inactivity window after the tool's end, however long the tool took",
		Needs: []harness.Feature{harness.Streaming},
		Variants: slices.Concat(overTransports(named("silent-then", variant(short, silence()), gone)), []harness.Variant{
			named("after-a-long-tool", variant(long, silence()), gone),
			named("after-headers", variant(short, silence(script.Headers{}, script.Role{})), gone),
			named("a-tick-late", variant(long, late(tooLate, "late")), gone),
			named("a-tick-early", variant(long, late(early, "done")), isWhole(guarantee, "done")),
			named("a-tick-early-after-a-short-tool", variant(short, late(early, "done")), isWhole(guarantee, "done")),
		}),
		Reached: []expect.Event{tells("call_1"), nth(providerStall, 1)},
	}
}
