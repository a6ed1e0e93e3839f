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
	// In real time this leaves one beat well inside the grace period.
	before := func(w harness.Windows) time.Duration { return w.Heartbeat / 2 }
	beats := harness.Check{Name: "beats-in-the-grace", Guarantee: "heartbeat.beats", Noun: "heartbeat", Expect: func(at harness.At) expect.Expectation {
		return expect.Beats{What: clientComment, After: clientStatus, Every: at.Heartbeat, Until: before(at.Windows) + last(at)}
	}}
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
			{Name: "heartbeat-goes-on", Checks: append(isWhole(id, "one two"), beats), Needs: streamed, Play: func(t *harness.Trial) {
				t.Script(proper(slices.Concat(said, []script.Step{script.Await{Gate: "end"}, script.Text{Chunks: []string{"two"}}})...))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
				t.Await(providerAwait)
				t.Await(clientStatus)
				t.Pass(before(t.Windows))
				t.Signal("SIGTERM")
				t.Pass(t.Windows.Shutdown - t.Stage.Tick)
				t.Open("end")
				t.AwaitEnd(r)
				t.AwaitExit()
			}},
			{Name: "whole", Play: shutFinishing("SIGTERM", false, said...), Checks: isWhole(id, "one two"), Needs: []harness.Feature{harness.NonStreaming}},
			{Name: "whole-before-headers", Play: shutFinishing("SIGTERM", false), Checks: isWhole(id, "two"), Needs: []harness.Feature{harness.NonStreaming}},
		},
		Checks: []harness.Check{
			{Name: "keeps-the-provider", Guarantee: id, Noun: "provider-connection", Expect: shows(expect.Never{What: providerLeft, Before: clientEnd})},
			exitsAt("shutdown.early-exit", last, last),
		},
	}
}
