package agent

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

// gate answers by the name of the tool.
type gate func(ctx context.Context, c llm.ToolCall) (Permission, error)

func (g gate) Ask(ctx context.Context, _ Life, c llm.ToolCall) (Permission, error) { return g(ctx, c) }

// throughGate has an agent answer with a gate, and returns its run, the tools and how it ended.
func throughGate(e Execution, g gate, calls ...llm.ToolCall) (told []llm.Message, tools *timed, err error) {
	model := &turns{items: [][]llm.Item{calling(calls...), answering()}}
	tools = &timed{}
	r := run.New("r", run.Config{Buffer: 100})
	defer r.End(run.Ending{How: run.Completed})
	err = (&Agent{Client: model, TurnDepth: 3, Execution: e, Gate: g}).Answer(r.Context(), r, question, tools)
	if len(model.asked) > 1 {
		told = model.asked[1].Messages[len(question)+1:]
	}
	return told, tools, err
}

func TestAGateDecidesOnCallsThatCouldBeMade(t *testing.T) {
	for _, how := range []Execution{Sequential, Batched, Concurrent} {
		synctest.Test(t, func(t *testing.T) {
			var asked []string
			told, tools, err := throughGate(how, func(_ context.Context, c llm.ToolCall) (Permission, error) {
				asked = append(asked, c.Name)
				return Permission{Told: "no", Failed: true}, nil
			}, llm.ToolCall{ID: "a", Name: "wait", Arguments: `{"s":1}`}, llm.ToolCall{ID: "b", Name: "unknown", Arguments: `{}`}, llm.ToolCall{ID: "c", Name: "wait", Arguments: `{"s":`})
			require.NoError(t, err)
			require.Equal(t, []string{"wait"}, asked)
			require.Empty(t, tools.called)
			require.Equal(t, "no", told[0].Content)
		})
	}
}

func TestAGateThatFailsEndsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("gone")
		_, tools, err := throughGate(Sequential, func(context.Context, llm.ToolCall) (Permission, error) { return Permission{}, gone },
			llm.ToolCall{ID: "a", Name: "wait", Arguments: `{"s":1}`})
		require.ErrorIs(t, err, gone)
		require.Empty(t, tools.called)
	})
}

func TestAPanicOfOneCallEndsTheOthersThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var cause error
		require.PanicsWithValue(t, "a fault", func() {
			_, _, _ = throughGate(Concurrent, func(ctx context.Context, c llm.ToolCall) (Permission, error) {
				if c.Name == "fail" {
					time.Sleep(time.Second)
					panic("a fault")
				}
				<-ctx.Done()
				cause = context.Cause(ctx)
				return Permission{}, cause
			}, llm.ToolCall{ID: "a", Name: "wait", Arguments: `{"s":1}`}, llm.ToolCall{ID: "b", Name: "fail", Arguments: `{}`})
		})
		require.Equal(t, time.Second, time.Since(began))
		require.Equal(t, run.InternalError, cause.(run.Ending).Code)
	})
}
