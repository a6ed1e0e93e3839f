package scenarios

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// cancelNonStreamingToo: a client that waits for an answer in one piece may leave as well.
func cancelNonStreamingToo() harness.Scenario {
	const guarantee = "cancel.non-streaming-too"
	checks := leavesWith(guarantee, clientLeft)
	var variants []harness.Variant
	for _, how := range []caller.Leaving{caller.Close, caller.Reset} {
		for _, p := range phases() {
			variants = append(variants, harness.Variant{Name: p.name + "-by-" + string(how), Dialects: p.on, Checks: checks, Play: func(t *harness.Trial) {
				t.Script(silent(p.steps...))
				r := t.Ask(caller.Ask{Prompt: "hello"})
				t.Await(providerStall)
				t.Pass(t.Windows.Heartbeat * 3 / 7)
				r.Leave(how)
				t.Await(providerLeft)
			}})
		}
	}
	whole := leavings()[2]
	variants = append(variants, inSecondTurn(whole, checks)...)
	variants = append(variants, inTool(whole, append(asksOnce(guarantee), whole.cancels(guarantee, harness.HTTPTools))))
	return harness.Scenario{
		ID:       "cancel/non-streaming-too",
		Claim:    "the provider's connection, or the tool call in flight, is left at once when the client of a request that does not stream leaves, and no further request is made for it",
		Needs:    []harness.Feature{harness.NonStreaming},
		Variants: variants,
	}
}
