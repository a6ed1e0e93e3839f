package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownLetsFinish: a run that ends before the grace period does is none of the shutdown's business.
func shutdownLetsFinish() harness.Scenario {
	const id = "shutdown.lets-finish"
	said := []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}}
	last := func(at harness.At) time.Duration { return at.Shutdown - at.Tick }
	streamed := []harness.Feature{harness.Streaming}
	return harness.Scenario{
		ID:    "shutdown/lets-finish",
		Claim: "a run that ends within the grace period, be it at its last moment, is whole",
		Needs: []harness.Feature{harness.Signals},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "streamed", Play: shutFinishing("SIGTERM", true, said...), Checks: isWhole(id, "one two"), Needs: streamed},
			{Name: "sigint", Play: shutFinishing("SIGINT", true, said...), Checks: isWhole(id, "one two"), Needs: streamed},
			{Name: "before-headers", Play: shutFinishing("SIGTERM", true), Checks: isWhole(id, "two"), Needs: streamed},
			{Name: "whole", Play: shutFinishing("SIGTERM", false, said...), Checks: isWhole(id, "one two"), Needs: []harness.Feature{harness.NonStreaming}},
			{Name: "whole-before-headers", Play: shutFinishing("SIGTERM", false), Checks: isWhole(id, "two"), Needs: []harness.Feature{harness.NonStreaming}},
		},
		Checks: []harness.Check{
			{Name: "keeps-the-provider", Guarantee: id, Noun: "provider-connection", Expect: shows(expect.Never{What: providerLeft, Before: clientEnd})},
			exitsAt("shutdown.early-exit", last, last),
		},
	}
}
