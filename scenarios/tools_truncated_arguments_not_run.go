package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// toolsTruncatedArgumentsNotRun: half a command is no command.
func toolsTruncatedArgumentsNotRun() harness.Scenario {
	variant := func(name string, reached string, steps ...script.Step) harness.Variant {
		return harness.Variant{
			Name: name, Set: harness.Set{Tools: harness.HTTPTools}, Dialects: inPieces(),
			Reached: []expect.Event{saying(providerTool, reached)},
			// A call that is whole comes first: the server does run tools.
			Play: func(t *harness.Trial) {
				t.Script(calling(callEach(t, "book")...), script.Program{Steps: slices.Concat([]script.Step{script.Role{}}, steps)}, turns())
				t.Tools(working(t, "book", "lookup"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			},
		}
	}
	lookup := func(index int, fragments ...string) script.Step {
		return script.Tool{Index: index, ID: "call_lookup", Name: "lookup", Args: fragments}
	}
	ending := func(call script.Step, reason string) []script.Step {
		return append([]script.Step{call}, closing(reason)...)
	}
	v := []harness.Variant{
		variant("cut", `"Os`, lookup(0, `{"city":"Os`), fault.Cut{}),
		variant("cut-in-pieces", `"days":3`, lookup(0, `{"city":`, `"Oslo",`, `"days":3`), fault.Cut{}),
		variant("body-ends", `"Os`, lookup(0, `{"city":"Os`), script.End{}),
		variant("finish-length", `"Os`, ending(lookup(0, `{"city":"Os`), "length")...),
		variant("finish-length-in-pieces", `"days":3`, ending(lookup(0, `{"city":`, `"Oslo",`, `"days":3`), "length")...),
		variant("finish-tool-calls", `"Os`, ending(lookup(0, `{"city":"Os`), "tool_calls")...),
		variant("finish-tool-calls-in-pieces", `"days":3`, ending(lookup(0, `{"city":`, `"Oslo",`, `"days":3`), "tool_calls")...),
		variant("after-a-whole-one", `"Os`, append([]script.Step{script.Tool{ID: "call_again", Name: "book", Args: []string{`{"for":"Rome"}`}}},
			ending(lookup(1, `{"city":"Os`), "length")...)...),
	}
	return harness.Scenario{
		ID:       "tools/truncated-arguments-not-run",
		Claim:    "a tool call whose arguments broke off is never executed, however the model's answer ended",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true, // a call without its arguments could not be told from another trial's
		Variants: v,
		Reached:  []expect.Event{ranTool("book")},
		Checks: []harness.Check{
			{Name: "not-run", Guarantee: "tools.truncated-arguments-not-run", Noun: "tool-call", Expect: shows(expect.Never{What: runsTool("lookup")})},
		},
	}
}
