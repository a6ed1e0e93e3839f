package scenarios

// deltasOfChat are those of Chat Completions and of the many servers that are compatible with it.
func deltasOfChat() []delta {
	frames := func(data []string) (pieces []string) {
		for _, d := range append(data, "[DONE]") {
			pieces = append(pieces, events(d))
		}
		return pieces
	}
	variant := func(name string, data ...string) delta {
		return tolerated("openai", name, frames(data)...)
	}
	calls := func(name string, gets []getsArguments, data ...string) delta {
		return toleratedCall("openai", name, gets, frames(data)...)
	}
	role := deltaOf(`{"role":"assistant","content":""}`)
	one, two, stop, toolCalls := contentOf("one "), contentOf("two"), finishOf("stop"), finishOf("tool_calls")
	both := gets("lookup", `{"city":"Oslo"}`, "other", `{"a":1}`)
	usage := `"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}`
	return []delta{
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
		variant("message-at-the-end", role, one, two, chunkOf(`"choices":[{"index":0,"delta":{},"message":{"role":"assistant","content":"one two"},"finish_reason":"stop"}]`)),
		variant("usage-null", chunkOf(`"usage":null,"choices":[{"index":0,"delta":{"content":"one "},"finish_reason":null}]`), two, stop),
		variant("usage-after-finish", role, one, two, stop, chunkOf(`"choices":[],`+usage)),
		variant("usage-with-finish", role, one, two, chunkOf(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],`+usage)),
		variant("another-choice", role, one, chunkOf(`"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":null}]`), two,
			chunkOf(`"choices":[{"index":1,"delta":{},"finish_reason":"length"}]`), stop),
		limited("openai", "finish-for-length", frames([]string{role, one, two, finishOf("length")})...),
		calls("call-without-index", gets("lookup", `{}`), role,
			deltaOf(`{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"lookup","arguments":""}}]}`),
			deltaOf(`{"tool_calls":[{"function":{"arguments":"{}"}}]}`), toolCalls),
		calls("call-with-empty-id", gets("lookup", `{}`), role,
			deltaOf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"lookup","arguments":""}}]}`),
			deltaOf(`{"tool_calls":[{"index":0,"id":"","type":"function","function":{"name":"","arguments":"{}"}}]}`), toolCalls),
		calls("call-with-repeated-head", gets("lookup", `{}`), role,
			deltaOf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"lookup","arguments":"{"}}]}`),
			deltaOf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"lookup","arguments":"}"}}]}`), toolCalls),
		calls("calls-at-one-index", both, role,
			deltaOf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"lookup","arguments":"{\"city\":"}}]}`),
			deltaOf(`{"tool_calls":[{"index":0,"function":{"arguments":"\"Oslo\"}"}}]}`),
			deltaOf(`{"tool_calls":[{"index":0,"id":"call_2","type":"function","function":{"name":"other","arguments":"{\"a\":1}"}}]}`), toolCalls),
		calls("calls-in-turns", both, role,
			deltaOf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"lookup","arguments":"{\"city\""}}]}`),
			deltaOf(`{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"other","arguments":"{\"a\":"}},{"index":0,"function":{"arguments":":\"Os"}}]}`),
			deltaOf(`{"tool_calls":[{"index":1,"function":{"arguments":"1}"}},{"index":0,"function":{"arguments":"lo\"}"}}]}`), toolCalls),
		calls("calls-of-one-delta", both, role,
			deltaOf(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"lookup","arguments":"{\"city\":\"Oslo\"}"}},{"index":1,"id":"call_2","type":"function","function":{"name":"other","arguments":"{\"a\":1}"}}]}`), toolCalls),
		calls("call-in-one-chunk", gets("lookup", `{}`), role,
			chunkOf(`"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"lookup","arguments":"{}"}}]},"finish_reason":"tool_calls"}]`)),
	}
}
