package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownExitNotHeld: a run that nothing can stop does not stop the server from going.
func shutdownExitNotHeld() harness.Scenario {
	const id = "shutdown.exit-not-held"
	streamed := []harness.Feature{harness.Streaming}
	drained := []harness.Check{{Name: "ends-the-answer", Guarantee: "shutdown.drains-after-grace", Noun: "done", Expect: func(at harness.At) expect.Expectation {
		return expect.Happens{What: clientDone, After: signal, From: at.Shutdown, To: at.Shutdown}
	}}}
	refused := []harness.Check{{Name: "gets-503", Guarantee: "shutdown.non-streaming-drained", Noun: "status", Expect: func(at harness.At) expect.Expectation {
		return expect.Happens{What: saying(clientStatus, "503 application/json"), After: signal, From: at.Shutdown, To: at.Shutdown}
	}}}
	// The clean-up of a run's tools goes on until phase 3 cuts it off, that of a pool until its own time is over.
	cleanupEnd := func(at harness.At) time.Duration { return at.Cleanup }
	hooked := func(f harness.Feature) []harness.Feature { return []harness.Feature{harness.FaultHooks, f} }
	held := []harness.Check{exitsAt(id, stragglersEnd, abortEnd)}
	http := harness.Set{Tools: harness.HTTPTools}
	return harness.Scenario{
		ID:    "shutdown/exit-not-held",
		Claim: "a run deaf to its cancellation, or tools that do not let go, hold the exit for the abort window after the stragglers' time, and no longer",
		Needs: []harness.Feature{harness.Signals},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "streamed", Play: shutDeaf(true), Checks: slices.Concat(held, drained), Needs: hooked(harness.Streaming)},
			{Name: "whole", Play: shutDeaf(false), Checks: slices.Concat(held, refused), Needs: hooked(harness.NonStreaming)},
			{Name: "no-grace", Set: harness.Set{NoGrace: true}, Play: shutDeaf(true), Checks: slices.Concat(held, drained), Needs: hooked(harness.Streaming)},
			{Name: "tools-never-closed", Set: http, Play: shutInTool(true, neverClosed), Checks: slices.Concat(held, drained), Needs: streamed},
			{Name: "tools-never-closed-whole", Set: http, Play: shutInTool(false, neverClosed), Checks: slices.Concat(held, refused), Needs: []harness.Feature{harness.NonStreaming}},
			{Name: "pool-never-closed", Set: http, Needs: streamed, Checks: []harness.Check{exitsAt(id, now, cleanupEnd)}, Play: func(t *harness.Trial) {
				t.Tools(neverClosed(t.Windows))
				shutIdle(t)
			}},
		},
	}
}
