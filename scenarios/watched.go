package scenarios

import (
	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// The span of a run is one without a parent, whatever a server calls it; it may have more of them.
var (
	runSpan       = saying(collectorSpan, "parent=- ")
	failedRunSpan = saying(collectorSpan, "parent=- status=error")
)

// watched is a server that exports its spans to the fake collector.
var watched = harness.Set{Telemetry: true}

// always is a collector that does the same with every export.
func always(steps ...script.Step) collector.Script {
	return collector.Script{Programs: []collector.Program{{Times: script.Any, Steps: steps}}}
}

// collecting has the collector do so with every export while the trial plays the rest.
func collecting(c func(harness.Windows) collector.Script, play func(*harness.Trial)) func(*harness.Trial) {
	return func(t *harness.Trial) {
		t.Collector(c(t.Windows))
		play(t)
	}
}

func silentCollector(harness.Windows) collector.Script { return always(fault.Stall{}) }

// slowCollector answers well, but later than any server waits for it at its exit.
func slowCollector(w harness.Windows) collector.Script { return always(script.Pause{For: 2 * w.Flush}) }

// overloadedCollector wants to be asked again, and much later.
func overloadedCollector(harness.Windows) collector.Script {
	return always(fault.Status{Code: 503, Header: map[string]string{"Retry-After": "60"}})
}

func resettingCollector(harness.Windows) collector.Script { return always(fault.Reset{}) }

// goneCollector plays the rest with no collector any more: it has taken the spans of one run, which shows that the server exports at all.
func goneCollector(play func(*harness.Trial)) func(*harness.Trial) {
	return func(t *harness.Trial) {
		t.Script(script.Answer("one ", "two"), script.Answer("one ", "two"), silent(script.Role{}, script.Text{Chunks: []string{"one "}}))
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		t.Await(collectorAccepted)
		t.CloseCollector()
		play(t)
	}
}

// exportedBeforeExit are the checks that the span of a run has come to the collector, and was taken, before the server is gone.
func exportedBeforeExit(guarantee string) []harness.Check {
	return []harness.Check{
		{Name: "exports-the-run", Guarantee: guarantee, Noun: "run-span", Expect: shows(expect.InOrder{runSpan, nth(collectorAccepted, -1), exit})},
	}
}
