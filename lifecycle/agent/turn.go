package agent

import (
	"context"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

// turn gathers what one model turn gave.
type turn struct {
	ctx      context.Context
	run      *run.Run
	reason   string
	usage    llm.Usage
	reported bool
}

// item takes one item of the provider. Every kind feeds the run's clocks, also those that nobody is shown.
func (t *turn) item(i llm.Item) error {
	t.run.Item()
	switch i.Kind {
	case llm.Text:
		return t.run.Emit(t.ctx, run.Text{Content: i.Text})
	case llm.Reasoning:
		return t.run.Emit(t.ctx, run.Reasoning{Content: i.Text})
	case llm.UsageReported:
		t.report(i.Usage)
	case llm.Finished:
		t.reason = i.Text
	}
	return nil
}

// report keeps the last usage of the turn: some providers count up while they stream.
func (t *turn) report(u llm.Usage) {
	t.usage = u
	t.reported = true
}

// last says whether the conversation ends with this turn. The agent has no tools, so it does even when the model asked for a call: the
// caller gets the finish reason tool_calls and nobody here answers it.
func (t *turn) last() bool { return true }

func sum(total run.Usage, u llm.Usage) run.Usage {
	total.Prompt += u.Prompt
	total.Completion += u.Completion
	total.Total += u.Total
	return total
}
