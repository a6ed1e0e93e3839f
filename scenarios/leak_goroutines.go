package scenarios

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// leakGoroutines: however runs end, the server holds no more goroutines afterwards than before.
func leakGoroutines() harness.Scenario {
	return harness.Scenario{
		ID:       "leak/goroutines",
		Claim:    "after many runs with every ending the server holds no more goroutines than after its first request",
		Needs:    []harness.Feature{harness.Streaming, harness.NonStreaming, harness.Goroutines},
		Alone:    true,
		Variants: leakVariants(),
		Reached:  []expect.Event{of(clientFinish, "first"), of(clientFinish, "last")},
		Checks: []harness.Check{
			{Name: "back-at-the-baseline", Guarantee: "leak.goroutines", Noun: "goroutines-held", Expect: shows(expect.Returns{What: goroutines})},
		},
	}
}
