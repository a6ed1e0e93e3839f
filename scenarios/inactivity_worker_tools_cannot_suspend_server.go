package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// inactivityWorkerToolsCannotSuspendServer: the server's window is the outer one, and a worker's silent tool does not stop it.
func inactivityWorkerToolsCannotSuspendServer() harness.Scenario {
	const id = "inactivity.worker-tools-cannot-suspend-server"
	set := harness.Set{Orchestrated: true, Inactivity: true, Tools: harness.HTTPTools}
	inner := set
	inner.TaskInactivity = true // it is suspended, the other is not
	lookup := func(t *harness.Trial) script.Program {
		return by(alpha, calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`)))
	}
	play := func(t *harness.Trial) {
		t.Script(plans(task(t, alpha)), lookup(t))
		t.Tools(toolOf("lookup", forever, "late"))
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
	}
	return harness.Scenario{
		ID:       "inactivity/worker-tools-cannot-suspend-server",
		Claim:    "a worker's tool that says nothing for the server's inactivity window ends the run, as that window's timeout",
		Needs:    orchestrated(),
		Dialects: chat()[:1],
		Variants: []harness.Variant{
			{Name: "alone", Set: set, Play: play},
			{Name: "with-the-inner-window", Set: inner, Play: play},
		},
		Reached: []expect.Event{toolRequest},
		Checks: []harness.Check{
			{Name: "at-the-window", Guarantee: id, Noun: "error-frame", Needs: []harness.Feature{harness.ErrorFrames}, Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: clientError, After: toolRequest, From: at.Inactivity, To: at.Inactivity}
			}},
			{Name: "cancels-the-call", Guarantee: id, Noun: "cancellation", Expect: func(at harness.At) expect.Expectation {
				return cancelsEach{over: toolRequest, from: at.Inactivity, to: at.Inactivity + at.Once}
			}},
			namesClock(id, "stream_inactivity_timeout"),
		},
	}
}
