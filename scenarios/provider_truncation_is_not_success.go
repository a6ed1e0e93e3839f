package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerTruncationIsNotSuccess: an answer that breaks off is a failed run, wherever and however it breaks off.
func providerTruncationIsNotSuccess() harness.Scenario {
	broken := func(stream bool, sent, how []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			// The pause keeps a reset from taking the output before it away. Before output a server may ask again.
			steps := slices.Concat(sent, []script.Step{script.Pause{For: t.Stage.Tick}}, how)
			t.Script(script.Program{Times: script.Any, Steps: steps})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	// The code is that of a server that tells a broken answer from an error; a broken connection may be either when
	// nothing of the answer had come.
	variant := func(name, code string, at expect.Event, stream bool, sent []script.Step, how ...script.Step) harness.Variant {
		v := harness.Variant{
			Name: name, Play: broken(stream, sent, how), Needs: []harness.Feature{harness.Streaming}, Reached: []expect.Event{at},
			Checks: []harness.Check{
				{Name: "says-so", Guarantee: "provider.truncation-is-not-success", Noun: "error-code", Needs: []harness.Feature{harness.ErrorFrames},
					Expect: shows(expect.Says{What: clientError, Text: code})},
				{Name: "at-once", Guarantee: "provider.truncation-is-not-success", Noun: "error", Needs: []harness.Feature{harness.ErrorFrames},
					Expect: func(a harness.At) expect.Expectation {
						return expect.Happens{What: clientError, After: nth(at, -1), To: a.Once}
					}},
			},
		}
		if !stream {
			v.Needs = []harness.Feature{harness.NonStreaming}
		}
		return v
	}
	// noFinish is for answers in which the model has not said that it is done: then nobody else may.
	noFinish := func(v harness.Variant) harness.Variant {
		v.Checks = append(v.Checks, harness.Check{Name: "no-success", Guarantee: "provider.truncation-is-not-success", Noun: "finish",
			Expect: shows(expect.Never{What: saying(clientFinish, "stop")})})
		return v
	}
	on := func(dialects []string, v harness.Variant) harness.Variant {
		v.Dialects = dialects
		return v
	}
	none := []script.Step{}
	opened := []script.Step{script.Headers{}, script.Role{}}
	said := []script.Step{script.Headers{}, script.Role{}, script.Text{Chunks: []string{"one ", "two "}}}
	thought := []script.Step{script.Headers{}, script.Role{}, script.Think{Chunks: []string{"well, "}}}
	called := []script.Step{script.Headers{}, script.Role{}, script.Tool{ID: "call_1", Name: "lookup", Args: []string{`{"city":`}}}
	whole := []script.Step{script.Headers{}, script.Role{}, script.Tool{ID: "call_1", Name: "lookup", Args: []string{`{"city":"Oslo"}`}}}
	half := append(slices.Clone(said), script.Raw{Bytes: `data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"thr`})
	finished := append(slices.Clone(said), script.Finish{Reason: "stop"})
	return harness.Scenario{
		ID:    "provider/truncation-is-not-success",
		Claim: "an answer of a model that breaks off before its end fails the run at once",
		Variants: []harness.Variant{
			noFinish(variant("cut-before-headers", "provider_", providerCut, true, none, fault.Cut{})),
			noFinish(variant("cut-before-the-first-item", "provider_", providerCut, true, opened, fault.Cut{})),
			noFinish(variant("cut-in-text", "provider_truncated", providerCut, true, said, fault.Cut{})),
			noFinish(variant("cut-in-reasoning", "provider_truncated", providerCut, true, thought, fault.Cut{})),
			noFinish(on(inPieces(), variant("cut-in-arguments", "provider_truncated", providerCut, true, called, fault.Cut{}))),
			noFinish(variant("cut-in-a-frame", "provider_truncated", providerCut, true, half, fault.Cut{})),
			on(finishing(), variant("cut-after-finish", "provider_truncated", providerCut, true, finished, fault.Cut{})),
			noFinish(variant("reset-before-headers", "provider_", providerReset, true, none, fault.Reset{})),
			noFinish(variant("reset-in-text", "provider_truncated", providerReset, true, said, fault.Reset{})),
			on(finishing(), variant("reset-after-finish", "provider_truncated", providerReset, true, finished, fault.Reset{})),
			noFinish(variant("half-close-in-text", "provider_truncated", providerHalfClose, true, said, fault.HalfClose{})),
			noFinish(variant("end-before-the-first-item", "provider_", providerEnd, true, opened, script.End{})),
			noFinish(variant("end-in-text", "provider_truncated", providerEnd, true, said, script.End{})),
			noFinish(variant("end-in-reasoning", "provider_truncated", providerEnd, true, thought, script.End{})),
			noFinish(on(inPieces(), variant("end-in-arguments", "provider_truncated", providerEnd, true, called, script.End{}))),
			noFinish(on(inPieces(), variant("end-behind-a-call", "provider_truncated", providerEnd, true, whole, script.End{}))),
			noFinish(variant("end-in-a-frame", "provider_truncated", providerEnd, true, half, script.End{})),
			noFinish(variant("cut-before-headers-whole", "provider_", providerCut, false, none, fault.Cut{})),
			noFinish(variant("cut-in-text-whole", "provider_truncated", providerCut, false, said, fault.Cut{})),
			noFinish(on(inPieces(), variant("end-in-arguments-whole", "provider_truncated", providerEnd, false, called, script.End{}))),
			noFinish(variant("reset-in-text-whole", "provider_truncated", providerReset, false, said, fault.Reset{})),
			on(finishing(), variant("cut-after-finish-whole", "provider_truncated", providerCut, false, finished, fault.Cut{})),
		},
		Checks: []harness.Check{
			{Name: "looks-failed", Guarantee: "provider.truncation-is-not-success", Noun: "answer", Expect: shows(failsVisibly{})},
		},
	}
}
