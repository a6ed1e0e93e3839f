package scenarios

import (
	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// approvalFailsClosed: whatever is no valid yes in time is a no.
func approvalFailsClosed() harness.Scenario {
	const guarantee = "approval.fails-closed"
	outcome := func(kind string) harness.Check { return toldOfOutcome(guarantee, `"kind":"`+kind+`"`) }
	play := func(t *harness.Trial) {
		t.Script(books(t)...)
		t.Tools(toolOf("book", 0, "booked"))
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
	}
	atWindow := func(asked expect.Event) []harness.Check {
		return []harness.Check{outcome("timed_out"), {Name: "at-the-window", Guarantee: guarantee, Noun: "window", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: nth(providerRequest, 2), After: asked, From: at.Approval, To: at.Approval + at.Once}
		}}}
	}
	// A webhook is asked once, whatever it answers.
	askedOnce := harness.Check{Name: "asked-once", Guarantee: guarantee, Noun: "question", Expect: shows(expect.Times{What: approverRequest, Min: 1, Max: 1})}
	signed := harness.Check{Name: "question-signed", Guarantee: guarantee, Noun: "question", Expect: shows(expect.Says{What: approverRequest, Text: "signature=valid"})}
	variants := []harness.Variant{{Name: "expired", Set: expiring(harness.Conversational), Play: play, Checks: atWindow(approvalPending)}}
	webhook := func(name string, checks []harness.Check, steps ...script.Step) {
		variants = append(variants, harness.Variant{Name: "webhook-" + name, Set: approving(harness.Webhook), Checks: append(checks, askedOnce, signed), Play: func(t *harness.Trial) {
			t.Approver(approver.Program{Times: script.Any, Steps: steps})
			play(t)
		}})
	}
	broken := func() []harness.Check { return []harness.Check{outcome("errored")} }
	const yes = `{"approved":true}`
	webhook("silent", atWindow(approverRequest), fault.Stall{})
	variants[1].Set.Expires = true
	webhook("status-500", broken(), fault.Status{Code: 500, Body: yes})
	webhook("status-404", broken(), fault.Status{Code: 404, Body: yes})
	webhook("no-json", broken(), fault.Status{Code: 200, Body: "yes"})
	webhook("no-decision", broken(), fault.Status{Code: 200, Body: `{"reason":"of course"}`})
	webhook("other-type", broken(), fault.Status{Code: 200, Body: `{"approved":"true"}`})
	webhook("unknown-field", broken(), fault.Status{Code: 200, Body: `{"approved":true,"for":"ever"}`})
	webhook("empty", broken(), fault.Status{Code: 200, Blank: true})
	webhook("huge", broken(), approver.Decide{Approved: true, Pad: 1 << 20})
	webhook("cut", broken(), fault.Cut{})
	webhook("reset", broken(), fault.Reset{})
	webhook("broken-off", broken(), fault.Status{Code: 200, Body: yes, Header: map[string]string{"Content-Length": "100"}}) // a yes as far as it goes
	// Where the redirect leads, a yes would be had.
	variants = append(variants, harness.Variant{Name: "webhook-redirect", Set: approving(harness.Webhook), Checks: append(broken(), askedOnce), Play: func(t *harness.Trial) {
		t.Approver(approver.Program{Steps: []script.Step{fault.Status{Code: 307, Blank: true, Header: map[string]string{"Location": "/elsewhere"}}}},
			approver.Program{Times: script.Any, Steps: []script.Step{approver.Decide{Approved: true}}})
		play(t)
	}})
	for _, s := range approver.Signatures() {
		webhook("signature-"+string(s), broken(), approver.Decide{Approved: true, Signature: s})
	}
	variants = append(variants, harness.Variant{Name: "webhook-unreachable", Needs: []harness.Feature{harness.Signals}, Set: approving(harness.Webhook), Checks: broken(), Play: func(t *harness.Trial) {
		t.Stage.Approver.Close()
		play(t)
	}})
	// Whoever knows the id but not the secret decides nothing; then whoever has it says no.
	signing := approving(harness.Conversational)
	signing.Signed = true
	variants = append(variants, harness.Variant{Name: "decision-unsigned", Set: signing, Checks: []harness.Check{
		answeredTo(guarantee, "unsigned", "401 "), answeredTo(guarantee, "no", taken), outcome("denied"),
	}, Play: func(t *harness.Trial) {
		t.Script(books(t)...)
		t.Tools(toolOf("book", 0, "booked"))
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
		id := t.AwaitAsked(1)
		t.AwaitEnd(t.DecideUnsigned("unsigned", id, true))
		t.Pass(thinking(t.Windows))
		t.Decide("no", id, false)
		t.AwaitEnd(r)
	}})
	return harness.Scenario{
		ID:       "approval/fails-closed",
		Claim:    "without a valid yes within the approval window a tool is not run, the model is told so, and the run goes on",
		Needs:    needsApprovals(),
		Dialects: chat()[:1],
		Variants: variants,
		Checks:   []harness.Check{notRun(guarantee), isTold(guarantee, "call_1", ""), endWell(guarantee, 1)},
	}
}
