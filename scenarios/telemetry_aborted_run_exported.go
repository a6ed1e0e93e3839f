package scenarios

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// telemetryAbortedRunExported: the runs that went wrong are not the ones that are missing.
func telemetryAbortedRunExported() harness.Scenario {
	const id = "telemetry.aborted-run-exported"
	streamed := []harness.Feature{harness.Streaming}
	tools := harness.Set{Tools: harness.HTTPTools, Telemetry: true}
	return harness.Scenario{
		ID:    "telemetry/aborted-run-exported",
		Claim: "the span of a run that is cut off in the last phase of a shutdown has been taken by the collector when the process is gone",
		Needs: []harness.Feature{harness.Signals, harness.Telemetry},
		Alone: true, Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "unread", Set: watched, Play: shutUnread, Needs: streamed, Checks: []harness.Check{cutOff(id)}},
			{Name: "second-signal", Set: watched, Play: shutTwice("SIGTERM", "SIGTERM", true), Needs: streamed},
			{Name: "in-tool", Set: tools, Play: shutInTool(true, neverClosed), Needs: streamed},
			{Name: "deaf", Set: watched, Play: shutDeaf(true), Needs: []harness.Feature{harness.Streaming, harness.FaultHooks}},
		},
		Checks: exportedBeforeExit(id),
	}
}

// cutOff is the check that the run was aborted at all, and its client with it.
func cutOff(guarantee string) harness.Check {
	return harness.Check{Name: "aborts-it", Guarantee: guarantee, Noun: "end", Expect: shows(expect.Times{What: saying(of(clientEnd, "#1"), "cut"), Min: 1, Max: 1})}
}
