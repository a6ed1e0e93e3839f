package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerUsageOnce: running totals are not increments, and the client is told one number once.
func providerUsageOnce() harness.Scenario {
	last := script.Usage{Prompt: 9, Completion: 37}
	reported := []script.Step{script.Role{}, script.Text{Chunks: []string{"one ", "two"}}, script.Finish{Reason: "stop"}, last, script.Done{}, script.End{}}
	twice := slices.Insert(slices.Clone(reported), 2, script.Step(script.Usage{Prompt: 9, Completion: 13}))
	return harness.Scenario{
		ID:    "provider/usage-once",
		Claim: "the client is told the usage that the model reported last, once, at the end",
		Variants: slices.Concat([]harness.Variant{
			counting("reported", true, reported...),
			counting("reported-on-the-way", true, twice...),
			counting("reported-whole", false, reported...),
			counting("reported-on-the-way-whole", false, twice...),
			{Name: "of-a-failed-call", Set: harness.Set{Orchestrated: true}, Needs: []harness.Feature{harness.Streaming, harness.Orchestration}, Dialects: chat()[:1], Play: countingBoth},
		}, usageOfChat(), usageOfResponses(), usageOfAnthropic(), usageOfGemini(), usageOfOllama()),
		Checks: []harness.Check{
			{Name: "the-last-value", Guarantee: "provider.usage-once", Noun: "usage", Expect: shows(expect.Says{What: clientUsage, Text: "prompt 9, completion 37, total 46"})},
		},
	}
}

// counting is an answer of a model that has counted 9 tokens of prompt and 37 of output when it ends.
func counting(name string, stream bool, steps ...script.Step) harness.Variant {
	v := harness.Variant{Name: name, Needs: []harness.Feature{harness.NonStreaming}, Play: func(t *harness.Trial) {
		t.Script(script.Program{Steps: steps})
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
	}}
	if !stream {
		v.Checks = []harness.Check{{Name: "once", Guarantee: "provider.usage-once", Noun: "usage", Expect: shows(expect.Times{What: clientUsage, Min: 1, Max: 1})}}
		return v
	}
	v.Needs = []harness.Feature{harness.Streaming}
	v.Checks = []harness.Check{
		{Name: "once", Guarantee: "provider.usage-once", Noun: "usage", Expect: shows(expect.Times{What: clientUsage, After: clientFinish, Min: 1, Max: 1})},
		{Name: "at-the-end", Guarantee: "provider.usage-once", Noun: "usage-before-the-end", Expect: shows(expect.Never{What: clientUsage, Before: clientFinish})},
		{Name: "event-agrees", Guarantee: "provider.usage-once", Noun: "usage-event", Needs: []harness.Feature{harness.CustomEvents},
			Expect: shows(expect.Says{What: saying(clientEvent, "aura.usage "), Text: `"total_tokens":46`})},
		{Name: "one-event", Guarantee: "provider.usage-once", Noun: "usage-event", Needs: []harness.Feature{harness.CustomEvents},
			Expect: shows(expect.Times{What: saying(clientEvent, "aura.usage "), Min: 1, Max: 1})},
	}
	return v
}

// countingBoth is a run whose tokens were used by a worker that delivers and by one that is cut; the coordinator counts none.
func countingBoth(t *harness.Trial) {
	unpaid := func(p script.Program) script.Program {
		p.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s script.Step) bool { _, ok := s.(script.Usage); return ok })
		return p
	}
	cut := by(alpha, script.Program{Steps: []script.Step{script.Role{}, script.Text{Chunks: []string{"so "}}, script.Usage{Prompt: 4, Completion: 30}, fault.Cut{}}})
	fine := unpaid(delivers(beta, "rain"))
	fine.Steps = slices.Insert(fine.Steps, len(fine.Steps)-2, script.Step(script.Usage{Prompt: 5, Completion: 7}))
	t.Script(unpaid(plans(sideBySide(task(t, alpha), task(t, beta)))), cut, fine, unpaid(responds("rain it is")))
	t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
}

// countingIn is one in the bytes of a dialect.
func countingIn(dialect, name string, stream bool, pieces ...string) harness.Variant {
	var steps []script.Step
	for _, p := range pieces {
		steps = append(steps, script.Raw{Bytes: p})
	}
	v := counting(name, stream, append(steps, script.End{})...)
	v.Dialects = speaking(dialect)
	return v
}
