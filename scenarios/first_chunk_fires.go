package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// firstChunkFires: a model that gives no output is given up when the first-chunk window is over.
func firstChunkFires() harness.Scenario {
	ask := func(t *harness.Trial, steps []script.Step) {
		t.Script(script.Program{Steps: steps})
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
		t.AwaitEnd(r)
		t.Await(providerLeft)
	}
	silent := func(opening ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) { ask(t, append(slices.Clone(opening), fault.Stall{})) }
	}
	late := func(opening ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			pause := script.Pause{For: t.Windows.FirstChunk + t.Stage.Tick}
			ask(t, slices.Concat(opening, []script.Step{pause}, script.Answer("too late").Steps))
		}
	}
	return harness.Scenario{
		ID:    "first-chunk/fires",
		Claim: "a model that sends no output is given up exactly at the end of the first-chunk window",
		Needs: []harness.Feature{harness.Streaming, harness.ErrorFrames},
		Variants: []harness.Variant{
			{Name: "no-headers", Play: silent()},
			{Name: "headers-then-silence", Play: silent(script.Headers{})},
			{Name: "role-then-silence", Play: silent(script.Role{})},
			{Name: "with-all-clocks", Set: harness.Set{Inactivity: true}, Play: silent(script.Headers{})},
			{Name: "answer-a-tick-late", Play: late()},
			{Name: "output-a-tick-late", Play: late(script.Headers{})},
			{Name: "a-tick-late-with-all-clocks", Set: harness.Set{Inactivity: true}, Play: late(script.Headers{})},
		},
		Checks: []harness.Check{
			{Name: "at-the-window", Guarantee: "first-chunk.fires", Noun: "error-frame", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: clientError, After: providerRequest, From: at.FirstChunk, To: at.FirstChunk}
			}},
			{Name: "names-the-clock", Guarantee: "first-chunk.fires", Noun: "clock-named", Expect: func(harness.At) expect.Expectation {
				return expect.Says{What: clientError, Text: "first_chunk_timeout"}
			}},
			{Name: "aborts-the-provider", Guarantee: "first-chunk.fires", Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: providerLeft, After: providerRequest, From: at.FirstChunk, To: at.FirstChunk + at.Once}
			}},
			{Name: "no-late-output", Guarantee: "first-chunk.fires", Noun: "late-text", Expect: func(harness.At) expect.Expectation {
				return expect.Times{What: clientText, Max: 0}
			}},
		},
	}
}
