package scenarios

import "github.com/stallwright/stallwright/harness"

// errorsOfAnthropic are those inside a stream of the Messages API or of a server that is compatible with it.
func errorsOfAnthropic() []harness.Variant {
	rest := blockStop(0) + stopped("end_turn")
	variant := func(name string, stream bool, failure string) harness.Variant {
		return failingText("anthropic", name, stream, failure, rest)
	}
	overloaded := named("error", `"error":{"type":"overloaded_error","message":"Overloaded","details":null},"request_id":"req_011C"`)
	return []harness.Variant{
		variant("overloaded-event", true, overloaded),
		variant("error-without-a-type", true, "event: error\ndata: "+`{"error":{"code":"1302","message":"Rate limit reached"},"request_id":"r1"}`+"\n\n"),
		variant("error-without-an-object", true, "event: error\ndata: "+`{"type":"overloaded_error","message":"Overloaded"}`+"\n\n"),
		variant("error-after-ping", true, pinged+overloaded),
		failingAtOnce("anthropic", "error-before-message-start", true, overloaded),
		failingAtOnce("anthropic", "error-after-message-start", true, messageStart(fewTokens)+pinged+overloaded),
		failingText("anthropic", "error-after-stop-reason", true, blockStop(0)+messageDelta("end_turn", `{"output_tokens":2}`)+overloaded, messageStop()),
		variant("overloaded-event-whole", false, overloaded),
		failingAtOnce("anthropic", "error-before-message-start-whole", false, overloaded),
	}
}
