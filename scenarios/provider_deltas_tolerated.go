package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerDeltasTolerated: what one vendor's chunks have and another's have not is no error, and costs no text.
func providerDeltasTolerated() harness.Scenario {
	play := func(data []string) func(*harness.Trial) {
		return func(t *harness.Trial) {
			var steps []script.Step
			for _, d := range append(data, "[DONE]") {
				steps = append(steps, script.Raw{Bytes: events(d)})
			}
			// What a server asks after a tool call that it does not know is its own concern.
			t.Script(script.Program{Steps: append(steps, script.End{})}, turns())
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	variant := func(name string, data ...string) harness.Variant {
		return harness.Variant{Name: name, Play: play(data), Checks: isWhole("provider.deltas-tolerated", "one two")}
	}
	// unchanged sends each piece in a delta of its own.
	unchanged := func(name string, pieces ...string) harness.Variant {
		var data []string
		for _, p := range pieces {
			data = append(data, contentOf(p))
		}
		return harness.Variant{Name: name, Play: play(append(data, finishOf("stop"))), Checks: isWhole("provider.deltas-tolerated", pieces...)}
	}
	// calls is for answers that end in a tool call: the run goes on or ends, but it does not fail.
	calls := func(name string, data ...string) harness.Variant {
		return harness.Variant{Name: name, Play: play(data), Checks: []harness.Check{
			{Name: "is-not-given-up", Guarantee: "provider.deltas-tolerated", Noun: "error-frame", Expect: shows(expect.Never{What: clientError})},
			{Name: "ends-well", Guarantee: "provider.deltas-tolerated", Noun: "end", Expect: shows(expect.InOrder{clientFinish, clientDone, saying(clientEnd, "complete")})},
		}}
	}
	role := deltaOf(`{"role":"assistant","content":""}`)
	one, two, stop, toolCalls := contentOf("one "), contentOf("two"), finishOf("stop"), finishOf("tool_calls")
	usage := `"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}`
	return harness.Scenario{
		ID:       "provider/deltas-tolerated",
		Claim:    "chunks with members that are missing, null, empty, repeated or unknown cost the answer nothing, and white space is text",
		Needs:    []harness.Feature{harness.Streaming},
		Dialects: chat(),
		Variants: []harness.Variant{
			variant("role-and-null-content", deltaOf(`{"role":"assistant","content":null,"refusal":null}`), deltaOf(`{}`), one, deltaOf(`{"content":null}`), two, stop),
			variant("role-in-every-delta", deltaOf(`{"role":"assistant","content":"one "}`), deltaOf(`{"role":"assistant","content":"two"}`), stop),
			variant("empty-choices", chunkOf(`"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]`), role, one, chunkOf(`"choices":[]`), two, stop),
			variant("unknown-members",
				chunkOf(`"provider":"x","x_groq":{"id":"req_1"},"choices":[{"index":0,"delta":{"content":"one ","annotations":[],"extra_content":{"a":[1]}},"logprobs":null,"content_filter_results":{"hate":{"filtered":false}},"finish_reason":null,"native_finish_reason":null}]`),
				chunkOf(`"obfuscation":"aZ","choices":[{"index":0,"delta":{"content":"two"}}]`), stop),
			variant("error-null", chunkOf(`"error":null,"choices":[{"index":0,"delta":{"content":"one "},"finish_reason":null}]`), two, stop),
			variant("finish-with-content", role, one, chunkOf(`"choices":[{"index":0,"delta":{"content":"two"},"finish_reason":"stop"}]`)),
			variant("finish-empty-until-the-end", chunkOf(`"choices":[{"index":0,"delta":{"content":"one "},"finish_reason":""}]`), chunkOf(`"choices":[{"index":0,"delta":{"content":"two"},"finish_reason":""}]`), stop),
			variant("finish-repeated", role, one, chunkOf(`"choices":[{"index":0,"delta":{"content":"two"},"finish_reason":"stop"}]`), stop),
			variant("usage-null", chunkOf(`"usage":null,"choices":[{"index":0,"delta":{"content":"one "},"finish_reason":null}]`), two, stop),
			variant("usage-after-finish", role, one, two, stop, chunkOf(`"choices":[],`+usage)),
			variant("usage-with-finish", role, one, two, chunkOf(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],`+usage)),
			variant("another-choice", role, one, chunkOf(`"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":null}]`), two,
				chunkOf(`"choices":[{"index":1,"delta":{},"finish_reason":"length"}]`), stop),
			unchanged("leading-spaces", " one", "  two", "\tthree", "\n- four"),
			unchanged("trailing-newlines", "one\n", "two\n\n", "three \r\n", "four\n"),
			unchanged("only-white-space", "one", " ", "two", "\n", "\n\n", "three", "\t", "\n"),
			calls("call-without-index", role,
				deltaOf(`{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"lookup","arguments":""}}]}`),
				deltaOf(`{"tool_calls":[{"function":{"arguments":"{}"}}]}`), toolCalls),
			calls("call-with-empty-id", role,
				deltaOf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"lookup","arguments":""}}]}`),
				deltaOf(`{"tool_calls":[{"index":0,"id":"","type":"function","function":{"name":"","arguments":"{}"}}]}`), toolCalls),
			calls("call-with-repeated-head", role,
				deltaOf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"lookup","arguments":"{"}}]}`),
				deltaOf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"lookup","arguments":"}"}}]}`), toolCalls),
			calls("call-in-one-chunk", role,
				chunkOf(`"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"lookup","arguments":"{}"}}]},"finish_reason":"tool_calls"}]`)),
		},
	}
}
