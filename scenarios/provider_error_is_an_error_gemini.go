package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/harness"
)

// errorsOfGemini are those inside a stream of generateContent, and those in the list that a stream without events is.
func errorsOfGemini() []harness.Variant {
	rest := lastParts(textPart("two"), "STOP")
	variant := func(name string, stream bool, failure string) harness.Variant {
		return failingText("gemini", name, stream, failure, rest)
	}
	const overloaded = `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`
	listed := func(name string, code int, stream bool) harness.Variant {
		v := failing(name, providerStatus, stream, fault.Status{Code: code, ContentType: "application/json; charset=UTF-8", Body: "[" + overloaded + "\n]"})
		v.Dialects = []string{"gemini"}
		return v
	}
	return []harness.Variant{
		variant("error-chunk", true, events(overloaded)),
		variant("error-chunk-with-details", true, events(`{"error":{"code":429,"message":"Resource exhausted.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"47s"}]}}`)),
		failingText("gemini", "error-chunk-after-finish", true, rest+events(overloaded), generated(someCounts)),
		failingAtOnce("gemini", "error-chunk-at-once", true, events(overloaded)),
		listed("error-in-a-list", 503, true),
		listed("error-in-a-list-with-200", 200, true),
		variant("error-chunk-whole", false, events(overloaded)),
		listed("error-in-a-list-with-200-whole", 200, false),
	}
}
