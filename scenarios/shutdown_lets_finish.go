package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
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
			{Name: "streamed", Play: shutFinishing(true, said...), Checks: isWhole(id, "one two"), Needs: streamed},
			{Name: "sigint", Needs: streamed, Checks: isWhole(id, "one two"), Play: func(t *harness.Trial) {
				t.Script(proper(slices.Concat(said, []script.Step{script.Await{Gate: "end"}, script.Text{Chunks: []string{"two"}}})...))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
				t.Await(providerAwait)
				t.Pass(awhile(t.Windows))
				t.Signal("SIGINT")
				t.Pass(t.Windows.Shutdown - t.Stage.Tick)
				t.Open("end")
				t.AwaitEnd(r)
				t.AwaitExit()
			}},
			{Name: "before-headers", Play: shutFinishing(true), Checks: isWhole(id, "two"), Needs: streamed},
			{Name: "whole", Play: shutFinishing(false, said...), Checks: isWhole(id, "one two"), Needs: []harness.Feature{harness.NonStreaming}},
			{Name: "whole-before-headers", Play: shutFinishing(false), Checks: isWhole(id, "two"), Needs: []harness.Feature{harness.NonStreaming}},
		},
		Checks: []harness.Check{
			{Name: "keeps-the-provider", Guarantee: id, Noun: "provider-connection", Expect: shows(expect.Never{What: providerLeft, Before: clientEnd})},
			exitsAt("shutdown.early-exit", last, last),
		},
	}
}
