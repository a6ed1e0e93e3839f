package scenarios

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// deltasOfGemini are those of generateContent.
func deltasOfGemini() []delta {
	variant := func(name string, pieces ...string) delta { return tolerated("gemini", name, pieces...) }
	calls := func(name string, gets []getsArguments, pieces ...string) delta {
		return toleratedCall("gemini", name, gets, pieces...)
	}
	one, two, last := partsOf(textPart("one ")), partsOf(textPart("two")), lastParts(textPart(""), "STOP")
	lookup, other := `{"functionCall":{"name":"lookup","args":{"city":"Oslo"}}}`, `{"functionCall":{"name":"other","args":{"a":1}}}`
	// What the model has said of a prompt that is blocked is nothing, and that is no good answer.
	blocked := harness.Variant{
		Name: "prompt-blocked", Dialects: []string{"gemini"}, Play: answering(generated(`"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},` + someCounts)),
		Checks: []harness.Check{
			{Name: "no-success", Guarantee: "provider.deltas-tolerated", Noun: "finish", Expect: shows(expect.Never{What: saying(clientFinish, "stop")})},
			{Name: "ends-well", Guarantee: "provider.deltas-tolerated", Noun: "end", Expect: shows(expect.InOrder{clientDone, saying(clientEnd, "complete")})},
		},
	}
	return []delta{
		variant("no-candidates", generated(someCounts), one, generated(`"candidates":[],`+someCounts), two, last),
		variant("no-content", candidate(`"safetyRatings":[]`), one, candidate(`"content":{"role":"model"}`), two, candidate(`"content":{}`), candidate(`"finishReason":"STOP"`)),
		variant("empty-text-parts", partsOf(textPart("")), one, partsOf(``), partsOf(textPart("")+`,`+textPart("")), two, last),
		variant("finish-with-text", one, lastParts(textPart("two"), "STOP")),
		variant("finish-after-text", one, two, candidate(`"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","finishMessage":""`)),
		variant("thought-parts", partsOf(`{"text":"**Well**\n\n","thought":true}`), partsOf(`{"text":"","thought":true}`), one, two, last),
		variant("thought-beside-text", partsOf(`{"text":"well, ","thought":true},`+textPart("one ")), two, last),
		variant("signature-parts", partsOf(`{"text":"one ","thoughtSignature":"c3RhbGx3cmlnaHQ="}`), partsOf(`{"thoughtSignature":"c3RhbGx3cmlnaHQ="}`), two,
			lastParts(`{"text":"","thoughtSignature":"c3RhbGx3cmlnaHQ="}`, "STOP")),
		variant("several-finish-reasons", one, lastParts(`{"executableCode":{"language":"PYTHON","code":"print(2)"}}`, "STOP"),
			partsOf(`{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2\n"}}`), two, last),
		variant("several-text-parts", partsOf(textPart("one ")+`,`+textPart("tw")), partsOf(textPart("o")), last),
		variant("usage-alone-at-the-end", one, two, last, generated(someCounts)),
		variant("no-usage", generated(`"candidates":[{"content":{"parts":[{"text":"one "}],"role":"model"},"index":0}]`), generated(`"candidates":[{"content":{"parts":[{"text":"two"}],"role":"model"},"finishReason":"STOP"}]`)),
		variant("prompt-feedback-empty", generated(`"promptFeedback":{},"candidates":[{"content":{"parts":[{"text":"one "}]}}]`),
			generated(`"promptFeedback":{"safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"NEGLIGIBLE"}]},"candidates":[{"content":{"parts":[{"text":"two"}]}}]`), last),
		variant("unknown-members-of-chunks",
			generated(`"createTime":"2026-01-01T00:00:00Z","candidates":[{"content":{"parts":[{"text":"one ","partMetadata":{"a":1}}],"role":"model"},"avgLogprobs":-0.1,"groundingMetadata":{"webSearchQueries":["Oslo"]},"citationMetadata":{"citationSources":[]},"safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"NEGLIGIBLE"}]}]`),
			partsOf(`{"inlineData":{"mimeType":"image/png","data":"Zm9v"}},{"future":{"text":"no"}}`), two, last),
		variant("null-members-of-chunks", generated(`"error":null,"promptFeedback":null,"usageMetadata":null,"candidates":[{"content":{"parts":[{"text":"one ","thought":null,"functionCall":null}],"role":null},"finishReason":null,"safetyRatings":null}]`),
			generated(`"candidates":null`), candidate(`"content":null`), two, last),
		variant("second-candidate", one, generated(`"candidates":[{"content":{"parts":[{"text":"other"}],"role":"model"},"finishReason":"MAX_TOKENS","index":1}]`), two, last),
		limited("gemini", "max-tokens-in-a-chunk", one, lastParts(textPart("two"), "MAX_TOKENS")),
		{Variant: blocked},
		calls("whole-call-without-id", gets("lookup", `{"city":"Oslo"}`), partsOf(lookup), last),
		calls("call-without-args", gets("lookup", `{}`), partsOf(`{"functionCall":{"name":"lookup"},"thoughtSignature":"c3RhbGx3cmlnaHQ="}`), last),
		calls("call-with-finish", gets("lookup", `{"city":"Oslo"}`), candidate(`"content":{"parts":[`+lookup+`],"role":"model"},"finishReason":"STOP","finishMessage":"Model generated function call(s)."`)),
		calls("calls-in-one-chunk", gets("lookup", `{"city":"Oslo"}`, "other", `{"a":1}`), partsOf(textPart("let me see")), lastParts(lookup+`,`+other, "STOP")),
	}
}
