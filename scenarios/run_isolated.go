package scenarios

import (
	"fmt"
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// runIsolated: runs that are under way together know nothing of each other.
func runIsolated() harness.Scenario {
	check := func(name, noun string, x expect.Expectation) harness.Check {
		return harness.Check{Name: name, Guarantee: "run.isolated", Noun: noun, Expect: shows(x)}
	}
	// Each run speaks three times, and all of them are between their first words and their last at once.
	speaks := func(t *harness.Trial, name string, tokens int, after ...script.Step) script.Program {
		text := script.Text{Chunks: []string{name + "-one ", name + "-two ", name + "-three"}, Every: t.Windows.Heartbeat * 5 / 7}
		end := []script.Step{script.Pause{For: t.Windows.Heartbeat / 7}, script.Finish{Reason: "stop"}, script.Usage{Prompt: tokens, Completion: 3}, script.Done{}, script.End{}}
		if after != nil {
			end = after
		}
		return script.Program{When: script.When{Contains: "for-" + name}, Steps: slices.Concat([]script.Step{text}, end)}
	}
	programs := func(t *harness.Trial, atLast script.Step) []script.Program {
		return []script.Program{
			speaks(t, "anna", 11), speaks(t, "boris", 12), speaks(t, "clara", 13),
			speaks(t, "dora", 14, script.Error{Code: "overloaded", Message: "dora-fails"}, script.End{}),
			speaks(t, "emil", 15, atLast),
		}
	}
	names := []string{"anna", "boris", "clara", "dora", "emil"}
	meet := func(t *harness.Trial) {
		var asked []*caller.Request
		for _, name := range names {
			asked = append(asked, t.Ask(askFor(name, name != "boris")))
		}
		t.Await(nth(of(clientText, "emil"), 3))
		t.Await(providerStall) // the last words may be read before it is under way
		asked[4].Leave(caller.Close)
		for _, r := range asked[:4] {
			t.AwaitEnd(r)
		}
	}
	together := func(t *harness.Trial) {
		t.Script(programs(t, fault.Stall{})...)
		meet(t)
	}
	inTurn := func(t *harness.Trial) {
		t.Script(programs(t, script.End{})...)
		step := t.Windows.Heartbeat / 11
		anna := t.Ask(askFor("anna", true))
		t.Await(providerRequest)
		t.Pass(step)
		boris := t.Ask(caller.Ask{Name: "boris", Prompt: "for-boris"})
		t.Await(nth(providerRequest, 2))
		t.Pass(step)
		emil := t.Ask(caller.Ask{Name: "emil", Prompt: "for-emil", Stream: true})
		t.Await(nth(providerRequest, 3))
		t.Pass(step)
		dora := t.Ask(caller.Ask{Name: "dora", Prompt: "for-dora", Stream: true})
		t.Await(nth(providerRequest, 4))
		t.Pass(step)
		clara := t.Ask(caller.Ask{Name: "clara", Prompt: "for-clara", Stream: true})
		t.Await(nth(of(clientText, "emil"), 2))
		t.Pass(step / 2)
		emil.Leave(caller.Close)
		t.Await(of(providerLeft, "#3"))
		t.AwaitEnd(dora)
		t.AwaitEnd(anna)
		t.AwaitEnd(boris)
		t.AwaitEnd(clara)
	}
	// What each run costs, with as much more of both kinds for the turns before.
	counts := func(before int) (checks []harness.Check) {
		for i, name := range []string{"anna", "boris", "clara"} {
			prompt, completion := 11+i+before, 3+before
			text := fmt.Sprintf("prompt %d, completion %d, total %d", prompt, completion, prompt+completion)
			checks = append(checks, check("counts-own-"+name, "usage", expect.Says{What: of(clientUsage, name), Text: text}))
		}
		return checks
	}
	// Each calls the same tool first, and all the calls are under way at once.
	withTools := func(t *harness.Trial) {
		var all []script.Program
		for _, name := range names {
			call := t.ToolCall("call_"+name, "lookup", fmt.Sprintf(`{"for":%q}`, name))
			all = append(all, forOnly(name, calling(call))...)
		}
		t.Script(append(all, programs(t, fault.Stall{})...)...)
		t.Tools(mcp.Script{Tools: []mcp.Tool{echoing("lookup", t.Windows.Heartbeat*3/7)}})
		meet(t)
	}
	ofTools := append(counts(9), check("reads-own-emil", "text", expect.Reads{What: of(clientText, "emil"), Text: "emil-one emil-two emil-three"}))
	for _, name := range names {
		ofTools = append(ofTools,
			check("runs-tool-of-"+name, "tool-call", getsArguments{"lookup", fmt.Sprintf(`{"for":%q}`, name)}),
			check("tells-model-of-"+name, "tool-result", tellsOf{toldModel, "call_" + name, name + "-result"}))
		if name == "boris" {
			continue // has no stream
		}
		for _, other := range names {
			x := expect.Times{What: of(saying(clientEvent, other+"-progress"), name)}
			if other == name {
				x.Min, x.Max = 1, 1
			}
			one := check(fmt.Sprintf("progress-of-%s-to-%s", other, name), "progress-event", x)
			one.Needs = []harness.Feature{harness.CustomEvents}
			ofTools = append(ofTools, one)
		}
	}
	return harness.Scenario{
		ID:    "run/isolated",
		Claim: "runs that go on together each get exactly their own identifiers, text, tool calls, progress, usage, failure and cancellation",
		Needs: []harness.Feature{harness.Streaming, harness.NonStreaming, harness.ErrorFrames},
		Variants: []harness.Variant{
			{Name: "together", Play: together, Checks: append(counts(0),
				check("reads-own-emil", "text", expect.Reads{What: of(clientText, "emil"), Text: "emil-one emil-two emil-three"}))},
			{Name: "with-tools", Set: harness.Set{Tools: harness.HTTPTools}, Play: withTools, Checks: ofTools},
			{Name: "in-turn", Play: inTurn, Checks: append(counts(0),
				check("reads-own-emil", "text", expect.Reads{What: of(clientText, "emil"), Text: "emil-one emil-two "}),
				harness.Check{Name: "leaving-cancels-own", Guarantee: "run.isolated", Noun: "own-provider-connection", Expect: func(at harness.At) expect.Expectation {
					return expect.Happens{What: of(providerLeft, "#3"), After: of(clientLeft, "emil"), To: at.Once}
				}},
				// A server may close a connection whose answer it has read to the end.
				check("leaving-spares-anna", "other-provider-connection", expect.Never{What: of(providerLeft, "#1"), Before: of(clientFinish, "anna")}),
				check("leaving-spares-boris", "other-provider-connection", expect.Never{What: of(providerLeft, "#2"), Before: of(clientFinish, "boris")}),
				check("leaving-spares-clara", "other-provider-connection", expect.Never{What: of(providerLeft, "#5"), Before: of(clientFinish, "clara")}))},
		},
		Reached: []expect.Event{of(clientLeft, "emil"), nth(providerRequest, 5)},
		Checks: []harness.Check{
			check("reads-own-anna", "text", expect.Reads{What: of(clientText, "anna"), Text: "anna-one anna-two anna-three"}),
			check("reads-own-boris", "text", expect.Reads{What: of(clientText, "boris"), Text: "boris-one boris-two boris-three"}),
			check("reads-own-clara", "text", expect.Reads{What: of(clientText, "clara"), Text: "clara-one clara-two clara-three"}),
			check("reads-own-dora", "text", expect.Reads{What: of(clientText, "dora"), Text: "dora-one dora-two dora-three"}),
			check("only-dora-fails", "error-frame", expect.Times{What: clientError, Min: 1, Max: 1}),
			check("dora-fails", "error-frame", expect.Times{What: of(clientError, "dora"), Min: 1, Max: 1}),
			check("own-identifiers", "answer-identifier", expect.Distinct{What: clientID}),
			{Name: "own-sessions", Guarantee: "run.isolated", Noun: "session-identifier", Needs: []harness.Feature{harness.CustomEvents}, Expect: shows(expect.Distinct{What: clientSession})},
			check("others-end-well", "finish", expect.Times{What: clientFinish, Min: 3, Max: 3}),
		},
	}
}
