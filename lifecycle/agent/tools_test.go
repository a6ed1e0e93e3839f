package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

// turns is a model that gives one list of items a turn.
type turns struct {
	items [][]llm.Item
	asked []llm.Request
}

func (m *turns) Stream(_ context.Context, r llm.Request, emit func(llm.Item) error) error {
	r.Messages = append([]llm.Message(nil), r.Messages...)
	m.asked = append(m.asked, r)
	for _, i := range m.items[len(m.asked)-1] {
		if err := emit(i); err != nil {
			return err
		}
	}
	return nil
}

// timed is a tool that takes as many seconds as its argument says and answers its id.
type timed struct{ called []string }

func (t *timed) List() []llm.Tool {
	return []llm.Tool{{Name: "wait"}, {Name: "fail"}, {Name: "refuse"}}
}

func (t *timed) Call(ctx context.Context, c llm.ToolCall, token int, progress func(run.ToolProgress)) (string, bool, error) {
	t.called = append(t.called, c.ID)
	var in struct{ S int }
	if err := json.Unmarshal([]byte(c.Arguments), &in); err != nil {
		return "", false, err
	}
	progress(run.ToolProgress{Token: token, Message: "begun"})
	select {
	case <-time.After(time.Duration(in.S) * time.Second):
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	}
	switch c.Name {
	case "fail":
		return "broken", true, nil
	case "refuse":
		return "", false, errors.New("connection refused")
	}
	return "waited " + fmt.Sprint(in.S), false, nil
}

func calling(calls ...llm.ToolCall) []llm.Item {
	items := []llm.Item{{Kind: llm.Text, Text: "let me see"}}
	for i, c := range calls {
		items = append(items, llm.Item{Kind: llm.ToolCallOpened, Index: i, Call: llm.ToolCall{ID: c.ID, Name: c.Name}},
			llm.Item{Kind: llm.ToolCallArguments, Index: i, Text: c.Arguments})
	}
	return append(items, llm.Item{Kind: llm.Finished, Text: "tool_calls"})
}

func answering() []llm.Item {
	return []llm.Item{{Kind: llm.Text, Text: "so"}, {Kind: llm.Finished, Text: "stop"}}
}

// play has an agent answer in virtual time and returns its tool events.
func play(t *testing.T, e Execution, model *turns, tools Tools) (events []string, err error) {
	synctest.Test(t, func(t *testing.T) {
		r := run.New("r", run.Config{Buffer: 100})
		defer r.End(run.Ending{How: run.Completed})
		err = (&Agent{Client: model, TurnDepth: 3, Execution: e}).Answer(r.Context(), r, question, tools)
		for range len(r.Events()) {
			switch e := (<-r.Events()).(type) {
			case run.ToolRequested:
				events = append(events, "requested "+e.ID)
			case run.ToolStarted:
				events = append(events, fmt.Sprintf("started %s token %d", e.ID, e.Token))
			case run.ToolProgress:
				events = append(events, fmt.Sprintf("progress %d", e.Token))
			case run.ToolUsage:
				events = append(events, fmt.Sprintf("usage %d of %v", e.Usage.Total, e.IDs))
			case run.ToolCompleted:
				events = append(events, fmt.Sprintf("completed %s after %s failed %t", e.ID, e.Duration, e.Failed))
			}
		}
	})
	return events, err
}

func TestExecution(t *testing.T) {
	three := func() *turns {
		return &turns{items: [][]llm.Item{calling(llm.ToolCall{ID: "a", Name: "wait", Arguments: `{"s":3}`}, llm.ToolCall{ID: "b", Name: "wait", Arguments: `{"s":1}`}), answering()}}
	}
	for _, tt := range []struct {
		name string
		how  Execution
		want []string
	}{
		{"sequentially each call is finished before the next is announced", Sequential, []string{
			"requested a", "started a token 1", "progress 1", "completed a after 3s failed false",
			"requested b", "started b token 2", "progress 2", "completed b after 1s failed false"}},
		{"in a batch all are announced first and told last", Batched, []string{
			"requested a", "requested b", "started a token 1", "progress 1", "started b token 2", "progress 2",
			"completed a after 4s failed false", "completed b after 4s failed false"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model, tools := three(), &timed{}
			events, err := play(t, tt.how, model, tools)
			require.NoError(t, err)
			require.Equal(t, tt.want, events)
			require.Equal(t, []string{"a", "b"}, tools.called)
			said := model.asked[1].Messages[len(question):]
			require.Equal(t, []llm.Message{
				{Role: "assistant", Content: "let me see", ToolCalls: []llm.ToolCall{{ID: "a", Name: "wait", Arguments: `{"s":3}`}, {ID: "b", Name: "wait", Arguments: `{"s":1}`}}},
				{Role: "tool", Content: "waited 3", ToolCallID: "a"}, {Role: "tool", Content: "waited 1", ToolCallID: "b"},
			}, said, "results go to the model in the order of the calls")
		})
	}
}

func TestUsageIsToldOfTheCallsWhoseResultsATurnReads(t *testing.T) {
	cost := func(total int, items []llm.Item) []llm.Item {
		return append([]llm.Item{{Kind: llm.UsageReported, Usage: llm.Usage{Total: total}}}, items...)
	}
	call := func(id string) llm.ToolCall { return llm.ToolCall{ID: id, Name: "fail"} }
	model := &turns{items: [][]llm.Item{cost(1, calling(call("a"), call("b"))), cost(2, calling(call("c"))), cost(4, answering())}}
	events, err := play(t, Sequential, model, &timed{})
	require.NoError(t, err)
	events = slices.DeleteFunc(events, func(e string) bool { return !strings.HasPrefix(e, "usage") })
	require.Equal(t, []string{"usage 2 of [a b]", "usage 4 of [c]"}, events)
}

func TestOverlappingExecution(t *testing.T) {
	model := func() *turns {
		return &turns{items: [][]llm.Item{calling(llm.ToolCall{ID: "a", Name: "wait", Arguments: `{"s":3}`}, llm.ToolCall{ID: "b", Name: "wait", Arguments: `{"s":1}`}), answering()}}
	}
	events, err := play(t, Concurrent, model(), &timed2{})
	require.NoError(t, err)
	require.Equal(t, []string{"completed b after 1s failed false", "completed a after 3s failed false"}, events[len(events)-2:])
	require.Contains(t, events, "requested b")

	events, err = play(t, ConcurrentFIFO, model(), &timed2{})
	require.NoError(t, err)
	require.Equal(t, []string{"completed a after 1s failed false", "completed b after 3s failed false"}, events[len(events)-2:], "the FIFO takes the first to finish for the first announced")
}

// timed2 is a timed that may be called at once.
type timed2 struct{}

func (timed2) List() []llm.Tool { return (&timed{}).List() }

func (timed2) Call(ctx context.Context, c llm.ToolCall, token int, progress func(run.ToolProgress)) (string, bool, error) {
	return (&timed{}).Call(ctx, c, token, progress)
}

func TestCallsThatCannotBeExecutedAreAnswered(t *testing.T) {
	for _, tt := range []struct {
		name      string
		call      llm.ToolCall
		want      string
		called    bool
		completed string
	}{
		{"arguments that were cut are not run", llm.ToolCall{ID: "a", Name: "wait", Arguments: `{"s":`}, "Invalid tool arguments: they are not a JSON object", false, "failed true"},
		{"arguments that are no object are not run", llm.ToolCall{ID: "a", Name: "wait", Arguments: `[1]`}, "Invalid tool arguments: they are not a JSON object", false, "failed true"},
		{"none are none", llm.ToolCall{ID: "a", Name: "wait"}, "waited 0", true, "failed false"},
		{"a tool that there is not", llm.ToolCall{ID: "a", Name: "wiat", Arguments: `{}`}, "Tool not found: wiat", false, "failed true"},
		{"a tool's own error is told as one", llm.ToolCall{ID: "a", Name: "fail", Arguments: `{}`}, "Tool returned an error: broken", true, "failed true"},
		{"so is one of the way to it", llm.ToolCall{ID: "a", Name: "refuse", Arguments: `{}`}, "Tool execution failed: connection refused", true, "failed true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model, tools := &turns{items: [][]llm.Item{calling(tt.call), answering()}}, &timed{}
			events, err := play(t, Sequential, model, tools)
			require.NoError(t, err)
			require.Equal(t, tt.called, len(tools.called) == 1)
			require.Equal(t, tt.want, model.asked[1].Messages[len(question)+1].Content)
			require.Contains(t, events[len(events)-1], tt.completed)
			for _, c := range model.asked[1].Messages[len(question)].ToolCalls {
				require.True(t, c.Arguments == "" || json.Valid([]byte(c.Arguments)), "providers refuse a conversation with %s in it", c.Arguments)
			}
		})
	}
}

func TestCallsOfAModelThatWasStoppedAreNotRun(t *testing.T) {
	items := calling(llm.ToolCall{ID: "a", Name: "wait", Arguments: `{}`})
	items[len(items)-1].Text = "length"
	tools := &timed{}
	events, err := play(t, Sequential, &turns{items: [][]llm.Item{items}}, tools)
	require.NoError(t, err)
	require.Empty(t, tools.called)
	require.Empty(t, events)
}

func TestTheLastTurnMayNotCall(t *testing.T) {
	call := calling(llm.ToolCall{ID: "a", Name: "wait", Arguments: `{}`})
	tools := &timed{}
	_, err := play(t, Sequential, &turns{items: [][]llm.Item{call, call, call}}, tools)
	require.ErrorIs(t, err, ErrMaxTurns)
	require.Len(t, tools.called, 2)
}

func TestAnEndedRunStopsItsTools(t *testing.T) {
	for _, how := range []Execution{Sequential, Batched, Concurrent, ConcurrentFIFO} {
		synctest.Test(t, func(t *testing.T) {
			r := run.New("r", run.Config{Buffer: 100, Stream: time.Minute})
			model := &turns{items: [][]llm.Item{calling(llm.ToolCall{ID: "a", Name: "wait", Arguments: `{"s":600}`}, llm.ToolCall{ID: "b", Name: "wait", Arguments: `{"s":600}`})}}
			start := time.Now()
			err := (&Agent{Client: model, TurnDepth: 3, Execution: how}).Answer(r.Context(), r, question, timed2{})
			require.Equal(t, run.StreamTimeout, Ending(err).Code, how)
			require.Equal(t, time.Minute, time.Since(start))
		})
	}
}

func TestArgumentsMayComeInterleaved(t *testing.T) {
	var p pending
	p.open(0, llm.ToolCall{ID: "a"})
	require.NoError(t, p.add(0, `{"n"`))
	p.open(1, llm.ToolCall{ID: "b"})
	require.NoError(t, p.add(1, `{"n":`))
	require.NoError(t, p.add(0, `:1}`))
	require.NoError(t, p.add(1, `2}`))
	require.ErrorContains(t, p.add(2, `{}`), "tool call 2 that was not opened")
	calls := p.whole()
	require.Len(t, calls, 2)
	require.Equal(t, `{"n":1}`, calls[0].Arguments)
	require.Equal(t, `{"n":2}`, calls[1].Arguments)
}
