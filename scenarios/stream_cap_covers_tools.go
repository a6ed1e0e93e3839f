package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// streamCapCoversTools: a tool's time is the run's time.
func streamCapCoversTools() harness.Scenario {
	const guarantee = "stream-cap.covers-tools"
	play := func(stream, telling bool) func(*harness.Trial) {
		return func(t *harness.Trial) {
			s := toolOf("lookup", forever, "late")
			if telling {
				every := pace(t.Windows.Stream)
				s.Tools[0].Takes, s.Tools[0].Progress = every*(beyond+1), mcp.Progress{Count: beyond, Every: every, Text: "so far"}
			}
			t.Script(calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`)))
			t.Tools(s)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	checks := func(stream bool) []harness.Check {
		out := []harness.Check{
			{Name: "at-the-window", Guarantee: guarantee, Noun: "error-frame", Needs: []harness.Feature{harness.ErrorFrames}, Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: clientError, After: clientAsk, From: at.Stream, To: at.Stream}
			}},
			{Name: "ends-the-answer", Guarantee: guarantee, Noun: "end", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: clientEnd, After: clientAsk, From: at.Stream, To: at.Stream + at.Cleanup + at.Once}
			}},
			{Name: "leaves-the-tool", Guarantee: guarantee, Noun: "tool-call", Expect: func(at harness.At) expect.Expectation {
				return callEnds{"lookup", clientAsk, at.Stream, at.Stream + at.Cleanup + at.Once}
			}},
			{Name: "tells-the-model-nothing", Guarantee: guarantee, Noun: "next-turn", Expect: shows(expect.Times{What: providerRequest, Min: 1, Max: 1})},
			namesClock(guarantee, "stream_timeout"),
		}
		if stream {
			return out
		}
		return append(out, harness.Check{
			Name: "is-a-gateway-timeout", Guarantee: guarantee, Noun: "status", Expect: shows(expect.Says{What: clientStatus, Text: "504 application/json"})})
	}
	streaming, whole := []harness.Feature{harness.Streaming}, []harness.Feature{harness.NonStreaming}
	set := harness.Set{Tools: harness.HTTPTools}
	working := append(overTransports(harness.Variant{Name: "silent", Needs: streaming, Checks: checks(true), Play: play(true, false)}),
		harness.Variant{Name: "telling-progress", Needs: streaming, Set: set, Checks: checks(true), Reached: []expect.Event{toolProgress}, Play: play(true, true)},
		harness.Variant{Name: "whole", Needs: whole, Set: set, Checks: checks(false), Play: play(false, false)},
		harness.Variant{Name: "with-the-inactivity-clock", Needs: streaming, Set: harness.Set{Tools: harness.HTTPTools, Inactivity: true}, Checks: checks(true), Play: play(true, false)},
	)
	for i := range working {
		working[i].Reached = append(working[i].Reached, runsTool("lookup"))
	}
	waiting := bothRoutes(harness.Variant{Name: "waiting", Needs: []harness.Feature{harness.Streaming, harness.Approvals}, Dialects: chat()[:1]}, func(harness.Approving) func(*harness.Trial) {
		return func(t *harness.Trial) { t.AwaitEnd(askedAbout(t, false)) }
	}, func(harness.Approving) []harness.Check {
		return append(slices.DeleteFunc(checks(true), func(c harness.Check) bool { return c.Name == "leaves-the-tool" }), notRun(guarantee))
	})
	return harness.Scenario{
		ID:       "stream-cap/covers-tools",
		Claim:    "a run whose tool is still at work when the stream window is over is ended then, and the tool with it",
		Variants: append(working, waiting...),
	}
}
