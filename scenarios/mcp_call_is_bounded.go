package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// mcpCallIsBounded: a tool call that is never answered is given up when the stream window is over, whatever its server does meanwhile.
func mcpCallIsBounded() harness.Scenario {
	const id = "mcp.call-is-bounded"
	calls := func(stream bool, steps func(harness.Windows) []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(lookingUp(t, "call_1")[:1]...)
			t.Tools(mcp.Script{Programs: []mcp.Program{{Steps: steps(t.Windows), OnCancel: mcp.OnCancel{Do: mcp.Ignore}}}})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	silent := func(harness.Windows) []script.Step { return []script.Step{fault.Stall{}} }
	begun := func(harness.Windows) []script.Step { return []script.Step{script.Headers{}, fault.Stall{}} }
	telling := func(w harness.Windows) []script.Step {
		return []script.Step{script.Repeat{Steps: []script.Step{mcp.Progress{Every: pace(w.Stream)}}}}
	}
	noisy := func(w harness.Windows) []script.Step {
		return []script.Step{script.Repeat{Steps: []script.Step{script.Pause{For: pace(w.Stream)}, mcp.Log{Text: "still at it"}}}}
	}
	dripping := func(w harness.Windows) []script.Step {
		return []script.Step{fault.Drip{Bytes: 1, Every: pace(w.Stream)}, mcp.Log{Text: "a line of which no window sees the end"}}
	}
	var variants []harness.Variant
	for _, v := range []struct {
		name   string
		steps  func(harness.Windows) []script.Step
		whole  bool
		except harness.Tooling
	}{
		{name: "silent", steps: silent},
		{name: "silent-whole", steps: silent, whole: true},
		{name: "telling", steps: telling},
		{name: "noisy", steps: noisy},
		{name: "dripping", steps: dripping},
	} {
		one := harness.Variant{Name: v.name, Play: calls(!v.whole, v.steps), Checks: isCapped(id, !v.whole)}
		if v.whole {
			one.Needs = []harness.Feature{harness.NonStreaming}
		}
		// On a stream that trials share, and on a pipe, what drips is not this trial's alone.
		variants = append(variants, slices.DeleteFunc(overTransports(one), func(o harness.Variant) bool {
			return v.name == "dripping" && (o.Set.Tools == harness.SSETools || o.Set.Tools == harness.StdioTools)
		})...)
	}
	variants = append(variants, harness.Variant{Name: "begun-http", Set: harness.Set{Tools: harness.HTTPTools}, Play: calls(true, begun), Checks: isCapped(id, true)})
	for i := range variants {
		// Capped checks are of the model's exchange too; here it is over, and the tool's is what is left.
		checks := variants[i].Checks[:0:0]
		for _, c := range variants[i].Checks {
			if c.Noun != "provider-connection" {
				checks = append(checks, c)
			}
		}
		variants[i].Checks = append(checks, harness.Check{Name: "leaves-the-server", Guarantee: id, Noun: "open-call", Expect: func(at harness.At) expect.Expectation {
			return goneAt{toolRequest, at.Stream, at.Stream + at.Once}
		}})
	}
	return harness.Scenario{
		ID:       "mcp/call-is-bounded",
		Claim:    "a run whose tool call is never answered ends when the stream window is over, and nothing is left of the call then",
		Needs:    []harness.Feature{harness.Streaming},
		Variants: variants,
		Reached:  []expect.Event{toolRequest},
		Checks: []harness.Check{
			{Name: "no-tool-result", Guarantee: id, Noun: "tool-result", Expect: shows(expect.Never{What: modelTold})},
		},
	}
}
