package scenarios

import (
	"fmt"
	"strings"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// orchestrateMalformedPlanIsError: a plan that cannot be carried out is told to the coordinator, and then to the client.
func orchestrateMalformedPlanIsError() harness.Scenario {
	const id = "orchestrate.malformed-plan-is-error"
	told := []harness.Check{{Name: "tells-the-coordinator", Guarantee: id, Noun: "told-error", Expect: func(at harness.At) expect.Expectation {
		return expect.Happens{What: toldPlan(), After: nth(asked(leader), 2), To: at.Once}
	}}}
	wrong := func(name string, call func(*harness.Trial) script.Tool) harness.Variant {
		return harness.Variant{Name: name, Checks: told, Play: func(t *harness.Trial) {
			p := by(leader, calling(script.Role{}, call(t)))
			p.Times = harness.PlanAttempts
			t.Script(p)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}}
	}
	plan := func(steps func(*harness.Trial) []planStep) func(*harness.Trial) script.Tool {
		return func(t *harness.Trial) script.Tool { return createsPlan("plan_1", steps(t)...) }
	}
	raw := func(arguments string) func(*harness.Trial) script.Tool {
		return func(*harness.Trial) script.Tool {
			return script.Tool{ID: "plan_1", Name: "create_plan", Args: []string{arguments}}
		}
	}
	const head = `{"goal":"an answer","routing_rationale":"it takes work","planning_summary":"as it says","steps":`
	variants := []harness.Variant{
		wrong("no-steps", plan(func(*harness.Trial) []planStep { return nil })),
		wrong("empty-chain", raw(head+`[{"type":"chain","steps":[]}]}`)),
		wrong("empty-group", raw(head+`[{"type":"parallel","items":[]}]}`)),
		wrong("no-json", raw(head+`[{"type":"task","task":"do it","worker":"alpha"`)),
		wrong("steps-are-a-number", raw(head+`7}`)),
		wrong("unknown-step", raw(head+`[{"type":"loop","steps":[{"type":"task","task":"do it","worker":"alpha"}]}]}`)),
		// What steps cannot say must not be passed over: this order would be another than what is done.
		wrong("need-each-other", func(t *harness.Trial) script.Tool {
			return raw(head + fmt.Sprintf(`[{"type":"task","task":%q,"worker":"alpha","depends_on":[1]},{"type":"task","task":%q,"worker":"beta","depends_on":[0]}]}`,
				t.Marked("do it"), t.Marked("do that")))(t)
		}),
		wrong("unknown-worker", plan(func(t *harness.Trial) []planStep { return []planStep{task(t, alpha), task(t, "nobody")} })),
		wrong("empty-task", plan(func(t *harness.Trial) []planStep { return []planStep{task(t, alpha), {Type: "task", Worker: beta}} })),
		wrong("deep", plan(func(t *harness.Trial) []planStep {
			s := task(t, alpha)
			for range 200 {
				s = sideBySide(s)
			}
			return []planStep{s}
		})),
		wrong("ten-thousand-tasks", raw(head+`[{"type":"parallel","items":[`+strings.TrimSuffix(strings.Repeat(`{"type":"task","task":"x"},`, 10_000), ",")+`]}]}`)),
		{Name: "only-talk", Play: func(t *harness.Trial) {
			p := by(leader, proper(script.Role{}, script.Text{Chunks: []string{"I would make a plan."}}))
			p.Times = harness.PlanAttempts
			t.Script(p)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}},
		{Name: "no-steps-whole", Needs: []harness.Feature{harness.NonStreaming}, Checks: told, Play: func(t *harness.Trial) {
			p := plans()
			p.Times = harness.PlanAttempts
			t.Script(p)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello"}))
		}},
	}
	for i := range variants {
		variants[i].Set.Orchestrated = true
		if variants[i].Needs == nil {
			variants[i].Needs = []harness.Feature{harness.Streaming}
		}
	}
	return harness.Scenario{
		ID:       "orchestrate/malformed-plan-is-error",
		Claim:    "a plan that cannot be carried out is an error for the coordinator, and after the configured number of attempts one that the client sees; nothing of it is done",
		Needs:    []harness.Feature{harness.Orchestration},
		Dialects: chat()[:1],
		Variants: variants,
		Checks: []harness.Check{
			requests(id, leader, harness.PlanAttempts), requests(id, alpha, 0), requests(id, beta, 0),
			{Name: "fails-visibly", Guarantee: id, Noun: "error-frame", Needs: []harness.Feature{harness.ErrorFrames}, Expect: shows(expect.Times{What: clientError, Min: 1, Max: 1})},
			{Name: "is-no-success", Guarantee: id, Noun: "finish", Expect: shows(expect.Never{What: clientFinish})},
		},
	}
}
