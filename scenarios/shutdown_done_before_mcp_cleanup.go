package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownDoneBeforeMCPCleanup: at the drain no client waits for tools.
func shutdownDoneBeforeMCPCleanup() harness.Scenario {
	const id = "shutdown.done-before-mcp-cleanup"
	slowly := func(at harness.At) time.Duration { return at.Shutdown + slowClosing(at.Windows) }
	clean := func(code string) harness.Check {
		return harness.Check{Name: "exit-code", Guarantee: "shutdown.reports-clean", Noun: "exit-code", Expect: shows(expect.Reads{What: exit, Text: code})}
	}
	variant := func(name string, tools func(harness.Windows) mcp.Script, checks ...harness.Check) harness.Variant {
		return harness.Variant{Name: name, Set: harness.Set{Tools: harness.HTTPTools}, Play: shutInTool(true, tools), Checks: checks, Reached: []expect.Event{toolDelete}}
	}
	return harness.Scenario{
		ID:    "shutdown/done-before-mcp-cleanup",
		Claim: "a stream drained in a tool call gets its end at once, whatever its tools are then told and however long that takes",
		Needs: []harness.Feature{harness.Signals, harness.Streaming},
		Alone: true,
		Variants: []harness.Variant{
			variant("slowly-heard", slowlyHeard, exitsAt("mcp.session-closed", slowly, slowly), clean("0")),
			variant("slowly-closed", slowlyClosed, exitsAt("mcp.session-closed", slowly, slowly), clean("0")),
			variant("never-closed", neverClosed, exitsAt("shutdown.exit-not-held", stragglersEnd, abortEnd), clean("1")),
		},
		Checks: []harness.Check{
			{Name: "ends-the-answer", Guarantee: id, Noun: "done", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: clientDone, After: signal, From: at.Shutdown, To: at.Shutdown}
			}},
			draining().cancels("cancel.notifies-tools", harness.HTTPTools),
		},
	}
}
