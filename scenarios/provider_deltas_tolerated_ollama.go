package scenarios

// deltasOfOllama are those of Ollama's own chat.
func deltasOfOllama() []delta {
	variant := func(name string, pieces ...string) delta { return tolerated("ollama", name, pieces...) }
	calls := func(name string, gets []getsArguments, pieces ...string) delta {
		return toleratedCall("ollama", name, gets, pieces...)
	}
	one, two, done := lineText("one "), lineText("two"), lineDone()
	const message = `"message":{"role":"assistant","content":`
	lookup, other := `{"function":{"name":"lookup","arguments":{"city":"Oslo"}}}`, `{"function":{"index":1,"name":"other","arguments":{"a":1}}}`
	return []delta{
		variant("thinking-beside-content", saysOf(`"content":"","thinking":"well, "`), saysOf(`"content":"one ","thinking":"so"`), two, done),
		variant("empty-content", lineText(""), one, saysOf(`"content":"","thinking":""`), two, lineText(""), done),
		variant("no-message", lineOf(`"done":false`), one, lineOf(`"message":{"role":"assistant"},"done":false`), two, lineOf(`"done":true,"done_reason":"stop"`)),
		variant("content-in-the-last-line", one, lineOf(message+`"two"},"done":true,"done_reason":"stop",`+lastCount)),
		variant("unknown-members-of-lines", lineOf(`"remote_model":"big","remote_host":"https://ollama.test","logprobs":[{"token":"one ","logprob":-0.1}],`+message+`"one ","images":[],"extra":{"content":"no"}},"done":false`), two, done),
		variant("null-members-of-lines", lineOf(message+`"one ","thinking":null,"images":null,"tool_calls":null},"done":false,"done_reason":null`), lineOf(`"error":null,`+message+`null},"done":false`), two, done),
		variant("error-empty-in-lines", lineOf(`"error":"",`+message+`"one "},"done":false`), two, done),
		variant("content-alone", `{"message":{"content":"one "},"done":false}`+"\n", `{"message":{"content":"two"}}`+"\n", `{"done":true,"done_reason":"stop"}`+"\n"),
		variant("no-done-reason", one, two, lineOf(message+`""},"done":true,`+lastCount)),
		variant("no-counts", one, two, lineOf(message+`""},"done":true,"done_reason":"stop"`)),
		variant("prompt-was-cached", one, two, lineOf(message+`""},"done":true,"done_reason":"stop","eval_count":2`)),
		limited("ollama", "done-for-length", one, two, lineOf(message+`""},"done":true,"done_reason":"length",`+lastCount)),
		calls("call-line-without-id", gets("lookup", `{"city":"Oslo"}`), saysOf(`"content":"","tool_calls":[`+lookup+`]`), done),
		calls("call-beside-content", gets("lookup", `{}`), saysOf(`"content":"let me see","tool_calls":[{"id":"call_1","function":{"index":2,"name":"lookup","arguments":{}}}]`), done),
		calls("call-with-null-arguments", gets("lookup", `{}`), saysOf(`"content":"","tool_calls":[{"function":{"name":"lookup","arguments":null}}]`), done),
		calls("calls-in-one-line", gets("lookup", `{"city":"Oslo"}`, "other", `{"a":1}`), saysOf(`"content":"","tool_calls":[`+lookup+`,`+other+`]`), done),
		calls("call-in-the-last-line", gets("lookup", `{"city":"Oslo"}`), lineOf(message+`"","tool_calls":[`+lookup+`]},"done":true,"done_reason":"stop",`+lastCount)),
	}
}
