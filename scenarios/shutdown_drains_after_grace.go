package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownDrainsAfterGrace: what is still going when the grace period is over is ended then, properly.
func shutdownDrainsAfterGrace() harness.Scenario {
	const id = "shutdown.drains-after-grace"
	said := []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}}
	done := func(ref string) harness.Check {
		return harness.Check{Name: "ends-the-answer-of-" + ref, Guarantee: id, Noun: "done", Expect: func(at harness.At) expect.Expectation {
			return expect.Happens{What: of(clientDone, ref), After: signal, From: at.Shutdown, To: at.Shutdown}
		}}
	}
	variants := []harness.Variant{
		{Name: "sigint", Play: shutSilent("SIGINT", true, said...)},
		{Name: "no-grace", Set: harness.Set{NoGrace: true}, Play: shutSilent("SIGTERM", true, said...)},
		{Name: "with-all-clocks", Set: harness.Set{Inactivity: true}, Play: shutSilent("SIGTERM", true, said...)},
		{Name: "several-runs", Checks: []harness.Check{done("first"), done("second"), done("third")}, Play: func(t *harness.Trial) {
			t.Script(silent(), silent(said...), silent(script.Role{}, script.Think{Chunks: []string{"well, "}}))
			first := t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true})
			second := t.Ask(caller.Ask{Name: "second", Prompt: "hello", Stream: true})
			third := t.Ask(caller.Ask{Name: "third", Prompt: "hello", Stream: true})
			t.Await(nth(providerStall, 3))
			t.Pass(awhile(t.Windows))
			t.Signal("SIGTERM")
			t.AwaitExit()
			t.AwaitEnd(first)
			t.AwaitEnd(second)
			t.AwaitEnd(third)
		}},
	}
	for _, p := range phases() {
		variants = append(variants, harness.Variant{Name: p.name, Dialects: p.on, Play: shutSilent("SIGTERM", true, p.steps...)})
	}
	variants = append(variants, orchestratedDrain())
	return harness.Scenario{
		ID:       "shutdown/drains-after-grace",
		Claim:    "a stream that outlives the grace period gets its end, and its model is left, exactly when the period is over",
		Needs:    []harness.Feature{harness.Signals, harness.Streaming},
		Alone:    true,
		Variants: variants,
		Checks: []harness.Check{
			{Name: "ends-the-answer", Guarantee: id, Noun: "done", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: clientDone, After: signal, From: at.Shutdown, To: at.Shutdown}
			}},
			{Name: "cuts-nobody", Guarantee: id, Noun: "cut", Expect: shows(expect.Never{What: saying(clientEnd, "cut")})},
			{Name: "leaves-the-provider", Guarantee: id, Noun: "provider-connection", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: providerLeft, After: signal, From: at.Shutdown, To: at.Shutdown + soon(at)}
			}},
			exitsAt(id, graceEnd, graceEnd),
		},
	}
}
