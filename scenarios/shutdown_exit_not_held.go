package scenarios

import (
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
	return harness.Scenario{
		ID:    "shutdown/exit-not-held",
		Claim: "a run deaf to its cancellation holds the exit for the abort window after the stragglers' time, and no longer",
		Needs: []harness.Feature{harness.Signals, harness.FaultHooks},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "streamed", Play: shutDeaf(true), Checks: drained, Needs: streamed},
			{Name: "whole", Play: shutDeaf(false), Checks: refused, Needs: []harness.Feature{harness.NonStreaming}},
			{Name: "no-grace", Set: harness.Set{NoGrace: true}, Play: shutDeaf(true), Checks: drained, Needs: streamed},
		},
		Checks: []harness.Check{exitsAt(id, stragglersEnd, abortEnd)},
	}
}
