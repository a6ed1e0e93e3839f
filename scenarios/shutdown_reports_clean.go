package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownReportsClean: what the server says of its end agrees with what was seen of it.
func shutdownReportsClean() harness.Scenario {
	const id = "shutdown.reports-clean"
	said := []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}}
	says := func(clean, code string) []harness.Check {
		return []harness.Check{
			{Name: "says-so", Guarantee: id, Noun: "clean-shutdown", Expect: shows(expect.Says{What: saying(serverLog, "shutdown complete"), Text: "clean_shutdown=" + clean})},
			{Name: "exit-code", Guarantee: id, Noun: "exit-code", Expect: shows(expect.Reads{What: exit, Text: code})},
		}
	}
	clean, aborted := says("true", "0"), says("false", "1")
	streamed, whole := []harness.Feature{harness.Streaming}, []harness.Feature{harness.NonStreaming}
	return harness.Scenario{
		ID:    "shutdown/reports-clean",
		Claim: "the last line and the exit code say whether a run had to be aborted",
		Needs: []harness.Feature{harness.Signals, harness.LogFields},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "idle", Play: shutIdle, Checks: clean, Needs: streamed},
			{Name: "finished", Play: shutFinishing("SIGTERM", true, said...), Checks: clean, Needs: streamed},
			{Name: "finished-whole", Play: shutFinishing("SIGTERM", false, said...), Checks: clean, Needs: whole},
			{Name: "drained", Play: shutSilent("SIGTERM", true, said...), Checks: clean, Needs: streamed},
			{Name: "drained-whole", Play: shutSilent("SIGTERM", false, said...), Checks: clean, Needs: whole},
			{Name: "unread", Play: shutUnread, Checks: aborted, Needs: streamed},
			{Name: "second-signal", Play: shutTwice("SIGTERM", "SIGTERM", true), Checks: aborted, Needs: streamed},
			{Name: "deaf", Play: shutDeaf(true), Checks: aborted, Needs: []harness.Feature{harness.Streaming, harness.FaultHooks}},
		},
		Checks: []harness.Check{
			{Name: "says-it-once", Guarantee: id, Noun: "log-line", Expect: shows(expect.Times{What: saying(serverLog, "shutdown complete"), Min: 1, Max: 1})},
		},
	}
}
