package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// Canary is the plain request that must always work. It runs before and after everything else: a server that fails
// it cannot be judged. It is evidence for no guarantee.
func Canary() harness.Scenario {
	return harness.Scenario{
		ID:       "canary/plain",
		Claim:    "a plain request is answered",
		Anywhere: true,
		Variants: []harness.Variant{{Name: "before"}, {Name: "after"}},
		Play: func(t *harness.Trial) {
			t.Script(script.Answer("hello ", "there"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		},
		Checks: []harness.Check{
			{Name: "reaches-the-fake", Noun: "no-request", Expect: func(harness.At) expect.Expectation {
				return expect.Times{What: providerRequest, Min: 1, Max: 1}
			}},
			{Name: "is-answered", Noun: "answer", Expect: func(harness.At) expect.Expectation {
				return expect.Reads{What: clientText, Text: "hello there"}
			}},
			{Name: "ends-well", Noun: "end", Expect: func(harness.At) expect.Expectation {
				return expect.InOrder{clientFinish, clientDone, clientEnd}
			}},
		},
	}
}
