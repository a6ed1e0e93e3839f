package scenarios

import "github.com/stallwright/stallwright/harness"

// errorsOfResponses are those inside a stream of the Responses API: as documented, as really sent, and as a response that
// failed.
func errorsOfResponses() []harness.Variant {
	rest := messageClosed(0, "one ") + completed(messageOf("completed", outputText("one ")))
	variant := func(name string, stream bool, failure string) harness.Variant {
		return failingText("responses", name, stream, failure, rest)
	}
	nested := named("error", `"sequence_number":6,"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"You exceeded your current quota.","param":null}`)
	failed := named("response.failed", responseOf("failed", `"error":{"code":"server_error","message":"The server had an error while processing your request."},"incomplete_details":null,"output":[],"usage":null`))
	return []harness.Variant{
		variant("response-failed", true, failed),
		variant("response-failed-without-words", true, named("response.failed", responseOf("failed", `"error":null,"output":[],"error_type":"provider_unavailable"`))),
		variant("nested-error-event", true, nested),
		variant("flat-error-event", true, named("error", `"sequence_number":6,"code":"rate_limit_exceeded","message":"Rate limit reached.","param":null`)),
		variant("error-event-with-data-alone", true, events(`{"error":{"message":"The engine is currently overloaded.","type":"server_error","param":null,"code":null}}`)),
		failingAtOnce("responses", "error-after-created", true, created()+nested),
		failingAtOnce("responses", "response-failed-at-once", true, created()+failed),
		variant("response-failed-whole", false, failed),
		variant("nested-error-event-whole", false, nested),
	}
}
