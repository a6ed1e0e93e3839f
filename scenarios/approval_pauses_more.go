package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// pausesMore are the variants of [approvalPauses] about which calls wait: those of every pattern, each for a yes of its own, whoever makes
// them and whenever.
func pausesMore(guarantee string) []harness.Variant {
	notBefore := func(tool string, yes expect.Event) harness.Check {
		return harness.Check{Name: "not-before-yes", Guarantee: guarantee, Noun: "tool-call", Expect: shows(afterYes{runsTool(tool), yes})}
	}
	// Of two calls that are asked about, the first is allowed and the second denied: a yes is for the call that it was asked for.
	eachDecided := []harness.Check{
		notBefore("book", of(personAsk, "yes")), runOnce(guarantee), answeredTo(guarantee, "yes", taken), answeredTo(guarantee, "no", taken),
	}
	return []harness.Variant{
		{Name: "another-pattern", Set: approving(harness.Conversational), Play: func(t *harness.Trial) {
			t.Script(asks(t, callEach(t, "cancel")...)...)
			t.Tools(toolOf("cancel", 0, "cancelled"))
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			id := t.AwaitAsked(1)
			t.Pass(thinking(t.Windows))
			t.Decide("yes", id, true)
			t.AwaitEnd(r)
		}, Checks: []harness.Check{notBefore("cancel", of(personAsk, "yes")), isTold(guarantee, "call_cancel", "cancelled")}},
		{Name: "same-tool-again", Set: approving(harness.Conversational), Play: func(t *harness.Trial) {
			second := t.ToolCall("call_2", "book", `{"city":"Rome"}`)
			second.Index = 1
			t.Script(asks(t, t.ToolCall("call_1", "book", `{"city":"Oslo"}`), second)...)
			t.Tools(toolOf("book", 0, "booked"))
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Decide("yes", t.AwaitAsked(1), true)
			id := t.AwaitAsked(2)
			t.Pass(thinking(t.Windows))
			t.Decide("no", id, false)
			t.AwaitEnd(r)
		}, Checks: append(slices.Clone(eachDecided), isTold(guarantee, "call_1", "booked"), isTold(guarantee, "call_2", "as no says"))},
		// A worker and a task that is nobody's in particular, which the coordinator's own model does, ask side by side.
		{Name: "workers-side-by-side", Needs: []harness.Feature{harness.Orchestration}, Set: harness.Set{Tools: harness.HTTPTools, Approval: harness.Conversational, Orchestrated: true},
			Play: func(t *harness.Trial) {
				nobodys := planStep{Type: "task", Task: t.Marked("do what is left")}
				t.Script(plans(sideBySide(task(t, alpha), nobodys)),
					by(alpha, calling(script.Role{}, t.ToolCall("call_1", "book", `{"city":"Oslo"}`))), delivers(alpha, "sun"),
					by(leader, calling(script.Role{}, t.ToolCall("call_2", "book", `{"city":"Rome"}`))), delivers(leader, "rain"), responds("both it is"))
				t.Tools(toolOf("book", 0, "booked"))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
				first, second := t.AwaitAsked(1), t.AwaitAsked(2)
				t.Pass(thinking(t.Windows))
				t.Decide("yes", first, true)
				t.Await(runsTool("book"))
				t.Pass(thinking(t.Windows))
				t.Decide("no", second, false)
				t.AwaitEnd(r)
			}, Checks: append(slices.Clone(eachDecided), tellsCoordinator(guarantee, "tells-the-coordinator", "sun"))},
		whileDraining("while-draining", approving(harness.Webhook), books, notBefore, guarantee),
		whileDraining("while-draining-worker", harness.Set{Tools: harness.HTTPTools, Approval: harness.Webhook, Orchestrated: true}, func(t *harness.Trial) []script.Program {
			return []script.Program{plans(task(t, alpha)), by(alpha, books(t)[0]), delivers(alpha, "sun"), responds("sun it is")}
		}, notBefore, guarantee, harness.Orchestration),
	}
}

// whileDraining is a run that is asked for before the server begins to drain, and calls its tool after that. A webhook decides, since a
// server may refuse decisions to its own endpoint while it drains.
func whileDraining(name string, set harness.Set, programs func(*harness.Trial) []script.Program, notBefore func(string, expect.Event) harness.Check, guarantee string, needs ...harness.Feature) harness.Variant {
	return harness.Variant{Name: name, Needs: append(needs, harness.Signals), Set: set, Play: func(t *harness.Trial) {
		all := programs(t)
		all[0].Steps = append([]script.Step{script.Headers{}, script.Pause{For: thinking(t.Windows)}}, all[0].Steps...)
		t.Script(all...)
		t.Tools(toolOf("book", 0, "booked"))
		t.Approver(decides(approver.Decide{Approved: true}, script.Pause{For: thinking(t.Windows)}))
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
		t.Await(providerRequest)
		t.Pass(awhile(t.Windows))
		t.Signal("SIGTERM")
		t.AwaitEnd(r)
		t.AwaitExit()
	}, Reached: []expect.Event{signal}, Checks: []harness.Check{
		notBefore("book", approverDecide), runOnce(guarantee),
		{Name: "tells-of-call-1", Guarantee: guarantee, Noun: "tool-result", Expect: shows(tellsOf{toldModel, "call_1", "booked"})},
	}}
}
