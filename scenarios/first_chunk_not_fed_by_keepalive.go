package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// firstChunkNotFedByKeepalive: frames without output do not count as the first chunk.
func firstChunkNotFedByKeepalive() harness.Scenario {
	kept := func(form script.Form) func(*harness.Trial) {
		return func(t *harness.Trial) {
			every := t.Windows.FirstChunk * 2 / 7
			t.Script(script.Program{Steps: []script.Step{script.Headers{}, script.Keepalive{Form: form, Every: every}, fault.Stall{}}})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			t.Await(providerLeft)
		}
	}
	return harness.Scenario{
		ID:    "first-chunk/not-fed-by-keepalive",
		Claim: "a model that sends only keepalives is given up at the end of the first-chunk window",
		Needs: []harness.Feature{harness.Streaming, harness.ErrorFrames},
		Variants: []harness.Variant{
			{Name: "comments", Dialects: inEvents(), Play: kept(script.CommentForm)},
			{Name: "empty-deltas", Play: kept(script.EmptyForm)},
			{Name: "role-frames", Dialects: opening(), Play: kept(script.RoleForm)},
			{Name: "pings", Dialects: pinging(), Play: kept(script.PingForm)},
			{Name: "with-all-clocks", Set: harness.Set{Inactivity: true}, Play: kept(script.EmptyForm)},
		},
		Reached: []expect.Event{nth(providerKeepalive, 3)},
		Checks: []harness.Check{
			{Name: "at-the-window", Guarantee: "first-chunk.not-fed-by-keepalive", Noun: "error-frame", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: clientError, After: providerRequest, From: at.FirstChunk, To: at.FirstChunk}
			}},
			{Name: "names-the-clock", Guarantee: "first-chunk.not-fed-by-keepalive", Noun: "clock-named", Expect: func(harness.At) expect.Expectation {
				return expect.Says{What: clientError, Text: "first_chunk_timeout"}
			}},
			{Name: "aborts-the-provider", Guarantee: "first-chunk.not-fed-by-keepalive", Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: providerLeft, After: providerRequest, From: at.FirstChunk, To: at.FirstChunk + at.Once}
			}},
		},
	}
}
