package scenarios

import "github.com/stallwright/stallwright/harness"

// errorsOfChat are those inside a stream of Chat Completions or of a server that is compatible with it.
func errorsOfChat() []harness.Variant {
	rest := events(finishOf("stop"), "[DONE]")
	event := "event: error\ndata: " + `{"message":"The engine is currently overloaded.","type":"server_error","code":"overloaded"}` + "\n\n"
	variant := func(name string, stream bool, failure string) harness.Variant {
		return failingText("openai", name, stream, failure, rest)
	}
	return []harness.Variant{
		variant("event-named-error", true, event),
		variant("error-object", true, events(`{"object":"error","message":"The engine is currently overloaded.","type":"server_error","param":null,"code":503}`)),
		variant("bare-error-object", true, events(`{"object":"error"}`)),
		variant("finish-reason-error", true, events(finishOf("error"))),
		variant("event-named-error-whole", false, event),
		variant("finish-reason-error-whole", false, events(finishOf("error"))),
	}
}
