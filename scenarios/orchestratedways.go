package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// What is asked of every run, asked of those with workers.

// orchestratedWay is one way in which an orchestrated run ends.
type orchestratedWay struct {
	name     string
	set      harness.Set
	needs    []harness.Feature
	panics   bool           // the second of two tasks does, one after the other; else they are side by side
	leaves   caller.Leaving // how the client leaves once a worker stalls; it stays when empty
	programs func(harness.Windows) []script.Program
}

func orchestratedWays() []orchestratedWay {
	cut := script.Program{Steps: []script.Step{script.Text{Chunks: []string{"so "}}, fault.Cut{}}}
	stalls := silent(script.Role{}, script.Text{Chunks: []string{"so "}})
	always := func(programs ...script.Program) func(harness.Windows) []script.Program {
		return func(harness.Windows) []script.Program { return programs }
	}
	return []orchestratedWay{
		{name: "completed", programs: always(delivers(alpha, "sun"), delivers(beta, "rain"), responds("rain it is"))},
		{name: "one-task-stalled", set: harness.Set{TaskInactivity: true}, programs: always(by(alpha, stalls), delivers(beta, "rain"), responds("rain it is"))},
		{name: "all-tasks-failed", programs: always(by(alpha, cut), by(beta, cut))},
		{name: "stream-cap", programs: always(by(alpha, stalls), delivers(beta, "rain"))},
		{name: "left", leaves: caller.Close, programs: always(by(alpha, stalls), delivers(beta, "rain"))},
		{name: "worker-panic", needs: []harness.Feature{harness.FaultHooks}, panics: true, programs: always(delivers(beta, "rain"))},
	}
}

// plan is what the coordinator decides for a run that is to end so.
func (y orchestratedWay) plan(t *harness.Trial) script.Program {
	one, other := task(t, alpha), task(t, beta)
	if y.panics {
		one.Task += "[[fault:panic]]"
		return plans(other, one)
	}
	return plans(sideBySide(one, other))
}

// lastOf is a program after which the model's side closes the connection, and says so before.
func lastOf(p script.Program) script.Program {
	p.Steps = slices.Concat([]script.Step{lastOnConnection()}, p.Steps)
	if at := len(p.Steps) - 1; p.Steps[at] == (script.End{}) {
		p.Steps[at] = script.End{Close: true}
	}
	return p
}

// orchestratedReleases are the variants of run/released-at-end.
func orchestratedReleases() []harness.Variant {
	var variants []harness.Variant
	for _, y := range orchestratedWays() {
		set := y.set
		set.Orchestrated = true
		needs := append([]harness.Feature{harness.Orchestration}, y.needs...)
		variants = append(variants, harness.Variant{Name: "orchestrated-" + y.name, Set: set, Needs: needs, Dialects: chat()[:1], Reached: []expect.Event{asked(beta)}, Play: func(t *harness.Trial) {
			programs := []script.Program{lastOf(responds("first")), lastOf(y.plan(t))}
			for _, p := range y.programs(t.Windows) {
				programs = append(programs, lastOf(p))
			}
			t.Script(append(programs, lastOf(responds("last")))...)
			t.AwaitEnd(t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true}))
			t.Census()
			y.play(t)
			t.AwaitEnd(t.Ask(caller.Ask{Name: "last", Prompt: "hello again", Stream: true}))
			t.Census()
			t.Signal("SIGTERM")
			t.AwaitExit()
		}})
	}
	return variants
}

// play has one run end so.
func (y orchestratedWay) play(t *harness.Trial) {
	r := t.Ask(caller.Ask{Name: "between", Prompt: "hello", Stream: true})
	if y.leaves == "" {
		t.AwaitEnd(r)
		return
	}
	stall := t.Await(providerStall)
	t.Pass(t.Stage.Tick) // what was sent before is read
	r.Leave(y.leaves)
	t.Await(of(providerLeft, stall.Ref))
}

// orchestratedEndings are the variants of run/one-ending, with its checks.
func orchestratedEndings(completed, failed, unseen []harness.Check) []harness.Variant {
	var variants []harness.Variant
	for _, y := range orchestratedWays() {
		checks := completed
		switch {
		case y.leaves != "":
			checks = unseen
		case y.name == "all-tasks-failed", y.name == "stream-cap", y.name == "worker-panic":
			checks = failed
		}
		set := y.set
		set.Orchestrated = true
		variants = append(variants, harness.Variant{
			Name: "orchestrated-" + y.name, Set: set, Needs: append([]harness.Feature{harness.Orchestration}, y.needs...), Dialects: chat()[:1],
			Checks: checks, Reached: []expect.Event{asked(beta)}, Play: func(t *harness.Trial) {
				t.Script(append([]script.Program{y.plan(t)}, y.programs(t.Windows)...)...)
				y.play(t)
			}})
	}
	return variants
}

// orchestratedDrain is the variant of shutdown/drains-after-grace.
func orchestratedDrain() harness.Variant {
	return harness.Variant{Name: "orchestrated", Set: harness.Set{Orchestrated: true}, Needs: []harness.Feature{harness.Orchestration}, Dialects: chat()[:1], Play: func(t *harness.Trial) {
		t.Script(plans(sideBySide(task(t, alpha), task(t, beta))), by(alpha, silent(script.Role{}, script.Text{Chunks: []string{"so "}})), delivers(beta, "rain"))
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
		t.Await(providerStall)
		t.Pass(awhile(t.Windows))
		t.Signal("SIGTERM")
		t.AwaitExit()
		t.AwaitEnd(r)
	}}
}
