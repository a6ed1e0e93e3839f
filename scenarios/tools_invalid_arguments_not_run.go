package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// toolsInvalidArgumentsNotRun: what cannot be read is told to the model and not guessed at.
func toolsInvalidArgumentsNotRun() harness.Scenario {
	const guarantee = "tools.invalid-arguments-not-run"
	variant := func(name string, fragments ...string) harness.Variant {
		return harness.Variant{Name: name, Set: harness.Set{Tools: harness.HTTPTools}, Play: func(t *harness.Trial) {
			t.Script(asks(t, append(callEach(t, "book"), script.Tool{Index: 1, ID: "call_lookup", Name: "lookup", Args: fragments})...)...)
			t.Tools(working(t, "book", "lookup"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}}
	}
	return harness.Scenario{
		ID:       "tools/invalid-arguments-not-run",
		Claim:    "a tool call whose arguments are not JSON is not executed, the model is told so, and the run ends well",
		Needs:    []harness.Feature{harness.Streaming},
		Alone:    true, // a call without its arguments could not be told from another trial's
		Dialects: append(inPieces(), "mistral"),
		Variants: []harness.Variant{
			variant("plain-words", `Oslo`),
			variant("no-quotes", `{city: Oslo}`),
			variant("single-quotes", `{'city': 'Oslo'}`),
			variant("trailing-comma", `{"city":"Oslo",`, `}`),
			variant("two-objects", `{"city":"Oslo"}`, `{"city":"Rome"}`),
			variant("text-behind", `{"city":"Oslo"}`, ` and Rome`),
			variant("raw-line-break", "{\"city\":\"Os", "\n", `lo"}`),
		},
		Reached: []expect.Event{ranTool("book")},
		Checks: append(isWhole(guarantee, "done"),
			harness.Check{Name: "not-run", Guarantee: guarantee, Noun: "tool-call", Expect: shows(expect.Never{What: runsTool("lookup")})},
			harness.Check{Name: "tells-the-model", Guarantee: guarantee, Noun: "tool-result", Expect: shows(expect.Times{What: tells("call_lookup"), Min: 1, Max: 1})},
			harness.Check{Name: "as-a-failure", Guarantee: guarantee, Noun: "failure-told", Expect: shows(toldAsFailed{"call_lookup"})},
		),
	}
}
