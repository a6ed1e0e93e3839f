package scenarios

import "strings"

// deltasOfResponses are those of the Responses API and of the servers that are compatible with it.
func deltasOfResponses() []delta {
	variant := func(name string, pieces ...string) delta {
		return tolerated("responses", name, numbered(pieces)...)
	}
	calls := func(name string, gets []getsArguments, pieces ...string) delta {
		return toleratedCall("responses", name, gets, numbered(pieces)...)
	}
	const said = "one two"
	keepalive := named("keepalive", "")
	open, one, two, closed := messageOpened(0), outputDelta(0, "one "), outputDelta(0, "two"), messageClosed(0, said)
	whole := messageOf("completed", outputText(said))
	progress := named("response.in_progress", responseOf("in_progress", `"output":[`+messageOf("in_progress", outputText("one "))+`],"usage":null`))
	reasoning := func(members string) string { return `{"id":"rs_1","type":"reasoning",` + members + `}` }
	about := func(event, members string) string {
		return named(event, `"item_id":"rs_1","output_index":0,`+members)
	}
	call := func(status, arguments string) string {
		return `{"id":"fc_1","type":"function_call","call_id":"call_1","name":"lookup","arguments":` + quoted(arguments) + `,"status":` + quoted(status) + `}`
	}
	arguments := func(event, member, text string) string {
		return named("response.function_call_arguments."+event, `"item_id":"fc_1","output_index":0,"`+member+`":`+quoted(text))
	}
	const city = `{"city":"Oslo"}`
	refused := messageOf("completed", `{"type":"refusal","refusal":"I can't."}`)
	return []delta{
		variant("keepalive-events", created(), keepalive, open, keepalive, keepalive, one, keepalive, two, closed, keepalive, completed(whole)),
		variant("unknown-events", created(), named("response.queued", `"response":{}`), open, named("response.audio.delta", `"output_index":0,"delta":{"bytes":[1]}`), one,
			named("response.output_text.annotation.added", `"item_id":"msg_1","output_index":0,"content_index":0,"annotation_index":0,"annotation":{"type":"url_citation","url":"https://oslo.test","title":"Oslo","start_index":0,"end_index":3}`),
			named("vendor.trace", `"item":7,"response":"none","error":null`), two, closed, completed(whole)),
		variant("unknown-items", created(),
			itemAdded(0, `{"id":"ws_1","type":"web_search_call","status":"in_progress"}`), named("response.web_search_call.in_progress", `"item_id":"ws_1","output_index":0`),
			named("response.web_search_call.searching", `"item_id":"ws_1","output_index":0`), named("response.web_search_call.completed", `"item_id":"ws_1","output_index":0`),
			itemDone(0, `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"Oslo"}}`),
			messageSaid(1, "one ", "two"), completed(`{"id":"ws_1","type":"web_search_call","status":"completed"},`+whole)),
		variant("obfuscation-and-logprobs", created(), open,
			partEvent("response.output_text.delta", 0, `"delta":"one ","obfuscation":"aZ81","logprobs":[{"token":"one ","logprob":-0.1,"bytes":[111],"top_logprobs":[]}]`),
			partEvent("response.output_text.delta", 0, `"delta":"two","obfuscation":"","logprobs":null`), closed, completed(whole)),
		variant("progress-repeated", created(), progress, open, one, progress, two, progress, closed, completed(whole)),
		tolerated("responses", "no-sequence-numbers", created(), open, one, two, closed, completed(whole)),
		variant("no-event-names", strings.NewReplacer("event: ", ": ").Replace(created()+open+one+two+closed+completed(whole))),
		variant("empty-output-deltas", created(), open, outputDelta(0, ""), one, outputDelta(0, ""), two, outputDelta(0, ""), closed, completed(whole)),
		variant("null-members-of-the-response", created(), open, one, two, closed,
			named("response.completed", responseOf("completed", `"error":null,"incomplete_details":null,"reasoning":null,"metadata":null,"output":[`+whole+`],"usage":null`))),
		variant("no-output-at-the-end", created(), open, one, two, closed, named("response.completed", responseOf("completed", `"output":[]`))),
		variant("several-messages", created(), messageSaid(0, "one "), messageSaid(1, "two"), completed(messageOf("completed", outputText("one "))+`,`+messageOf("completed", outputText("two")))),
		variant("several-parts-of-a-message", created(), open, one, partEvent("response.output_text.done", 0, `"text":"one "`), partEvent("response.content_part.done", 0, `"part":`+outputText("one ")),
			named("response.content_part.added", `"item_id":"msg_1","output_index":0,"content_index":1,"part":`+outputText("")),
			named("response.output_text.delta", `"item_id":"msg_1","output_index":0,"content_index":1,"delta":"two"`),
			itemDone(0, messageOf("completed", outputText("one ")+`,`+outputText("two"))), completed(messageOf("completed", outputText("one ")+`,`+outputText("two")))),
		variant("summary-parts", created(), itemAdded(0, reasoning(`"summary":[],"content":[],"encrypted_content":"c3RhbGx3cmlnaHQ="`)),
			about("response.reasoning_summary_part.added", `"summary_index":0,"part":{"type":"summary_text","text":""}`),
			about("response.reasoning_summary_text.delta", `"summary_index":0,"delta":"well, "`), about("response.reasoning_summary_text.delta", `"summary_index":0,"delta":""`),
			about("response.reasoning_summary_text.done", `"summary_index":0,"text":"well, "`), about("response.reasoning_summary_part.done", `"summary_index":0,"part":{"type":"summary_text","text":"well, "}`),
			itemDone(0, reasoning(`"summary":[{"type":"summary_text","text":"well, "}],"encrypted_content":"c3RhbGx3cmlnaHQ="`)),
			messageSaid(1, "one ", "two"), completed(reasoning(`"summary":[{"type":"summary_text","text":"well, "}]`)+`,`+whole)),
		variant("reasoning-as-it-is", created(), itemAdded(0, reasoning(`"summary":[],"content":[]`)), about("response.reasoning_text.delta", `"content_index":0,"delta":"well, "`),
			about("response.reasoning_text.done", `"content_index":0,"text":"well, "`), itemDone(0, reasoning(`"summary":[],"content":[{"type":"reasoning_text","text":"well, "}]`)),
			messageSaid(1, "one ", "two"), completed(reasoning(`"summary":[],"content":[{"type":"reasoning_text","text":"well, "}]`)+`,`+whole)),
		variant("silent-reasoning", created(), itemAdded(0, reasoning(`"summary":[]`)), keepalive, itemDone(0, reasoning(`"summary":[],"encrypted_content":"c3RhbGx3cmlnaHQ="`)),
			messageSaid(1, "one ", "two"), completed(reasoning(`"summary":[]`)+`,`+whole)),
		limited("responses", "incomplete", numbered([]string{created(), open, one, two, closed,
			named("response.incomplete", responseOf("incomplete", `"error":null,"incomplete_details":{"reason":"max_output_tokens"},"output":[`+whole+`],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}`))})...),
		// A server may show a refusal as text or in a field of its own.
		calls("refusal", nil, created(), itemAdded(0, messageOf("in_progress", "")), partEvent("response.content_part.added", 0, `"part":{"type":"refusal","refusal":""}`),
			partEvent("response.refusal.delta", 0, `"delta":"I "`), partEvent("response.refusal.delta", 0, `"delta":"can't."`), partEvent("response.refusal.done", 0, `"refusal":"I can't."`),
			partEvent("response.content_part.done", 0, `"part":{"type":"refusal","refusal":"I can't."}`), itemDone(0, refused), completed(refused)),
		calls("call-with-empty-deltas", gets("lookup", `{"city":"Oslo"}`), created(), itemAdded(0, call("in_progress", "")), arguments("delta", "delta", ""), arguments("delta", "delta", city), arguments("delta", "delta", ""),
			arguments("done", "arguments", city), itemDone(0, call("completed", city)), completed(call("completed", city))),
		calls("call-without-argument-deltas", gets("lookup", `{"city":"Oslo"}`), created(), itemAdded(0, call("in_progress", "")), arguments("done", "arguments", city), itemDone(0, call("completed", city)), completed(call("completed", city))),
		calls("call-whole-at-the-end", gets("lookup", `{"city":"Oslo"}`), created(), itemDone(0, call("completed", city)), completed(call("completed", city))),
	}
}
