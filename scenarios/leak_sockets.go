package scenarios

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// leakSockets: however runs end, the server holds no more sockets afterwards than before.
func leakSockets() harness.Scenario {
	return harness.Scenario{
		ID:       "leak/sockets",
		Claim:    "after many runs with every ending the server holds no more sockets than after its first request",
		Needs:    []harness.Feature{harness.Streaming, harness.NonStreaming, harness.Sockets},
		Alone:    true,
		Variants: leakVariants(),
		Reached:  []expect.Event{of(clientFinish, "first"), of(clientFinish, "last")},
		Checks: []harness.Check{
			{Name: "back-at-the-baseline", Guarantee: "leak.sockets", Noun: "sockets-held", Expect: shows(expect.Returns{What: sockets})},
		},
	}
}
