package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// way is one way in which a run ends: what the model does, and whether the client stays for it.
type way struct {
	name   string
	set    harness.Set
	whole  bool           // the request does not stream
	clock  bool           // a clock ends it
	leaves caller.Leaving // how the client leaves once the model stalls; it stays when empty
	body   string         // what is asked, in place of a prompt
	prompt string         // the way's name when empty
	needs  []harness.Feature
	tool   mcp.Tool                            // that the model calls in a turn before; none without a name
	steps  func(harness.Windows) []script.Step // nil when no model is asked, or not again
}

// ways are all of them but a shutdown.
func ways() []way {
	always := func(steps ...script.Step) func(harness.Windows) []script.Step {
		return func(harness.Windows) []script.Step { return steps }
	}
	spoken := script.Text{Chunks: []string{"so far"}}
	return []way{
		{name: "completed", steps: always(parting("all ", "said").Steps...)},
		{name: "completed-whole", whole: true, steps: always(parting("all ", "said").Steps...)},
		{name: "refused", steps: always(fault.Status{Code: 500})},
		{name: "refused-whole", whole: true, steps: always(fault.Status{Code: 500})},
		// The rest of the answer is long in coming: a server that does not close its side keeps it.
		{name: "error-frame", steps: func(w harness.Windows) []script.Step {
			return []script.Step{lastOnConnection(), spoken, script.Error{Code: "overloaded", Message: "try again later"}, script.Pause{For: w.Heartbeat}, script.End{Close: true}}
		}},
		{name: "cut", steps: always(spoken, fault.Cut{})},
		{name: "cut-whole", whole: true, steps: always(spoken, fault.Cut{})},
		{name: "reset", steps: always(fault.Reset{})},
		{name: "first-chunk", clock: true, steps: always(script.Headers{}, fault.Stall{})},
		{name: "inactivity", clock: true, set: harness.Set{Inactivity: true}, steps: always(spoken, fault.Stall{})},
		{name: "stream-cap", clock: true, steps: always(spoken, fault.Stall{})},
		{name: "stream-cap-whole", clock: true, whole: true, steps: always(spoken, fault.Stall{})},
		{name: "left-before-headers", leaves: caller.Close, steps: always(fault.Stall{})},
		{name: "left-before-text", leaves: caller.Reset, steps: always(script.Headers{}, fault.Stall{})},
		{name: "left-in-text", leaves: caller.Close, steps: always(spoken, fault.Stall{})},
		{name: "left-whole", whole: true, leaves: caller.Close, steps: always(spoken, fault.Stall{})},
		{name: "no-messages", body: `{"stream":true,"messages":[]}`},
		{name: "no-json", body: `{"stream":true,"messages":[`},
		{name: "panic", prompt: "[[fault:panic]]", needs: []harness.Feature{harness.FaultHooks}},
		{name: "panic-whole", whole: true, prompt: "[[fault:panic]]", needs: []harness.Feature{harness.FaultHooks}},
	}
}

// programs are what the model plays for a run that is to end so, if it is asked.
func (y way) programs(w harness.Windows) []script.Program {
	var programs []script.Program
	if y.tool.Name != "" {
		call := script.Tool{ID: "call_1", Name: y.tool.Name, Args: []string{`{"city":"Oslo"}`}}
		steps := append([]script.Step{lastOnConnection(), call}, closing("tool_calls")...)
		steps[len(steps)-1] = script.End{Close: true}
		programs = append(programs, script.Program{Steps: steps})
	}
	if y.steps != nil {
		programs = append(programs, script.Program{Steps: y.steps(w)})
	}
	return programs
}

// alone is a prompt that is no part of another's.
func (y way) alone() string { return "to-" + y.name + "." }

// play has one run end so, in the so-many-th round. The model must have been asked n-1 times in its trial, and no other run is under way.
func (y way) play(t *harness.Trial, n, round int) {
	ref := fmt.Sprintf("#%d", n)
	r := t.Ask(caller.Ask{Prompt: cmp.Or(y.prompt, y.name), Body: y.body, Stream: !y.whole})
	switch {
	case y.leaves == "":
		t.AwaitEnd(r)
	case y.tool.Name != "":
		t.Await(nth(saying(toolRequest, fmt.Sprintf("%q", y.tool.Name)), round))
		r.Leave(y.leaves)
	default:
		t.Await(of(providerStall, ref))
		r.Leave(y.leaves)
		t.Await(of(providerLeft, ref))
	}
	if y.tool.Name != "" {
		t.Pass(t.Stage.Tick) // an agent may be given back when its answer has gone
	}
}

// parting is the program of a good answer after which the model's side closes the connection, and says so before. A
// server may keep the connections of other answers for its next request, and then holds now one more and now one less.
func parting(chunks ...string) script.Program {
	steps := script.Answer(chunks...).Steps
	return script.Program{Steps: slices.Concat([]script.Step{lastOnConnection()}, steps[:len(steps)-1], []script.Step{script.End{Close: true}})}
}

func lastOnConnection() script.Headers {
	return script.Headers{Header: map[string]string{"Connection": "close"}}
}

// leaking plays the quick ways in turn, the whole round a few times, between two counts of what the server holds, and
// then the slow ones at once. The same request before each count makes them equal: a server sets
// some things up at its first one only.
func leaking(quick, slow []way) func(*harness.Trial) {
	const rounds = 3
	return func(t *harness.Trial) {
		programs := []script.Program{parting("first")}
		for range rounds {
			for _, y := range quick {
				programs = append(programs, y.programs(t.Windows)...)
			}
		}
		for _, y := range slow {
			for _, p := range y.programs(t.Windows) {
				p.When, p.Times = script.When{Contains: y.alone()}, rounds
				programs = append(programs, p)
			}
		}
		t.Script(append(programs, parting("last"))...)
		if t.Case.Variant.Set.Tools != harness.NoTools {
			t.Tools(listing(append(quick[:len(quick):len(quick)], slow...)))
		}
		t.AwaitEnd(t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true}))
		t.Census()
		asked := 1
		for round := range rounds {
			for _, y := range quick {
				y.play(t, asked+1, round+1)
				asked += len(y.programs(t.Windows))
			}
		}
		var under []*caller.Request
		for range rounds {
			for _, y := range slow {
				under = append(under, t.Ask(caller.Ask{Prompt: y.alone(), Stream: !y.whole}))
			}
		}
		for _, r := range under {
			t.AwaitEnd(r)
		}
		t.AwaitEnd(t.Ask(caller.Ask{Name: "last", Prompt: "hello again", Stream: true}))
		t.Census()
	}
}

// split are those of the ways that a server with these settings shows: those that end when model, tool or client say so, those that
// end when a clock does, and those that not every server has.
func split(ways []way, set harness.Set) (quick, slow, faults []way) {
	for _, y := range ways {
		switch {
		case y.needs != nil:
			faults = append(faults, y)
		case y.clock && y.set == set:
			slow = append(slow, y)
		case !y.clock:
			quick = append(quick, y)
		}
	}
	return quick, slow, faults
}

// leakVariants are the settings under which every way can be played.
func leakVariants() []harness.Variant {
	inactivity := harness.Set{Inactivity: true}
	quick, slow, faults := split(ways(), harness.Set{})
	_, slower, _ := split(ways(), inactivity)
	return append([]harness.Variant{
		{Name: "all-endings", Play: leaking(quick, slow)},
		{Name: "with-inactivity", Set: inactivity, Play: leaking(quick, slower)},
		{Name: "panics", Needs: []harness.Feature{harness.FaultHooks}, Play: leaking(faults, nil)},
	}, append(leakToolVariants(), diesIdle())...)
}

// forOnly are the programs for requests that have the name in their prompt, as askFor puts it there: so several runs of a trial are told apart.
func forOnly(name string, programs ...script.Program) []script.Program {
	for i := range programs {
		programs[i].When.Contains = "for-" + name
	}
	return programs
}

// askFor is the request that they are for.
func askFor(name string, stream bool) caller.Ask {
	return caller.Ask{Name: name, Prompt: "for-" + name, Stream: stream}
}
