package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerErrorIsAnError: a provider's error is the run's, in whatever form it comes.
func providerErrorIsAnError() harness.Scenario {
	// A server may ask again before there is output, so each program answers any number of requests.
	failing := func(stream bool, steps ...script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Times: script.Any, Steps: steps})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	variant := func(name string, at expect.Event, stream bool, steps ...script.Step) harness.Variant {
		v := harness.Variant{
			Name: name, Play: failing(stream, steps...), Needs: []harness.Feature{harness.Streaming}, Reached: []expect.Event{at},
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
	// Forms that the fake's dialect would never send. What follows them would make a good answer of them.
	raw := func(frame string) []script.Step {
		return []script.Step{script.Role{}, said, script.Raw{Bytes: frame}, script.Raw{Bytes: events(finishOf("stop"), "[DONE]")}, script.End{}}
	}
	unwrapped := `{"message":"The engine is currently overloaded.","type":"server_error","code":"overloaded"}`
	object := `{"object":"error","message":"The engine is currently overloaded.","type":"server_error","param":null,"code":503}`
	bare := `{"object":"error"}`
	return harness.Scenario{
		ID:    "provider/error-is-an-error",
		Claim: "a provider's error, as a status, as a frame or as a body with status 200, fails the run at once",
		Variants: []harness.Variant{
			variant("status-401", providerStatus, true, status(401)),
			variant("status-404", providerStatus, true, status(404)),
			variant("status-429", providerStatus, true, status(429)),
			variant("status-500", providerStatus, true, status(500)),
			variant("status-503", providerStatus, true, status(503)),
			variant("gateway-page", providerStatus, true, page),
			variant("json-with-200", providerStatus, true, inside),
			variant("html-with-200", providerStatus, true, well),
			// Nothing but its type tells it from a stream of lines that was cut before the first.
			on(inEvents(), variant("empty-with-200", providerStatus, true, empty)),
			variant("frame-first", providerError, true, frame, script.Done{}, script.End{}),
			variant("frame-in-text", providerError, true, script.Role{}, said, frame, script.Done{}, script.End{}),
			variant("frame-and-no-end", providerError, true, script.Role{}, said, frame, fault.Stall{}),
			on(chat(), variant("event-named-error", providerRaw, true, raw("event: error\ndata: "+unwrapped+"\n\n")...)),
			on(chat(), variant("error-object", providerRaw, true, raw(events(object))...)),
			on(chat(), variant("bare-error-object", providerRaw, true, raw(events(bare))...)),
			on(chat(), variant("finish-reason-error", providerRaw, true, raw(events(finishOf("error")))...)),
			variant("status-429-whole", providerStatus, false, status(429)),
			variant("status-500-whole", providerStatus, false, status(500)),
			variant("json-with-200-whole", providerStatus, false, inside),
			variant("html-with-200-whole", providerStatus, false, well),
			on(inEvents(), variant("empty-with-200-whole", providerStatus, false, empty)),
			on(chat(), variant("event-named-error-whole", providerRaw, false, raw("event: error\ndata: "+unwrapped+"\n\n")...)),
			on(chat(), variant("finish-reason-error-whole", providerRaw, false, raw(events(finishOf("error")))...)),
			variant("frame-in-text-whole", providerError, false, script.Role{}, said, frame, script.Done{}, script.End{}),
		},
		Checks: []harness.Check{
			{Name: "no-success", Guarantee: "provider.error-is-an-error", Noun: "finish", Expect: shows(expect.Never{What: saying(clientFinish, "stop")})},
			{Name: "looks-failed", Guarantee: "provider.error-is-an-error", Noun: "answer", Expect: shows(failsVisibly{})},
			{Name: "says-so", Guarantee: "provider.error-is-an-error", Noun: "error-code", Needs: []harness.Feature{harness.ErrorFrames},
				Expect: shows(expect.Says{What: clientError, Text: "provider_error"})},
		},
	}
}
