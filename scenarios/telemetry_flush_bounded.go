package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
	"time"
)

// telemetryFlushBounded: a collector that does not take what it is given does not hold the exit.
func telemetryFlushBounded() harness.Scenario {
	const id = "telemetry.flush-bounded"
	flushed := func(from func(harness.At) time.Duration) []harness.Check {
		return []harness.Check{exitsAt(id, now, func(at harness.At) time.Duration { return from(at) + at.Flush })}
	}
	idle, drained, aborted := flushed(now), flushed(graceEnd), flushed(abortEnd)
	streamed := []harness.Feature{harness.Streaming}
	said := []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}}
	return harness.Scenario{
		ID:    "telemetry/flush-bounded",
		Claim: "a server whose collector does not take its spans exits when the limit of the flush, counted from the end of its shutdown, is over",
		Needs: []harness.Feature{harness.Signals, harness.Telemetry},
		Alone: true, Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "silent", Set: watched, Needs: streamed, Play: collecting(silentCollector, shutIdle), Checks: idle, Reached: []expect.Event{collectorStall}},
			{Name: "slow", Set: watched, Needs: streamed, Play: collecting(slowCollector, shutIdle), Checks: idle, Reached: []expect.Event{collectorRequest}},
			{Name: "overloaded", Set: watched, Needs: streamed, Play: collecting(overloadedCollector, shutIdle), Checks: idle, Reached: []expect.Event{collectorStatus}},
			{Name: "resetting", Set: watched, Needs: streamed, Play: collecting(resettingCollector, shutIdle), Checks: idle, Reached: []expect.Event{collectorReset}},
			{Name: "gone", Set: watched, Needs: streamed, Checks: idle, Reached: []expect.Event{collectorAccepted}, Play: goneCollector(func(t *harness.Trial) {
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
				t.Await(providerStall)
				r.Leave(caller.Close)
				t.Await(providerLeft)
				t.Pass(awhile(t.Windows))
				t.Signal("SIGTERM")
				t.AwaitExit()
			})},
			{Name: "silent-drained", Set: watched, Needs: streamed, Play: collecting(silentCollector, shutSilent("SIGTERM", true, said...)), Checks: drained,
				Reached: []expect.Event{collectorStall}},
			{Name: "silent-aborted", Set: watched, Needs: streamed, Play: collecting(silentCollector, shutUnread), Checks: aborted,
				Reached: []expect.Event{collectorStall}},
		},
	}
}
