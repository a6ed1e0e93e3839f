package scenarios

import "github.com/stallwright/stallwright/harness"

// The counts of each dialect as its providers and the servers compatible with it send them. All end at 9 and 37.

func usageOfChat() []harness.Variant {
	const none = `"choices":[],`
	first, last := `"usage":{"prompt_tokens":9,"completion_tokens":13,"total_tokens":22}`, `"usage":{"prompt_tokens":9,"completion_tokens":37,"total_tokens":46}`
	twice := events(contentOf("one "), contentOf("two"), finishOf("stop"), chunkOf(none+first), chunkOf(none+last), "[DONE]")
	every := events(
		chunkOf(`"choices":[{"index":0,"delta":{"content":"one "},"finish_reason":null}],`+first),
		chunkOf(`"choices":[{"index":0,"delta":{"content":"two"},"finish_reason":null}],`+last),
		chunkOf(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],`+last), "[DONE]")
	repeated := events(contentOf("one "), contentOf("two"), chunkOf(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],`+last), chunkOf(none+last), "[DONE]")
	return []harness.Variant{
		countingIn("openai", "two-chunks", true, twice),
		countingIn("openai", "every-chunk", true, every),
		countingIn("openai", "finish-and-after", true, repeated),
		countingIn("openai", "two-chunks-whole", false, twice),
		countingIn("openai", "every-chunk-whole", false, every),
	}
}

// usageOfResponses: the terminal event has the counts. Some servers count in the events before it, as the response has a
// member for that.
func usageOfResponses() []harness.Variant {
	first, last := `{"input_tokens":9,"output_tokens":13,"total_tokens":22}`, `{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":37,"output_tokens_details":{"reasoning_tokens":30},"total_tokens":46}`
	said, whole := messageSaid(0, "one ", "two"), messageOf("completed", outputText("one two"))
	end := named("response.completed", responseOf("completed", `"output":[`+whole+`],"usage":`+last))
	once := []string{created(), said, end}
	way := []string{created(), named("response.in_progress", responseOf("in_progress", `"output":[],"usage":`+first)), said, end}
	return []harness.Variant{
		countingIn("responses", "completed-event", true, numbered(once)...),
		countingIn("responses", "progress-and-completed", true, numbered(way)...),
		countingIn("responses", "progress-and-completed-whole", false, numbered(way)...),
	}
}

// usageOfAnthropic: message_start counts the prompt and the first token of the output. The counts of message_delta, of
// which there may be several, are totals.
func usageOfAnthropic() []harness.Variant {
	start := messageStart(`{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":3,"service_tier":"standard"}`)
	said := blockOf(0, textOpened, textDelta(0, "one "), textDelta(0, "two"))
	counted := named("message_delta", `"delta":{"stop_reason":null,"stop_sequence":null},"usage":{"output_tokens":13}`)
	all := messageDelta("end_turn", `{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":37,"output_tokens_details":{"thinking_tokens":20}}`)
	output := messageDelta("end_turn", `{"output_tokens":37}`)
	return []harness.Variant{
		countingIn("anthropic", "start-and-delta", true, start, said, output, messageStop()),
		countingIn("anthropic", "input-in-both", true, start, said, all, messageStop()),
		countingIn("anthropic", "several-deltas", true, start, said, counted, output, messageStop()),
		countingIn("anthropic", "delta-repeated", true, start, said, all, all, messageStop()),
		countingIn("anthropic", "input-in-delta-only", true, messageStart(`{"input_tokens":0,"output_tokens":0}`), said, all, messageStop()),
		countingIn("anthropic", "several-deltas-whole", false, start, said, counted, all, messageStop()),
	}
}

// usageOfGemini: each chunk counts all that came before it. The output is not counted before it begins.
func usageOfGemini() []harness.Variant {
	counts := func(members string) string { return `"usageMetadata":{"promptTokenCount":9,` + members + `}` }
	chunk := func(parts, more, usage string) string {
		return generated(`"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + more + `,"index":0}],` + usage)
	}
	first, half, last := counts(`"totalTokenCount":9`), counts(`"candidatesTokenCount":13,"totalTokenCount":22`), counts(`"candidatesTokenCount":37,"totalTokenCount":46`)
	every := []string{chunk(textPart("one "), "", first), chunk(textPart("two"), "", half), chunk(textPart(""), `,"finishReason":"STOP"`, last)}
	return []harness.Variant{
		countingIn("gemini", "each-chunk", true, every...),
		countingIn("gemini", "same-in-each-chunk", true, chunk(textPart("one "), "", last), chunk(textPart("two"), `,"finishReason":"STOP"`, last)),
		countingIn("gemini", "chunk-of-its-own", true, chunk(textPart("one two"), `,"finishReason":"STOP"`, half), generated(last)),
		countingIn("gemini", "each-chunk-whole", false, every...),
	}
}

// usageOfOllama: the last line counts, with durations beside it that are no tokens.
func usageOfOllama() []harness.Variant {
	done := lineOf(`"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":7577982042,"load_duration":58847000,"prompt_eval_count":9,"prompt_eval_duration":707514083,"eval_count":37,"eval_duration":6286536118`)
	return []harness.Variant{
		countingIn("ollama", "last-line", true, lineText("one "), lineText("two"), done),
		countingIn("ollama", "last-line-whole", false, lineText("one "), lineText("two"), done),
	}
}
