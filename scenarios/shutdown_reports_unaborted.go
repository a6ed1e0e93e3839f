package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownReportsUnaborted: the last line says whether something was still going when the server went.
func shutdownReportsUnaborted() harness.Scenario {
	const id = "shutdown.reports-unaborted"
	said := []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}}
	says := func(unaborted string, exits harness.Check) []harness.Check {
		return []harness.Check{exits, {Name: "says-so", Guarantee: id, Noun: "unaborted-tasks",
			Expect: shows(expect.Says{What: saying(serverLog, "shutdown complete"), Text: "unaborted_tasks=" + unaborted})}}
	}
	streamed := []harness.Feature{harness.Streaming}
	return harness.Scenario{
		ID:    "shutdown/reports-unaborted",
		Claim: "the last line says that tasks were left exactly when the abort took the whole abort window",
		Needs: []harness.Feature{harness.Signals, harness.LogFields},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "idle", Play: shutIdle, Checks: says("false", exitsAt(id, now, now)), Needs: streamed},
			{Name: "drained", Play: shutSilent("SIGTERM", true, said...), Checks: says("false", exitsAt(id, graceEnd, graceEnd)), Needs: streamed},
			// An abort that finishes does so at once: there is nothing to wait for when the connection is cut.
			{Name: "unread", Play: shutUnread, Checks: says("false", exitsAt(id, stragglersEnd, stragglersEnd)), Needs: streamed},
			{Name: "deaf", Play: shutDeaf(true), Checks: says("true", exitsAt(id, abortEnd, abortEnd)), Needs: []harness.Feature{harness.Streaming, harness.FaultHooks}},
			{Name: "deaf-whole", Play: shutDeaf(false), Checks: says("true", exitsAt(id, abortEnd, abortEnd)), Needs: []harness.Feature{harness.NonStreaming, harness.FaultHooks}},
		},
	}
}
