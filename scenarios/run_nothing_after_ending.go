package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// runNothingAfterEnding: what the model sends after the end of its answer or of the run goes nowhere, and nothing new is
// begun.
func runNothingAfterEnding() harness.Scenario {
	ask := func(stream bool, steps func(*harness.Trial) []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			// A further request of the server must be answered: only then does it show what it would send.
			t.Script(script.Program{Steps: steps(t)}, script.Program{Times: script.Any, Steps: script.Answer("unasked").Steps})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	trailing := func(*harness.Trial) []script.Step {
		return append(script.Answer("on ", "time").Steps[:5], script.Text{Chunks: []string{"late"}}, script.Finish{Reason: "length"}, script.Done{}, script.End{})
	}
	later := func(t *harness.Trial) []script.Step {
		return append(script.Answer("on ", "time").Steps[:5], script.Pause{For: t.Stage.Tick}, script.Text{Chunks: []string{"late"}}, script.Finish{Reason: "length"}, script.Done{}, script.End{})
	}
	overdue := func(window func(harness.Windows) time.Duration, opening ...script.Step) func(*harness.Trial) []script.Step {
		return func(t *harness.Trial) []script.Step {
			return append(opening[:len(opening):len(opening)], script.Pause{For: window(t.Windows) + t.Stage.Tick}, script.Text{Chunks: []string{"late"}}, script.Finish{Reason: "stop"}, script.Done{}, script.End{})
		}
	}
	refusing := func(*harness.Trial) []script.Step { return []script.Step{fault.Status{Code: 400}} }
	firstChunk := func(w harness.Windows) time.Duration { return w.FirstChunk }
	inactivity := func(w harness.Windows) time.Duration { return w.Inactivity }
	stream := func(w harness.Windows) time.Duration { return w.Stream }
	said := script.Text{Chunks: []string{"on time"}}

	reads := func(text string) []harness.Check {
		return []harness.Check{{Name: "text", Guarantee: "run.nothing-after-ending", Noun: "late-text", Expect: shows(expect.Reads{What: clientText, Text: text})}}
	}
	// The second call of a turn does not start when the run ends in the first, nor does one that the model asks for too late.
	http := harness.Set{Tools: harness.HTTPTools}
	inFirst := func(e callEnding) harness.Variant {
		capped := e.over == clientAsk
		after := e.over
		if capped {
			after = clientEnd
		}
		play := func(t *harness.Trial) {
			takes := t.Windows.Heartbeat * 5 / 7
			if capped {
				takes = t.Windows.Stream + t.Stage.Tick
			}
			t.Script(asks(t, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`), t.ToolCall("call_2", "book", `{"city":"Oslo"}`))...)
			t.Tools(mcp.Script{Tools: []mcp.Tool{{Name: "lookup", Takes: takes, OnCancel: mcp.OnCancel{Do: mcp.Ignore}, Result: mcp.Result{Text: "late"}}}})
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: !e.whole})
			t.Await(toolRequest)
			e.end(t, r)
			t.Pass(t.Windows.Heartbeat)
		}
		return harness.Variant{Name: "second-call-after-" + e.name, Set: http, Play: play, Reached: []expect.Event{toolRequest}, Checks: []harness.Check{
			{Name: "no-further-call", Guarantee: "run.nothing-after-ending", Noun: "tool-call", Expect: shows(expect.Never{What: toolRequest, After: after})},
		}}
	}
	tooLate := func(stream bool) func(*harness.Trial) {
		return func(t *harness.Trial) {
			late := []script.Step{script.Text{Chunks: []string{"on time"}}, script.Pause{For: t.Windows.Stream + t.Stage.Tick}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`)}
			t.Script(calling(late...), turns())
			t.Tools(toolOf("lookup", 0, "late"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	noCall := []harness.Check{{Name: "no-call", Guarantee: "run.nothing-after-ending", Noun: "tool-call", Expect: shows(expect.Never{What: toolRequest})}}

	// A run that does not stream and fails has an answer without text.
	done, failed := []expect.Event{providerDone, clientFinish}, []expect.Event{clientError}
	var inTools []harness.Variant
	for _, e := range append(leavings(), cappings()...) {
		inTools = append(inTools, inFirst(e))
	}
	return harness.Scenario{
		ID:    "run/nothing-after-ending",
		Claim: "after the end of a run none of the model's output reaches the client and no model request or tool call starts",
		Needs: []harness.Feature{harness.Streaming, harness.NonStreaming, harness.ErrorFrames},
		Variants: append(inTools, []harness.Variant{
			{Name: "text-with-done", Dialects: terminated(), Play: ask(true, trailing), Checks: reads("on time"), Reached: done},
			{Name: "text-after-done", Dialects: terminated(), Play: ask(true, later), Checks: reads("on time"), Reached: done},
			{Name: "text-with-done-whole", Dialects: terminated(), Play: ask(false, trailing), Checks: reads("on time"), Reached: done},
			{Name: "text-after-done-whole", Dialects: terminated(), Play: ask(false, later), Checks: reads("on time"), Reached: done},
			{Name: "after-first-chunk-window", Play: ask(true, overdue(firstChunk, script.Headers{})), Checks: reads(""), Reached: failed},
			{Name: "after-inactivity-window", Set: harness.Set{Inactivity: true}, Play: ask(true, overdue(inactivity, said)), Checks: reads("on time"), Reached: failed},
			{Name: "after-stream-window", Play: ask(true, overdue(stream, said)), Checks: reads("on time"), Reached: failed},
			{Name: "after-stream-window-whole", Play: ask(false, overdue(stream, said)), Checks: reads(""), Reached: failed},
			{Name: "after-error-frame", Play: ask(true, func(*harness.Trial) []script.Step {
				return append([]script.Step{said, script.Error{Code: "overloaded", Message: "try again later"}}, script.Answer("late").Steps...)
			}), Checks: reads("on time"), Reached: failed},
			{Name: "after-refusal", Play: ask(true, refusing), Checks: reads(""), Reached: failed},
			{Name: "after-refusal-whole", Play: ask(false, refusing), Checks: reads(""), Reached: failed},
			{Name: "call-after-stream-window", Set: http, Play: tooLate(true), Checks: noCall, Reached: failed},
			{Name: "call-after-stream-window-whole", Set: http, Play: tooLate(false), Checks: noCall, Reached: failed},
		}...),
		Checks: []harness.Check{
			// Nothing here is worth a second try: no output was lost that the model could give anew.
			{Name: "one-request", Guarantee: "run.nothing-after-ending", Noun: "provider-request", Expect: shows(expect.Times{What: providerRequest, Min: 1, Max: 1})},
		},
	}
}
