package agent

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

// turn gathers what one model turn gave.
type turn struct {
	ctx      context.Context
	life     Life
	tools    Tools
	names    []llm.Tool
	tokens   *atomic.Int64
	text     strings.Builder // of the answer, which goes before its calls into the conversation
	calls    pending
	reason   string
	usage    llm.Usage
	reported bool
}

// item takes one item of the provider. Every kind feeds the run's clocks, also those that nobody is shown.
func (t *turn) item(i llm.Item) error {
	t.life.Item()
	switch i.Kind {
	case llm.Text:
		if t.tools != nil {
			t.text.WriteString(i.Text)
		}
		return t.life.Emit(t.ctx, run.Text{Content: i.Text})
	case llm.Reasoning:
		return t.life.Emit(t.ctx, run.Reasoning{Content: i.Text})
	case llm.ToolCallOpened:
		t.calls.open(i.Index, i.Call)
	case llm.ToolCallArguments:
		return t.calls.add(i.Index, i.Text)
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

// last says whether the conversation ends with this turn: when the model asks for no call, when there is nobody to execute one (the
// caller gets the finish reason tool_calls), and when the model was stopped in the middle, so that its calls are not what it meant.
func (t *turn) last() bool {
	return t.tools == nil || len(t.calls.calls) == 0 || t.reason == "length" || t.reason == "content_filter"
}

// has says whether the model was told of a tool of that name.
func (t *turn) has(name string) bool {
	return slices.ContainsFunc(t.names, func(k llm.Tool) bool { return k.Name == name })
}

// said is the turn as the conversation keeps it.
func (t *turn) said(calls []*call) llm.Message {
	m := llm.Message{Role: "assistant", Content: t.text.String()}
	for _, c := range calls {
		asked := c.ToolCall
		if c.arguments == nil {
			asked.Arguments = "{}" // providers refuse a conversation with broken JSON in it
		}
		m.ToolCalls = append(m.ToolCalls, asked)
	}
	return m
}

func sum(total run.Usage, u llm.Usage) run.Usage {
	total.Prompt += u.Prompt
	total.Completion += u.Completion
	total.Total += u.Total
	return total
}
