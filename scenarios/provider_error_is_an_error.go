package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerErrorIsAnError: a provider's error is the run's, in whatever form it comes.
func providerErrorIsAnError() harness.Scenario {
	on := func(dialects []string, v harness.Variant) harness.Variant {
		v.Dialects = dialects
		return v
	}
	status := func(code int) script.Step { return fault.Status{Code: code} }
	page := fault.Status{Code: 502, ContentType: "text/html", Body: "<html><body><h1>502 Bad Gateway</h1></body></html>"}
	well := fault.Status{Code: 200, ContentType: "text/html", Body: "<!DOCTYPE html><html><body>Please sign in.</body></html>"}
	inside := fault.Status{Code: 200, Body: `{"error":{"message":"The server is overloaded.","type":"server_error","param":null,"code":null}}`}
	empty := fault.Status{Code: 200, Body: "\n"}
	frame := script.Error{Type: "server_error", Code: "overloaded", Message: "The engine is currently overloaded."}
	said := script.Text{Chunks: []string{"one "}}
	return harness.Scenario{
		ID:    "provider/error-is-an-error",
		Claim: "a provider's error, as a status, as a frame or as a body with status 200, fails the run at once",
		Variants: slices.Concat([]harness.Variant{
			failing("status-401", providerStatus, true, status(401)),
			failing("status-404", providerStatus, true, status(404)),
			failing("status-429", providerStatus, true, status(429)),
			failing("status-500", providerStatus, true, status(500)),
			failing("status-503", providerStatus, true, status(503)),
			failing("gateway-page", providerStatus, true, page),
			failing("json-with-200", providerStatus, true, inside),
			failing("html-with-200", providerStatus, true, well),
			// Nothing but its type tells it from a stream of lines that was cut before the first.
			on(inEvents(), failing("empty-with-200", providerStatus, true, empty)),
			failing("frame-first", providerError, true, frame, script.Done{}, script.End{}),
			failing("frame-in-text", providerError, true, script.Role{}, said, frame, script.Done{}, script.End{}),
			// A silence that is no fault, which would have to strike: the server may be gone before it begins.
			failing("frame-and-no-end", providerError, true, script.Role{}, said, frame, script.Await{Gate: "never"}),
			failing("status-429-whole", providerStatus, false, status(429)),
			failing("status-500-whole", providerStatus, false, status(500)),
			failing("json-with-200-whole", providerStatus, false, inside),
			failing("html-with-200-whole", providerStatus, false, well),
			on(inEvents(), failing("empty-with-200-whole", providerStatus, false, empty)),
			failing("frame-in-text-whole", providerError, false, script.Role{}, said, frame, script.Done{}, script.End{}),
		}, errorsOfChat(), errorsOfResponses(), errorsOfAnthropic(), errorsOfGemini(), errorsOfOllama()),
		Checks: []harness.Check{
			{Name: "no-success", Guarantee: "provider.error-is-an-error", Noun: "finish", Expect: shows(expect.Never{What: saying(clientFinish, "stop")})},
			{Name: "looks-failed", Guarantee: "provider.error-is-an-error", Noun: "answer", Expect: shows(failsVisibly{})},
			{Name: "says-so", Guarantee: "provider.error-is-an-error", Noun: "error-code", Needs: []harness.Feature{harness.ErrorFrames},
				Expect: shows(expect.Says{What: clientError, Text: "provider_error"})},
		},
	}
}

// failing is an answer that fails at an event, whatever steps follow. A server may ask again before there is output, so
// the program answers any number of requests.
func failing(name string, at expect.Event, stream bool, steps ...script.Step) harness.Variant {
	v := harness.Variant{
		Name: name, Needs: []harness.Feature{harness.Streaming}, Reached: []expect.Event{at},
		Play: func(t *harness.Trial) {
			t.Script(script.Program{Times: script.Any, Steps: steps})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		},
		Checks: []harness.Check{
			{Name: "at-once", Guarantee: "provider.error-is-an-error", Noun: "error", Needs: []harness.Feature{harness.ErrorFrames},
				Expect: func(a harness.At) expect.Expectation {
					return expect.Happens{What: clientError, After: nth(at, -1), To: a.Once}
				}},
		},
	}
	if !stream {
		v.Needs = []harness.Feature{harness.NonStreaming}
		v.Checks = append(v.Checks, harness.Check{Name: "status-502", Guarantee: "provider.error-is-an-error", Noun: "status",
			Needs: []harness.Feature{harness.ErrorFrames}, Expect: shows(expect.Says{What: clientStatus, Text: "502 application/json"})})
	}
	return v
}

// failingText is a dialect's answer that has begun to say something when the failure comes, in a form that the fake
// would never send. What follows would make a good answer of it.
func failingText(dialect, name string, stream bool, failure, rest string) harness.Variant {
	v := failing(name, providerRaw, stream,
		script.Role{}, script.Text{Chunks: []string{"one "}}, script.Raw{Bytes: failure}, script.Raw{Bytes: rest}, script.End{})
	v.Dialects = speaking(dialect)
	return v
}

// failingAtOnce is one that fails before it has begun.
func failingAtOnce(dialect, name string, stream bool, failure string) harness.Variant {
	v := failing(name, providerRaw, stream, script.Raw{Bytes: failure}, script.Raw{Bytes: wireOf(dialect).whole("\n")}, script.End{})
	v.Dialects = speaking(dialect)
	return v
}
