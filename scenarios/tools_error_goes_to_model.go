package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// toolFailure is a way in which a tool call fails.
type toolFailure struct {
	name  string
	steps []script.Step
	says  string // what of it a model must be able to read
	on    []harness.Tooling
}

// toolFailures are all of them that leave the session as it is. Their words do not say that they are errors.
func toolFailures() []toolFailure {
	const words = "the gate is shut"
	return []toolFailure{
		{"result", []script.Step{mcp.Result{Text: words, IsError: true}}, words, harness.Transports()},
		{"rpc-error", []script.Step{mcp.Error{Code: -32603, Message: words}}, words, harness.Transports()},
		{"invalid-params", []script.Step{mcp.Error{Code: -32602, Message: words}}, words, []harness.Tooling{harness.HTTPTools}},
		{"empty-result", []script.Step{mcp.Result{JSON: `{"content":[],"isError":true}`}}, "", []harness.Tooling{harness.HTTPTools}},
		{"cut", []script.Step{fault.Cut{}}, "", []harness.Tooling{harness.HTTPTools, harness.ModernTools}},
		{"status", []script.Step{fault.Status{Code: 500}}, "", []harness.Tooling{harness.HTTPTools, harness.ModernTools}},
	}
}

// failingTools are variants in which the model calls a tool that fails so, and one that does not.
func failingTools(checks func(toolFailure) []harness.Check) []harness.Variant {
	var out []harness.Variant
	for _, f := range toolFailures() {
		for _, transport := range f.on {
			v := harness.Variant{Name: f.name + "-" + string(transport), Set: harness.Set{Tools: transport}, Checks: checks(f)}
			if transport != harness.HTTPTools {
				v.Dialects = chat()[:1]
			}
			v.Play = func(t *harness.Trial) {
				t.Script(asks(t, callEach(t, "lookup", "book")...)...)
				s := working(t, "book")
				s.Programs = []mcp.Program{{When: mcp.When{Tool: "lookup"}, Steps: append([]script.Step{script.Pause{For: t.Windows.Heartbeat / 7}}, f.steps...)}}
				t.Tools(s)
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}
			out = append(out, v)
		}
	}
	return out
}

// toolsErrorGoesToModel: the model hears of a tool that failed, and goes on.
func toolsErrorGoesToModel() harness.Scenario {
	const guarantee = "tools.error-goes-to-model"
	return harness.Scenario{
		ID:    "tools/error-goes-to-model",
		Claim: "a tool call that fails is answered to the model, in the tool's words where it has any, beside the calls that did not, and the run ends well",
		Needs: []harness.Feature{harness.Streaming},
		Variants: failingTools(func(f toolFailure) []harness.Check {
			return []harness.Check{
				{Name: "tells-the-model", Guarantee: guarantee, Noun: "tool-result", Expect: shows(expect.Times{What: tells("call_lookup"), Min: 1, Max: 1})},
				{Name: "in-the-tools-words", Guarantee: guarantee, Noun: "words", Expect: shows(tellsOf{toldModel, "call_lookup", f.says})},
			}
		}),
		Reached: []expect.Event{runsTool("lookup")},
		Checks: append(isWhole(guarantee, "done"), harness.Check{
			Name: "and-of-the-other", Guarantee: guarantee, Noun: "tool-result", Expect: shows(expect.Times{What: tells("call_book"), Min: 1, Max: 1})}),
	}
}
