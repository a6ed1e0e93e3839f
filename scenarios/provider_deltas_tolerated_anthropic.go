package scenarios

// deltasOfAnthropic are those of the Messages API and of the servers that are compatible with it.
func deltasOfAnthropic() []delta {
	variant := func(name string, pieces ...string) delta { return tolerated("anthropic", name, pieces...) }
	calls := func(name string, gets []getsArguments, pieces ...string) delta {
		return toleratedCall("anthropic", name, gets, pieces...)
	}
	const nothing = "event: ping\n\n"
	start, open, one, two, closed, stop := messageStart(fewTokens), blockStart(0, textOpened), textDelta(0, "one "), textDelta(0, "two"), blockStop(0), stopped("end_turn")
	lookup := `{"type":"tool_use","id":"toolu_1","name":"lookup","input":{},"caller":{"type":"direct"}}`
	other := `{"type":"tool_use","id":"toolu_2","name":"other","input":{}}`
	return []delta{
		variant("pings-anywhere", pinged, start, pinged, open, pinged, pinged, one, pinged, two, pinged, closed, pinged,
			messageDelta("end_turn", `{"output_tokens":2}`), pinged, messageStop()),
		variant("pings-without-data", nothing, start, nothing, "event: ping\ndata:\n\n", open, one, nothing, two, "event: ping\ndata: \n\n", closed, nothing, stop),
		variant("unknown-event-types", named("message_limit", `"message_limit":{"type":"within_limit","remaining":3}`), start, named("vendor_trace", `"delta":[1],"index":"x","message":7`),
			open, one, named("content_block_note", `"index":0,"content_block":"text","usage":[]`), two, closed, stop),
		variant("unknown-block-types", start,
			blockOf(0, `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`, inputDelta(0, ""), inputDelta(0, `{"query":"Os`), inputDelta(0, `lo"}`)),
			blockOf(1, `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"Oslo","url":"https://oslo.test","encrypted_content":"Zm9v"}]}`),
			blockOf(2, `{"type":"container_upload","file_id":"file_1"}`, blockDelta(2, `{"type":"upload_delta","progress":{"bytes":3}}`)),
			blockOf(3, textOpened, textDelta(3, "one "), textDelta(3, "two")), stop),
		variant("unknown-delta-types", start, open, one,
			blockDelta(0, `{"type":"citations_delta","citation":{"type":"char_location","cited_text":"Oslo","document_index":0,"start_char_index":0,"end_char_index":4}}`),
			blockDelta(0, `{"type":"compaction_delta","content":"so far"}`), two, closed, stop),
		variant("unknown-members-of-events",
			named("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"stallwright","content":[],"container":null,"context_management":{"applied_edits":[]},"usage":{"input_tokens":9,"output_tokens":1,"service_tier":"standard","inference_geo":"global","cache_creation":{"ephemeral_5m_input_tokens":0}}},"amazon-bedrock-invocationMetrics":{"latency":1}`),
			blockStart(0, `{"type":"text","text":"","citations":[],"cache_control":null}`), blockDelta(0, `{"type":"text_delta","text":"one ","logprobs":[0.5]}`), two, named("content_block_stop", `"index":0,"duration":"1ms"`), stop),
		variant("empty-text-deltas", start, open, textDelta(0, ""), one, textDelta(0, ""), blockDelta(0, `{}`), two, textDelta(0, ""), closed, stop),
		variant("empty-block", start, blockOf(0, textOpened), blockOf(1, textOpened, textDelta(1, "one "), textDelta(1, "two")), blockOf(2, textOpened), stop),
		variant("null-members-of-events",
			messageStart(`{"input_tokens":9,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"cache_creation":null,"server_tool_use":null,"service_tier":null,"output_tokens":1}`),
			blockStart(0, `{"type":"text","text":"","citations":null}`), blockDelta(0, `{"type":"text_delta","text":null}`), one, two, closed,
			messageDelta("end_turn", `{"input_tokens":null,"cache_read_input_tokens":null,"server_tool_use":null,"output_tokens":2}`), messageStop()),
		variant("error-null-in-events", start, named("content_block_start", `"index":0,"error":null,"content_block":`+textOpened), one, two, closed, stop),
		variant("several-text-blocks", start, blockOf(0, textOpened, textDelta(0, "one ")), blockOf(1, textOpened, textDelta(1, "two")), stop),
		variant("text-in-the-start-of-a-block", start, blockStart(0, `{"type":"text","text":"one "}`), two, closed, stop),
		variant("signed-thinking", start,
			blockOf(0, `{"type":"thinking","thinking":"","signature":""}`, blockDelta(0, `{"type":"thinking_delta","thinking":"well, "}`),
				blockDelta(0, `{"type":"thinking_delta","thinking":""}`), blockDelta(0, `{"type":"signature_delta","signature":"c3RhbGx3cmlnaHQ="}`)),
			blockOf(1, `{"type":"redacted_thinking","data":"c3RhbGx3cmlnaHQ="}`), blockOf(2, textOpened, textDelta(2, "one "), textDelta(2, "two")), stop),
		variant("omitted-thinking", start, blockOf(0, `{"type":"thinking","thinking":"","signature":""}`, pinged, blockDelta(0, `{"type":"signature_delta","signature":"c3RhbGx3cmlnaHQ="}`)),
			blockOf(1, textOpened, textDelta(1, "one "), textDelta(1, "two")), stop),
		variant("no-usage-in-message-delta", start, open, one, two, closed, named("message_delta", `"delta":{"stop_reason":"end_turn","stop_sequence":null}`), messageStop()),
		variant("no-usage-in-message-start", named("message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","content":[]}`), open, one, two, closed, stop),
		variant("several-message-deltas", start, open, one, two, closed, named("message_delta", `"delta":{},"usage":{"output_tokens":1}`), messageDelta("end_turn", `{"output_tokens":2}`), stop),
		variant("stop-sequence", start, open, one, two, closed, named("message_delta", `"delta":{"stop_reason":"stop_sequence","stop_sequence":"three"},"usage":{"output_tokens":2}`), messageStop()),
		limited("anthropic", "max-tokens", start, open, one, two, closed, stopped("max_tokens")),
		calls("call-without-input", gets("lookup", `{}`), start, blockOf(0, lookup, inputDelta(0, "")), stopped("tool_use")),
		calls("call-without-deltas", gets("lookup", `{"city":"Oslo"}`), start, blockOf(0, `{"type":"tool_use","id":"toolu_1","name":"lookup","input":{"city":"Oslo"}}`), stopped("tool_use")),
		calls("call-after-text", gets("lookup", `{"city":"Oslo"}`), start, blockOf(0, textOpened, textDelta(0, "let me see")), blockOf(1, lookup, inputDelta(1, ""), inputDelta(1, `{"city":`), pinged, inputDelta(1, `"Oslo"}`)), stopped("tool_use")),
		calls("calls-interleaved", gets("lookup", `{"city":"Oslo"}`, "other", `{"a":1}`), start, blockStart(0, lookup), blockStart(1, other), inputDelta(1, `{"a":`), inputDelta(0, `{"city":"Oslo"}`), inputDelta(1, `1}`), blockStop(1), blockStop(0), stopped("tool_use")),
	}
}
