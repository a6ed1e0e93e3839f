package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// telemetryCollectorDelaysNothing: an export that gets nowhere is nobody's business but the exporter's.
func telemetryCollectorDelaysNothing() harness.Scenario {
	const id = "telemetry.collector-delays-nothing"
	// One run ends while an export hangs, and another is drained.
	twoMore := func(t *harness.Trial) {
		t.AwaitEnd(t.Ask(caller.Ask{Name: "next", Prompt: "hello", Stream: true}))
		r := t.Ask(caller.Ask{Name: "drained", Prompt: "hello", Stream: true})
		t.Await(providerStall)
		t.Pass(awhile(t.Windows))
		t.Signal("SIGTERM")
		t.AwaitEnd(r)
		t.AwaitExit()
	}
	hanging := func(hangs expect.Event) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Answer("one ", "two"), script.Answer("one ", "two"), silent(script.Role{}, script.Text{Chunks: []string{"one "}}))
			t.AwaitEnd(t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true}))
			t.Await(hangs)
			twoMore(t)
		}
	}
	atOnce := func(name, noun string, what, after expect.Event) harness.Check {
		return harness.Check{Name: name, Guarantee: id, Noun: noun, Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: what, After: after, To: at.Once}
		}}
	}
	return harness.Scenario{
		ID:    "telemetry/collector-delays-nothing",
		Claim: "while an export gets nowhere, a run begins, ends and is drained at the instants at which it would be without a collector",
		Needs: []harness.Feature{harness.Signals, harness.Telemetry, harness.Streaming},
		Alone: true, Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "silent", Set: watched, Play: collecting(silentCollector, hanging(collectorStall)), Reached: []expect.Event{collectorStall}},
			{Name: "slow", Set: watched, Play: collecting(slowCollector, hanging(collectorRequest)), Reached: []expect.Event{collectorRequest}},
			{Name: "overloaded", Set: watched, Play: collecting(overloadedCollector, hanging(collectorStatus)), Reached: []expect.Event{collectorStatus}},
			{Name: "gone", Set: watched, Play: goneCollector(twoMore), Reached: []expect.Event{collectorAccepted}},
		},
		Checks: []harness.Check{
			atOnce("begins", "status", of(clientStatus, "next"), of(clientAsk, "next")),
			atOnce("asks-the-model", "provider-request", of(providerRequest, "#2"), of(clientAsk, "next")),
			atOnce("ends", "done", of(clientDone, "next"), of(providerDone, "#2")),
			{Name: "drains", Guarantee: id, Noun: "drain", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: of(clientDone, "drained"), After: signal, From: at.Shutdown, To: at.Shutdown + soon(at)}
			}},
		},
	}
}
