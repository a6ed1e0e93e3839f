package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownWithEverythingInFlight: a shutdown has one course, whatever is under way at once.
func shutdownWithEverythingInFlight() harness.Scenario {
	ends := func(guarantee, ref string) harness.Check {
		return harness.Check{Name: "ends-" + ref, Guarantee: guarantee, Noun: "done", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: of(clientDone, ref), After: signal, From: at.Shutdown, To: at.Shutdown}
		}}
	}
	at := func(name, guarantee, noun string, what expect.Event, from, to func(harness.At) time.Duration) harness.Check {
		return happens(name, guarantee, noun, what, signal, from, to)
	}
	drained := func(at harness.At) time.Duration { return at.Shutdown + soon(at) }
	reports := func(clean, code string) []harness.Check {
		return []harness.Check{
			{Name: "says-so", Guarantee: "shutdown.reports-clean", Noun: "clean-shutdown", Needs: []harness.Feature{harness.LogFields},
				Expect: shows(expect.Says{What: saying(serverLog, "shutdown complete"), Text: "clean_shutdown=" + clean})},
			{Name: "exit-code", Guarantee: "shutdown.reports-clean", Noun: "exit-code", Expect: shows(expect.Reads{What: exit, Text: code})},
		}
	}
	spans := func(n int) harness.Check {
		return harness.Check{Name: "exports-each-run", Guarantee: "telemetry.aborted-run-exported", Noun: "run-span", Expect: shows(expect.Times{What: runSpan, Min: n, Max: n})}
	}
	return harness.Scenario{
		ID:    "shutdown/with-everything-in-flight",
		Claim: "streams, whole answers, tool calls, approvals, workers and a reader that does not read, all at once: each gets its end at the drain, and the exit is held by none",
		Needs: []harness.Feature{harness.Signals, harness.Streaming, harness.NonStreaming, harness.Telemetry},
		Alone: true, Dialects: chat()[:1],
		Variants: []harness.Variant{
			{
				Name: "of-one-agent", Needs: []harness.Feature{harness.Approvals}, Play: shutWithEverything,
				Set:     harness.Set{Tools: harness.HTTPTools, Approval: harness.Webhook, Telemetry: true},
				Reached: []expect.Event{toolDelete, approverStall},
				Checks: slices.Concat(reports("false", "1"), []harness.Check{
					ends("shutdown.drains-after-grace", "talker"), ends("shutdown.done-before-mcp-cleanup", "caller"), ends("shutdown.drains-after-grace", "booker"),
					at("refuses-the-late", "shutdown.refuses-new", "status", saying(of(clientStatus, "late"), "503"), now, func(at harness.At) time.Duration { return awhile(at.Windows) + soon(at) }),
					at("answers-the-whole", "shutdown.non-streaming-drained", "status", saying(of(clientStatus, "whole"), "503 application/json"), graceEnd, graceEnd),
					at("lets-the-webhook-go", "approval.cancelled-with-run", "webhook-left", approverLeft, graceEnd, drained),
					draining().cancels("cancel.notifies-tools", harness.HTTPTools),
					{Name: "cuts-the-reader", Guarantee: "shutdown.aborts-stragglers", Noun: "end", Expect: shows(expect.Times{What: saying(of(clientEnd, "reader"), "cut"), Min: 1, Max: 1})},
					exitsAt("shutdown.exit-not-held", stragglersEnd, abortEnd), notRun("approval.cancelled-with-run"), spans(5),
				}),
			},
			{
				Name: "of-workers", Needs: []harness.Feature{harness.Orchestration, harness.Approvals, harness.CustomEvents}, Play: shutWithWorkers,
				Set:     harness.Set{Tools: harness.HTTPTools, Approval: harness.Webhook, Orchestrated: true, Telemetry: true},
				Reached: []expect.Event{toolRequest, approverStall, nth(providerStall, 2)},
				Checks: slices.Concat(reports("true", "0"), []harness.Check{
					ends("shutdown.drains-after-grace", "planner"), ends("shutdown.drains-after-grace", "thinker"), ends("shutdown.drains-after-grace", "booker"),
					at("lets-the-webhook-go", "approval.cancelled-with-run", "webhook-left", approverLeft, graceEnd, drained),
					draining().cancels("orchestrate.cancel-reaches-workers", harness.HTTPTools),
					exitsAt("shutdown.drains-after-grace", graceEnd, graceEnd), notRun("approval.cancelled-with-run"), spans(3),
				}),
			},
		},
	}
}

// shutWithEverything has the server go with five runs under way: a client that reads nothing, one that reads, one that waits for the whole,
// one whose tool never answers and whose session never closes, and one whose approval never comes.
func shutWithEverything(t *harness.Trial) {
	words := []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}}
	t.Script(slices.Concat(
		forOnly("reader", proper(script.Role{}, flood(t.Stage))), forOnly("talker", silent(words...)), forOnly("whole", silent(words...)),
		forOnly("caller", calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))),
		forOnly("booker", calling(script.Role{}, t.ToolCall("call_2", "book", `{"city":"Oslo"}`))),
	)...)
	tools := toolOf("lookup", forever, "late")
	tools.Manners.Delete = mcp.DeleteHangs
	t.Tools(tools)
	t.Approver(approver.Program{Steps: []script.Step{fault.Stall{}}})
	unread := askFor("reader", true)
	unread.Hold = true
	reader := t.Ask(unread)
	stuck(t)
	all := []*caller.Request{reader, t.Ask(askFor("talker", true)), t.Ask(askFor("whole", false)), t.Ask(askFor("caller", true)), t.Ask(askFor("booker", true))}
	t.Await(nth(providerStall, 2))
	t.Await(toolRequest)
	t.Await(approverStall)
	t.Pass(awhile(t.Windows))
	t.Signal("SIGTERM")
	t.Pass(awhile(t.Windows))
	all = append(all, t.Ask(askFor("late", true)))
	t.AwaitExit()
	reader.Read()
	for _, r := range all {
		t.AwaitEnd(r)
	}
}

// shutWithWorkers has it go with three orchestrated runs under way: one with a worker in a tool and another that is silent, one whose
// coordinator thinks, and one with a worker whose call waits for an approval.
func shutWithWorkers(t *harness.Trial) {
	does := func(worker, name string) planStep {
		return planStep{Type: "task", Task: t.Marked("what " + worker + " does for-" + name), Worker: worker}
	}
	t.Script(slices.Concat(
		forOnly("planner", plans(sideBySide(does(alpha, "planner"), does(beta, "planner"))),
			by(alpha, calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))), by(beta, silent(script.Role{}, script.Text{Chunks: []string{"so "}}))),
		forOnly("thinker", by(leader, silent(script.Role{}, script.Text{Chunks: []string{"well "}}))),
		forOnly("booker", plans(does(alpha, "booker")), by(alpha, calling(script.Role{}, t.ToolCall("call_2", "book", `{"city":"Oslo"}`)))),
	)...)
	t.Tools(toolOf("lookup", forever, "late"))
	t.Approver(approver.Program{Steps: []script.Step{fault.Stall{}}})
	var all []*caller.Request
	for _, name := range []string{"planner", "thinker", "booker"} {
		all = append(all, t.Ask(askFor(name, true)))
	}
	t.Await(nth(providerStall, 2))
	t.Await(toolRequest)
	t.Await(approverStall)
	t.Pass(awhile(t.Windows))
	t.Signal("SIGTERM")
	t.AwaitExit()
	for _, r := range all {
		t.AwaitEnd(r)
	}
}
