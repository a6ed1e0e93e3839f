package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// cancelNextRequestUnharmed: whatever became of one run, the next and its neighbours are answered as if it had not been.
func cancelNextRequestUnharmed() harness.Scenario {
	const guarantee = "cancel.next-request-unharmed"
	var variants []harness.Variant
	for _, y := range ways() {
		if y.name == "completed" || y.name == "completed-whole" {
			continue
		}
		variants = append(variants, harness.Variant{Name: "after-" + y.name, Set: y.set, Needs: y.needs, Checks: slices.Concat(unharmed(guarantee, "next"), unharmed(guarantee, "again")), Play: func(t *harness.Trial) {
			t.Script(append(y.programs(t.Windows), script.Answer("one ", "two"), script.Answer("one ", "two"))...)
			y.play(t, 1, 1)
			t.AwaitEnd(t.Ask(caller.Ask{Name: "next", Prompt: "hello", Stream: true}))
			t.AwaitEnd(t.Ask(caller.Ask{Name: "again", Prompt: "hello", Stream: true}))
		}})
	}
	variants = append(variants, beside(guarantee)...)
	for _, e := range append(leavings(), cappings()...) {
		variants = append(variants, afterTool(guarantee, e), besideTool(guarantee, e))
	}
	return harness.Scenario{
		ID:       "cancel/next-request-unharmed",
		Claim:    "requests after and beside a run that ended early are answered whole, without delay",
		Needs:    []harness.Feature{harness.Streaming},
		Variants: variants,
	}
}

// afterTool is the variant in which the run before ended early in a tool call.
func afterTool(guarantee string, e callEnding) harness.Variant {
	return harness.Variant{
		Name: "after-" + e.name + "-in-a-tool", Set: harness.Set{Tools: harness.HTTPTools}, Needs: e.needs, Play: func(t *harness.Trial) {
			book := calling(script.Role{}, t.ToolCall("call_1", "book", `{"city":"Oslo"}`))
			lookup := calling(script.Role{}, t.ToolCall("call_2", "lookup", `{"city":"Oslo"}`))
			t.Script(book, lookup, proper(script.Text{Chunks: []string{"one ", "two"}}))
			t.Tools(mcp.Script{Tools: []mcp.Tool{{Name: "book", Takes: forever}, {Name: "lookup", Result: mcp.Result{Text: "rain"}}}})
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: !e.whole})
			t.Await(toolRequest)
			e.end(t, r)
			t.AwaitEnd(t.Ask(caller.Ask{Name: "next", Prompt: "hello", Stream: true}))
		}, Checks: append(unharmed(guarantee, "next"), harness.Check{
			Name: "next-gets-its-result", Guarantee: guarantee, Noun: "result", Expect: shows(expect.Times{What: saying(providerTold, "rain"), Min: 1, Max: 1}),
		}),
	}
}

// besideTool is the variant in which a neighbour's tool is at work when another run ends early in a tool call of the same server.
func besideTool(guarantee string, e callEnding) harness.Variant {
	const neighbour, other = "[the neighbour]", "[the other]"
	takes := func(w harness.Windows) time.Duration { return w.Heartbeat * 5 / 7 }
	return harness.Variant{
		Name: "beside-" + e.name + "-in-a-tool", Set: harness.Set{Tools: harness.HTTPTools}, Needs: e.needs, Reached: []expect.Event{e.over},
		Play: func(t *harness.Trial) {
			book := calling(script.Role{}, t.ToolCall("call_1", "book", `{"city":"Oslo"}`))
			book.When = script.When{Contains: other}
			lookup := calling(script.Role{}, t.ToolCall("call_2", "lookup", `{"city":"Oslo"}`))
			lookup.When = script.When{Contains: neighbour}
			t.Script(book, lookup, proper(script.Text{Chunks: []string{"one ", "two"}}))
			t.Tools(mcp.Script{Tools: []mcp.Tool{{Name: "book", Takes: forever}, {Name: "lookup", Takes: takes(t.Windows), Result: mcp.Result{Text: "rain"}}}})
			r := t.Ask(caller.Ask{Prompt: other, Stream: !e.whole})
			t.Await(saying(toolRequest, `"book"`))
			if e.over == clientAsk { // nearly at the end of its window
				t.Pass(t.Windows.Stream - t.Windows.Heartbeat*3/7)
			}
			n := t.Ask(caller.Ask{Name: "neighbour", Prompt: neighbour, Stream: true})
			t.Await(saying(toolRequest, `"lookup"`))
			e.end(t, r)
			t.AwaitEnd(n)
		}, Checks: []harness.Check{
			{Name: "cancels-one", Guarantee: guarantee, Noun: "cancellation", Expect: shows(expect.Times{What: toolCancelled, Min: 1, Max: 1})},
			{Name: "neighbour-gets-its-result", Guarantee: guarantee, Noun: "result", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: saying(providerTold, "rain"), After: saying(toolRequest, `"lookup"`), From: takes(at.Windows), To: takes(at.Windows) + at.Once}
			}},
			{Name: "neighbour-is-whole", Guarantee: guarantee, Noun: "answer", Expect: shows(expect.Reads{What: of(clientText, "neighbour"), Text: "one two"})},
		},
	}
}

// unharmed are the checks that a plain request, whose answer takes no time, is answered whole at once.
func unharmed(guarantee, name string) []harness.Check {
	return []harness.Check{
		{Name: name + "-is-whole", Guarantee: guarantee, Noun: "answer", Expect: shows(expect.Reads{What: of(clientText, name), Text: "one two"})},
		{Name: name + "-ends-well", Guarantee: guarantee, Noun: "end", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: of(clientFinish, name), After: of(clientAsk, name), To: at.Once}
		}},
	}
}

// beside are the variants in which a neighbour streams while other runs end early.
func beside(guarantee string) []harness.Variant {
	// A neighbour that is asked first, and whose text lasts longer than what befalls the others.
	const neighbour, others = "[the neighbour]", "[the others]"
	programs := func(w harness.Windows, other ...script.Step) script.Script {
		gap := w.FirstChunk * 3 / 7
		steady := proper(script.Role{}, script.Text{Chunks: []string{"one ", "two ", "three ", "four"}, Every: gap})
		steady.When = script.When{Contains: neighbour}
		rest := silent(other...)
		rest.When, rest.Times = script.When{Contains: others}, 3
		return script.Script{steady, rest}
	}
	checks := []harness.Check{
		{Name: "neighbour-is-whole", Guarantee: guarantee, Noun: "answer", Expect: shows(expect.Reads{What: of(clientText, "neighbour"), Text: "one two three four"})},
		{Name: "neighbour-is-in-time", Guarantee: guarantee, Noun: "end", Expect: func(at harness.At) expect.Expectation {
			over := at.FirstChunk * 3 / 7 * 3
			return expect.Happens{What: of(clientFinish, "neighbour"), After: of(clientAsk, "neighbour"), From: over, To: over + at.Once}
		}},
	}
	var variants []harness.Variant
	for _, how := range []caller.Leaving{caller.Close, caller.Reset} {
		variants = append(variants, harness.Variant{Name: "beside-clients-that-leave-by-" + string(how), Checks: checks, Reached: []expect.Event{nth(clientLeft, 3)}, Play: func(t *harness.Trial) {
			t.Script(programs(t.Windows, script.Role{}, script.Text{Chunks: []string{"other "}})...)
			n := t.Ask(caller.Ask{Name: "neighbour", Prompt: neighbour, Stream: true})
			t.Await(of(clientText, "neighbour"))
			first := t.Ask(caller.Ask{Prompt: others, Stream: true})
			second := t.Ask(caller.Ask{Prompt: others})
			third := t.Ask(caller.Ask{Prompt: others, Stream: true})
			t.Await(nth(providerStall, 3))
			t.Pass(t.Windows.Heartbeat * 3 / 7)
			first.Leave(how)
			second.Leave(how)
			third.Leave(how)
			t.AwaitEnd(n)
		}})
	}
	return append(variants, harness.Variant{Name: "beside-runs-that-time-out", Checks: checks, Reached: []expect.Event{nth(clientError, 3)}, Play: func(t *harness.Trial) {
		t.Script(programs(t.Windows)...)
		n := t.Ask(caller.Ask{Name: "neighbour", Prompt: neighbour, Stream: true})
		t.Await(of(clientText, "neighbour"))
		for range 3 {
			t.Ask(caller.Ask{Prompt: others, Stream: true})
		}
		t.AwaitEnd(n)
	}})
}
