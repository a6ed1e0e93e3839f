package scenarios

import (
	"strconv"

	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// manyEnded is how many runs end just before an exit.
const manyEnded = 30

// shutBehindMany has the server go the moment that many runs have ended, all at once.
func shutBehindMany(t *harness.Trial) {
	p := proper(script.Role{}, script.Text{Chunks: []string{"one "}}, script.Await{Gate: "end"}, script.Text{Chunks: []string{"two"}})
	p.Times = manyEnded
	t.Script(p)
	var asked []*caller.Request
	for i := range manyEnded {
		asked = append(asked, t.Ask(caller.Ask{Name: "run-" + strconv.Itoa(i+1), Prompt: "hello", Stream: true}))
	}
	t.Await(nth(providerAwait, manyEnded))
	t.Open("end")
	for _, r := range asked {
		t.AwaitEnd(r)
	}
	t.Signal("SIGTERM")
	t.AwaitExit()
}

// telemetryFlushedAtExit: what waits for the next batch does not wait for ever.
func telemetryFlushedAtExit() harness.Scenario {
	const id = "telemetry.flushed-at-exit"
	said := []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}}
	streamed, whole := []harness.Feature{harness.Streaming}, []harness.Feature{harness.NonStreaming}
	return harness.Scenario{
		ID:    "telemetry/flushed-at-exit",
		Claim: "the span of a run that ended just before the exit has been taken by the collector when the process is gone",
		Needs: []harness.Feature{harness.Signals, harness.Telemetry},
		Alone: true, Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "just-ended", Set: watched, Play: shutIdle, Needs: streamed},
			{Name: "in-grace", Set: watched, Play: shutFinishing("SIGTERM", true, said...), Needs: streamed},
			{Name: "drained", Set: watched, Play: shutSilent("SIGTERM", true, said...), Needs: streamed},
			{Name: "drained-whole", Set: watched, Play: shutSilent("SIGTERM", false, said...), Needs: whole},
			{Name: "slow-collector", Set: watched, Needs: streamed, Play: collecting(func(w harness.Windows) collector.Script {
				return always(script.Pause{For: w.Flush / 2})
			}, shutIdle)},
			{Name: "many", Set: watched, Needs: streamed, Checks: []harness.Check{
				{Name: "exports-each-run", Guarantee: id, Noun: "run-spans", Expect: shows(expect.Times{What: runSpan, Min: manyEnded, Max: 2 * manyEnded})},
			}, Play: collecting(func(w harness.Windows) collector.Script {
				return always(script.Pause{For: w.Flush / 7})
			}, shutBehindMany)},
			// What a tool answers must not make the export larger than collectors take.
			{Name: "after-a-large-result", Set: harness.Set{Tools: harness.HTTPTools, Telemetry: true}, Needs: streamed, Reached: []expect.Event{toolResult},
				Play: collecting(func(harness.Windows) collector.Script { return collector.Script{MaxBody: 4 << 20} }, func(t *harness.Trial) {
					t.Script(lookingUp(t, "call_1")...)
					t.Tools(mcp.Script{Tools: []mcp.Tool{{Name: "lookup", Result: mcp.Result{Size: 5 << 20}}}})
					t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
					t.Signal("SIGTERM")
					t.AwaitExit()
				})},
		},
		Checks: exportedBeforeExit(id),
	}
}
