package scenarios

import (
	"bytes"
	"fmt"
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/overlap"
	"github.com/stallwright/stallwright/harness/verdict"
)

// sequentialParallelCalls measures how the calls of one turn are executed: what a server's correlation of events rests on.
func sequentialParallelCalls() harness.Scenario {
	const most = 8
	play := func(n int) func(*harness.Trial) {
		return func(t *harness.Trial) {
			servers := len(t.Stage.Tools) // a server that runs already has its own number of them
			var calls []script.Step
			for i := range n {
				name := harness.ToolNames(i % servers)[0]
				calls = append(calls, t.ToolCall(overlap.ID(i+1), name, fmt.Sprintf(`{"key":%q}`, overlap.Key(i+1))))
			}
			t.Script(asks(t, calls...)...)
			var kits []mcp.Script
			for s := range servers {
				kits = append(kits, mcp.Script{Tools: []mcp.Tool{{Name: harness.ToolNames(s)[0], Run: lasting(n, t.Stage.Tick/3)}}})
			}
			t.Tools(kits...)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	var variants []harness.Variant
	for n := 2; n <= most; n++ {
		variants = append(variants, harness.Variant{
			Name: fmt.Sprintf("%d-calls", n), Set: harness.Set{Tools: harness.HTTPTools + "+" + harness.HTTPTools + "+" + harness.HTTPTools},
			Play: play(n), Reached: []expect.Event{nth(toolRequest, n)}, Checks: []harness.Check{
				{Name: "is-measured", Guarantee: "tools.overlap-measured", Noun: "overlap", Expect: shows(measured{n})},
				{Name: "is-sequential", Guarantee: "tools.sequential", Noun: "overlap", Needs: []harness.Feature{harness.SequentialTools}, Expect: shows(oneByOne{n})},
			},
		})
	}
	return harness.Scenario{
		ID:       "sequential/parallel-calls",
		Claim:    "the tool calls that a model asks for in one turn are announced, executed and finished one after another, in its order",
		Needs:    []harness.Feature{harness.Streaming},
		Anywhere: true,
		Variants: variants,
	}
}

// lasting is a tool whose first calls last longest, so that calls that overlap end in another order than they began.
func lasting(n int, unit time.Duration) func(mcp.Call) []script.Step {
	return func(c mcp.Call) []script.Step {
		for i := range n {
			key := overlap.Key(i + 1)
			if bytes.Contains(c.Arguments, []byte(`"key":"`+key+`"`)) {
				return []script.Step{script.Pause{For: time.Duration(n-i) * unit}, mcp.Result{Text: overlap.Done(key)}}
			}
		}
		return []script.Step{mcp.Result{Text: "no key"}}
	}
}

// drawn is how wide the calls are drawn: a line of a terminal.
const drawn = 78

// measured passes with what it found, whatever that is; a turn that shows nothing is no measurement.
type measured struct{ calls int }

func (m measured) Judge(h expect.History) expect.Judgement {
	p := overlap.Of(h.Events, m.calls)
	v := verdict.Pass
	if p.Answer == overlap.Unknown {
		v = verdict.Inconclusive
	}
	drawing := p.Draw(drawn)
	for _, b := range p.Breaks() {
		drawing = append(drawing, "a FIFO would break: "+b)
	}
	return expect.Judgement{Verdict: v, Evidence: verdict.Evidence{Kind: verdict.Value, At: h.End, Expected: m.String(), Found: p.String(), Drawing: drawing}}
}

func (m measured) String() string {
	return fmt.Sprintf("%d calls of one turn, seen to their ends", m.calls)
}

// oneByOne fails unless the calls ran one after another.
type oneByOne struct{ calls int }

func (o oneByOne) Judge(h expect.History) expect.Judgement {
	p := overlap.Of(h.Events, o.calls)
	ev := verdict.Evidence{Kind: verdict.Order, At: h.End, Expected: o.String(), Found: p.String()}
	switch p.Answer {
	case overlap.Sequential:
		return expect.Judgement{Verdict: verdict.Pass, Evidence: ev}
	case overlap.Unknown:
		return expect.Judgement{Verdict: verdict.Inconclusive, Evidence: ev}
	}
	return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
}

func (o oneByOne) String() string { return "sequential, no id wrong" }
