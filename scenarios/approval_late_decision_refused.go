package scenarios

import (
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// approvalLateDecisionRefused: who decides too late is told so.
func approvalLateDecisionRefused() harness.Scenario {
	const guarantee = "approval.late-decision-refused"
	var variants []harness.Variant
	for _, e := range approvalEndings() {
		if e.by(harness.Conversational) && !e.exits() {
			variants = append(variants, harness.Variant{Name: e.name, Needs: e.needs, Set: approving(harness.Conversational), Play: e.play})
		}
	}
	variants = append(variants, harness.Variant{Name: "expired", Set: expiring(harness.Conversational), Checks: []harness.Check{endWell(guarantee, 1)}, Play: func(t *harness.Trial) {
		t.Script(books(t)...)
		t.Tools(toolOf("book", 0, "booked"))
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		t.DecideAll()
		t.Pass(t.Stage.Tick)
	}})
	return harness.Scenario{
		ID:       "approval/late-decision-refused",
		Claim:    "a yes that comes when its approval has expired or its run is over is answered with 404, and the tool is not run",
		Needs:    needsApprovals(),
		Dialects: chat()[:1],
		Variants: variants,
		Checks:   []harness.Check{answeredTo(guarantee, "late-1", refused), notRun(guarantee)},
	}
}
