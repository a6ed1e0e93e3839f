package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerUsageOnce: running totals are not increments, and the client is told one number once.
func providerUsageOnce() harness.Scenario {
	play := func(stream bool, data ...string) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Steps: []script.Step{script.Raw{Bytes: events(append(data, "[DONE]")...)}, script.End{}}})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	const none = `"choices":[],`
	first, last := `"usage":{"prompt_tokens":9,"completion_tokens":13,"total_tokens":22}`, `"usage":{"prompt_tokens":9,"completion_tokens":37,"total_tokens":46}`
	twice := []string{contentOf("one "), contentOf("two"), finishOf("stop"), chunkOf(none + first), chunkOf(none + last)}
	every := []string{
		chunkOf(`"choices":[{"index":0,"delta":{"content":"one "},"finish_reason":null}],` + first),
		chunkOf(`"choices":[{"index":0,"delta":{"content":"two"},"finish_reason":null}],` + last),
		chunkOf(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],` + last),
	}
	repeated := []string{contentOf("one "), contentOf("two"), chunkOf(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],` + last), chunkOf(none + last)}
	streamed := []harness.Check{
		{Name: "once", Guarantee: "provider.usage-once", Noun: "usage", Expect: shows(expect.Times{What: clientUsage, After: clientFinish, Min: 1, Max: 1})},
		{Name: "at-the-end", Guarantee: "provider.usage-once", Noun: "usage-before-the-end", Expect: shows(expect.Never{What: clientUsage, Before: clientFinish})},
		{Name: "event-agrees", Guarantee: "provider.usage-once", Noun: "usage-event", Needs: []harness.Feature{harness.CustomEvents},
			Expect: shows(expect.Says{What: saying(clientEvent, "aura.usage "), Text: `"total_tokens":46`})},
		{Name: "one-event", Guarantee: "provider.usage-once", Noun: "usage-event", Needs: []harness.Feature{harness.CustomEvents},
			Expect: shows(expect.Times{What: saying(clientEvent, "aura.usage "), Min: 1, Max: 1})},
	}
	whole := []harness.Check{{Name: "once", Guarantee: "provider.usage-once", Noun: "usage", Expect: shows(expect.Times{What: clientUsage, Min: 1, Max: 1})}}
	return harness.Scenario{
		ID:       "provider/usage-once",
		Claim:    "the client is told the usage that the model reported last, once, at the end",
		Dialects: chat(),
		Variants: []harness.Variant{
			{Name: "two-chunks", Play: play(true, twice...), Checks: streamed, Needs: []harness.Feature{harness.Streaming}},
			{Name: "every-chunk", Play: play(true, every...), Checks: streamed, Needs: []harness.Feature{harness.Streaming}},
			{Name: "finish-and-after", Play: play(true, repeated...), Checks: streamed, Needs: []harness.Feature{harness.Streaming}},
			{Name: "two-chunks-whole", Play: play(false, twice...), Checks: whole, Needs: []harness.Feature{harness.NonStreaming}},
			{Name: "every-chunk-whole", Play: play(false, every...), Checks: whole, Needs: []harness.Feature{harness.NonStreaming}},
		},
		Checks: []harness.Check{
			{Name: "the-last-value", Guarantee: "provider.usage-once", Noun: "usage", Expect: shows(expect.Says{What: clientUsage, Text: "prompt 9, completion 37, total 46"})},
		},
	}
}
