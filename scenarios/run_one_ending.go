package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// runOneEnding: whatever comes together, the client is told one ending. That no request gets two terminal frames is
// also an invariant of every trial; here each variant says which one it must be.
func runOneEnding() harness.Scenario {
	stays := func(steps func(*harness.Trial) []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Steps: steps(t)})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	always := func(steps ...script.Step) func(*harness.Trial) []script.Step {
		return func(*harness.Trial) []script.Step { return steps }
	}
	leaves := func(how caller.Leaving, steps ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Steps: append(steps, fault.Stall{})})
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(providerStall)
			t.Await(clientStatus)
			t.Pass(t.Stage.Tick) // what was sent before is read
			r.Leave(how)
			t.Await(providerLeft)
		}
	}
	said := script.Text{Chunks: []string{"so far"}}
	refused := script.Error{Code: "overloaded", Message: "try again later"}
	stop, length := script.Finish{Reason: "stop"}, script.Finish{Reason: "length"}
	usage := script.Usage{Prompt: 9, Completion: 2}

	check := func(name, noun string, x expect.Expectation) harness.Check {
		return harness.Check{Name: name, Guarantee: "run.one-ending", Noun: noun, Expect: func(harness.At) expect.Expectation { return x }}
	}
	done := check("one-done", "done-frame", expect.Times{What: clientDone, Min: 1, Max: 1})
	failed := []harness.Check{
		check("one-error-frame", "terminal-frame", expect.Times{What: clientError, Min: 1, Max: 1}),
		check("no-finish", "finish-beside-error", expect.Times{What: clientFinish, Max: 0}), done,
	}
	completed := []harness.Check{
		check("one-finish", "terminal-frame", expect.Times{What: clientFinish, Min: 1, Max: 1}),
		check("no-error-frame", "error-beside-finish", expect.Times{What: clientError, Max: 0}), done,
	}
	unseen := []harness.Check{
		check("nothing-sent", "frame-after-leaving", expect.Never{What: expect.Event{Lane: "client"}, After: clientLeft}),
		check("no-ending", "terminal-frame", expect.Times{What: clientDone, Max: 0}),
		{Name: "provider-left", Guarantee: "run.one-ending", Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: providerLeft, After: clientLeft, To: at.Once}
		}},
	}
	quiet := harness.Set{Inactivity: true}
	return harness.Scenario{
		ID:    "run/one-ending",
		Claim: "a run has one terminal frame and one [DONE], whatever comes together, and none when the client has left",
		Needs: []harness.Feature{harness.Streaming, harness.ErrorFrames},
		Variants: append(orchestratedEndings(completed, failed, unseen), []harness.Variant{
			{Name: "error-then-finish", Checks: failed, Reached: []expect.Event{providerError},
				Play: stays(always(said, refused, stop, usage, script.Done{}, script.End{}))},
			// Which of the two is told is the server's choice; the invariant sees to it that not both are.
			{Name: "finish-then-error", Dialects: finishing(), Checks: []harness.Check{done}, Reached: []expect.Event{providerError},
				Play: stays(always(said, stop, refused, script.Done{}, script.End{}))},
			{Name: "second-finish", Dialects: finishing(), Checks: completed, Reached: []expect.Event{nth(providerFinish, 2)},
				Play: stays(always(said, stop, stop, usage, script.Done{}, script.End{}))},
			{Name: "other-finish", Dialects: finishing(), Checks: completed, Reached: []expect.Event{nth(providerFinish, 2)},
				Play: stays(always(said, stop, length, usage, script.Done{}, script.End{}))},
			{Name: "second-done", Dialects: terminated(), Checks: completed, Reached: []expect.Event{providerDone},
				Play: stays(always(said, stop, usage, script.Done{}, script.Done{}, script.End{}))},
			{Name: "text-after-done", Dialects: terminated(), Checks: completed, Reached: []expect.Event{providerDone},
				Play: stays(always(said, stop, usage, script.Done{}, said, stop, script.Done{}, script.End{}))},
			{Name: "answer-after-first-chunk-window", Checks: failed, Play: stays(func(t *harness.Trial) []script.Step {
				return append([]script.Step{script.Headers{}, script.Pause{For: t.Windows.FirstChunk + t.Stage.Tick}}, script.Answer("late").Steps...)
			})},
			{Name: "answer-before-first-chunk-window", Checks: completed, Play: stays(func(t *harness.Trial) []script.Step {
				return append([]script.Step{script.Headers{}, script.Pause{For: t.Windows.FirstChunk - t.Stage.Tick}}, script.Answer("in time").Steps...)
			})},
			{Name: "finish-after-inactivity-window", Set: quiet, Checks: failed, Play: stays(func(t *harness.Trial) []script.Step {
				return []script.Step{said, script.Pause{For: t.Windows.Inactivity + t.Stage.Tick}, stop, usage, script.Done{}, script.End{}}
			})},
			{Name: "finish-before-inactivity-window", Set: quiet, Checks: completed, Play: stays(func(t *harness.Trial) []script.Step {
				return []script.Step{said, script.Pause{For: t.Windows.Inactivity - t.Stage.Tick}, stop, usage, script.Done{}, script.End{}}
			})},
			{Name: "finish-after-stream-window", Checks: failed, Play: stays(func(t *harness.Trial) []script.Step {
				return []script.Step{said, script.Pause{For: t.Windows.Stream + t.Stage.Tick}, stop, usage, script.Done{}, script.End{}}
			})},
			{Name: "finish-before-stream-window", Checks: completed, Play: stays(func(t *harness.Trial) []script.Step {
				return []script.Step{said, script.Pause{For: t.Windows.Stream - t.Stage.Tick}, stop, usage, script.Done{}, script.End{}}
			})},
			{Name: "left-before-headers", Checks: unseen, Play: leaves(caller.Close)},
			{Name: "left-before-text", Checks: unseen, Play: leaves(caller.Reset, script.Headers{})},
			{Name: "left-in-text", Checks: unseen, Play: leaves(caller.Close, said)},
			{Name: "left-after-finish", Dialects: finishing(), Checks: unseen, Play: leaves(caller.Close, said, stop)},
		}...),
	}
}
