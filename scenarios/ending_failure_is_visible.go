package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// endingFailureIsVisible: a run that failed does not look like a short success.
func endingFailureIsVisible() harness.Scenario {
	said := script.Text{Chunks: []string{"so far"}}
	refused := script.Error{Code: "overloaded", Message: "try again later"}
	now := func(harness.Windows) time.Duration { return 0 }
	failures := []struct {
		name   string
		set    harness.Set
		code   string
		status string                              // of a request that does not stream; "" when it cannot fail so
		window func(harness.Windows) time.Duration // when it fails
		steps  []script.Step
	}{
		{name: "refused", code: "provider_error", status: "502 ", window: now, steps: []script.Step{fault.Status{Code: 500}}},
		{name: "rate-limited", code: "provider_error", status: "502 ", window: now, steps: []script.Step{fault.Status{Code: 429}}},
		{name: "error-frame", code: "provider_error", status: "502 ", window: now, steps: []script.Step{refused, script.End{}}},
		{name: "error-frame-in-text", code: "provider_error", status: "502 ", window: now, steps: []script.Step{said, refused, script.End{}}},
		{name: "cut-in-text", code: "provider_truncated", status: "502 ", window: now, steps: []script.Step{said, fault.Cut{}}},
		{name: "reset-in-text", code: "provider_truncated", status: "502 ", window: now, steps: []script.Step{said, fault.Reset{}}},
		{name: "ended-in-text", code: "provider_truncated", status: "502 ", window: now, steps: []script.Step{script.Headers{}, said, script.End{}}},
		{name: "no-headers", code: "first_chunk_timeout", window: func(w harness.Windows) time.Duration { return w.FirstChunk }, steps: []script.Step{fault.Stall{}}},
		{name: "silent-in-text", set: harness.Set{Inactivity: true}, code: "stream_inactivity_timeout", window: func(w harness.Windows) time.Duration { return w.Inactivity }, steps: []script.Step{said, fault.Stall{}}},
		{name: "stream-cap", code: "stream_timeout", status: "504 ", window: func(w harness.Windows) time.Duration { return w.Stream }, steps: []script.Step{said, fault.Stall{}}},
	}
	check := func(name, noun string, x func(harness.At) expect.Expectation) harness.Check {
		return harness.Check{Name: name, Guarantee: "ending.failure-is-visible", Noun: noun, Expect: x}
	}
	var variants []harness.Variant
	for _, f := range failures {
		ask := func(stream bool) func(*harness.Trial) {
			return func(t *harness.Trial) {
				t.Script(script.Program{Steps: f.steps})
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
			}
		}
		named := check("names-the-failure", "error-code", shows(expect.Says{What: clientError, Text: f.code}))
		named.Needs = []harness.Feature{harness.ErrorFrames}
		inTime := check("when-it-fails", "error-delay", func(at harness.At) expect.Expectation {
			return expect.Happens{What: clientError, After: providerRequest, From: f.window(at.Windows), To: f.window(at.Windows) + at.Once}
		})
		variants = append(variants, harness.Variant{Name: f.name, Set: f.set, Needs: []harness.Feature{harness.Streaming}, Play: ask(true), Checks: []harness.Check{
			named, inTime,
			check("ends-properly", "end", shows(expect.InOrder{clientStatus, clientError, clientDone, saying(clientEnd, "complete")})),
		}})
		if f.status != "" {
			variants = append(variants, harness.Variant{Name: f.name + "-whole", Set: f.set, Needs: []harness.Feature{harness.NonStreaming}, Play: ask(false), Checks: []harness.Check{
				named, inTime,
				check("status", "status", shows(expect.Says{What: clientStatus, Text: f.status + "application/json"})),
				check("no-text", "text", shows(expect.Times{What: clientText, Max: 0})),
			}})
		}
	}
	// The model never comes to an end: how many turns it gets is the server's own setting.
	tools := harness.Set{Tools: harness.HTTPTools}
	again := func(stream bool) func(*harness.Trial) {
		return func(t *harness.Trial) {
			p := calling(script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`))
			p.Times = script.Any
			t.Script(p)
			t.Tools(toolOf("lookup", t.Windows.Heartbeat/7, "rain"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	endless := []harness.Check{
		check("names-the-failure", "error-code", shows(expect.Says{What: clientError, Text: "max_turns"})),
		check("when-it-fails", "error-delay", func(at harness.At) expect.Expectation {
			return expect.Happens{What: clientError, After: nth(providerRequest, -1), To: at.Once}
		}),
	}
	endless[0].Needs = []harness.Feature{harness.ErrorFrames}
	variants = append(variants,
		harness.Variant{Name: "out-of-turns", Set: tools, Dialects: chat()[:1], Needs: []harness.Feature{harness.Streaming}, Play: again(true), Reached: []expect.Event{toolResult},
			Checks: append(endless[:2:2], check("ends-properly", "end", shows(expect.InOrder{clientStatus, clientError, clientDone, saying(clientEnd, "complete")})))},
		harness.Variant{Name: "out-of-turns-whole", Set: tools, Dialects: chat()[:1], Needs: []harness.Feature{harness.NonStreaming}, Play: again(false), Reached: []expect.Event{toolResult},
			Checks: append(endless[:2:2], check("status", "status", shows(expect.Says{What: clientStatus, Text: "500 application/json"})))})
	return harness.Scenario{
		ID:       "ending/failure-is-visible",
		Claim:    "a run that failed ends with one error that has a code, when it fails, and with no ordinary finish",
		Variants: variants,
		Checks: []harness.Check{
			check("one-error", "error-frame", shows(expect.Times{What: clientError, Min: 1, Max: 1})),
			check("no-ordinary-finish", "finish", shows(expect.Times{What: clientFinish, Max: 0})),
		},
	}
}
