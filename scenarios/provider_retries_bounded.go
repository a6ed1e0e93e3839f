package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerRetriesBounded: a failing provider is asked a few times at most, and not at all for a client that has left.
func providerRetriesBounded() harness.Scenario {
	failing := func(steps ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Times: script.Any, Steps: steps})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	// The client leaves when the first request has failed, which is in the pause before the next if there is one.
	leaving := func(at expect.Event, steps ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Times: script.Any, Steps: steps})
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(at)
			t.Pass(t.Stage.Tick) // a server that does not try again has answered by then
			r.Leave(caller.Close)
			t.Pass(t.Windows.Heartbeat)
		}
	}
	// Four is the first attempt and three more; the vendors' own clients make three in all.
	bounded := []harness.Check{{Name: "few-requests", Guarantee: "provider.retries-bounded", Noun: "provider-request", Expect: shows(expect.Times{What: providerRequest, Min: 1, Max: 4})}}
	none := []harness.Check{{Name: "none-for-nobody", Guarantee: "provider.retries-bounded", Noun: "request-after-leaving", Expect: shows(expect.Never{What: providerRequest, After: clientLeft})}}
	return harness.Scenario{
		ID:    "provider/retries-bounded",
		Claim: "a failing provider is asked at most four times for a run, and not again once the client has left",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "status-429", Play: failing(fault.Status{Code: 429}), Reached: []expect.Event{providerStatus}, Checks: bounded},
			{Name: "status-500", Play: failing(fault.Status{Code: 500}), Reached: []expect.Event{providerStatus}, Checks: bounded},
			{Name: "closes", Play: failing(fault.Cut{}), Reached: []expect.Event{providerCut}, Checks: bounded},
			{Name: "resets", Play: failing(fault.Reset{}), Reached: []expect.Event{providerReset}, Checks: bounded},
			{Name: "status-429-and-leaves", Play: leaving(providerStatus, fault.Status{Code: 429}), Checks: none},
			{Name: "status-500-and-leaves", Play: leaving(providerStatus, fault.Status{Code: 500}), Checks: none},
			{Name: "closes-and-leaves", Play: leaving(providerCut, fault.Cut{}), Checks: none},
		},
	}
}
