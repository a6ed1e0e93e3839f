package scenarios

import (
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// mcpLateAnswerIgnored: what a server still says of a call that is over reaches nobody and breaks nothing.
func mcpLateAnswerIgnored() harness.Scenario {
	const id = "mcp.late-answer-ignored"
	check := func(name, noun string, x expect.Expectation) harness.Check {
		return harness.Check{Name: name, Guarantee: id, Noun: noun, Expect: shows(x)}
	}
	// The client leaves, the call is cancelled, and its server answers all the same; then there is another run.
	cancelled := func(do mcp.OnCancel) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(append(lookingUp(t, "call_1")[:1], lookingUp(t, "call_2")...)...)
			t.Tools(mcp.Script{Tools: []mcp.Tool{{Name: "lookup", Takes: t.Windows.Heartbeat * 6 / 7, Result: mcp.Result{Text: "rain"}, OnCancel: do}}})
			r := t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true})
			t.Await(toolRequest)
			t.Pass(t.Windows.Heartbeat / 7)
			r.Leave(caller.Close)
			t.Pass(t.Windows.Heartbeat / 7)
			t.AwaitEnd(t.Ask(caller.Ask{Name: "second", Prompt: "hello again", Stream: true}))
		}
	}
	// The call was answered before, and its server answers once more: at once, or in the next call.
	again := func(late bool) func(*harness.Trial) {
		return func(t *harness.Trial) {
			steps := []script.Step{mcp.Result{Text: "rain", Times: 2}}
			if late {
				steps = []script.Step{mcp.Result{Text: "rain"}, script.Pause{For: t.Windows.Heartbeat / 7}, mcp.Result{Text: "snow"}}
			}
			t.Tools(mcp.Script{
				Tools:    []mcp.Tool{{Name: "lookup", Takes: t.Windows.Heartbeat * 2 / 7, Result: mcp.Result{Text: "fog"}}},
				Programs: []mcp.Program{{When: mcp.When{Contains: "call_1"}, Steps: steps}},
			})
			looksUp(t, "call_1", "call_2")
		}
	}
	own := []harness.Check{
		{Name: "is-told-once", Guarantee: id, Noun: "tool-result", Expect: shows(expect.Never{What: saying(modelTold, "snow")})},
		isTold(id, "call_1", "rain"), isTold(id, "call_2", "fog"), endWell(id, 1),
		check("stays-connected", "session", expect.Times{What: toolRequest, Min: 2, Max: 2}),
		check("opens-no-other", "session", expect.Times{What: expect.Event{Lane: harness.ToolsLane, Kind: "request", Detail: "tools/list"}, Max: 1}),
	}
	other := []harness.Check{
		isTold(id, "call_2", "rain"), endWell(id, 1),
		check("tells-nobody", "tool-result", expect.Never{What: saying(modelTold, "call_1 ")}),
		check("asks-once-for-each", "tool-request", expect.Times{What: toolRequest, Min: 2, Max: 2}),
	}
	var variants []harness.Variant
	for _, v := range []struct {
		name   string
		play   func(*harness.Trial)
		checks []harness.Check
	}{
		{"result-after-cancel", cancelled(mcp.OnCancel{Do: mcp.AnswerWell}), other},
		{"two-results-after-cancel", cancelled(mcp.OnCancel{Do: mcp.AnswerTwice}), other},
		{"error-after-cancel", cancelled(mcp.OnCancel{Do: mcp.AnswerError}), other},
		{"cancel-unheeded", cancelled(mcp.OnCancel{Do: mcp.Ignore}), other},
		{"second-result", again(false), own},
		{"second-result-in-the-next-call", again(true), own},
	} {
		variants = append(variants, overTransports(harness.Variant{Name: v.name, Play: v.play, Checks: v.checks})...)
	}
	return harness.Scenario{
		ID:       "mcp/late-answer-ignored",
		Claim:    "an answer that comes when its call was cancelled or answered is told to nobody, and the next call gets its own",
		Needs:    []harness.Feature{harness.Streaming},
		Variants: variants,
	}
}
