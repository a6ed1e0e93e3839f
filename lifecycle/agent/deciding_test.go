package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

// handingIn are tools of which one ends the answer.
type handingIn struct{ timed }

func (*handingIn) Decides(name string) bool { return name == "fail" }

func again() []llm.Item { return calling(llm.ToolCall{ID: "a", Name: "wait", Arguments: `{"s":1}`}) }

func TestATurnThatDecidesIsTheLast(t *testing.T) {
	tests := []struct {
		name   string
		items  [][]llm.Item
		called []string
		err    error
	}{
		{"the calls before the one that ends it are executed, and those behind it are not", [][]llm.Item{calling(
			llm.ToolCall{ID: "a", Name: "wait", Arguments: `{"s":1}`}, llm.ToolCall{ID: "b", Name: "fail", Arguments: `{"s":0}`},
			llm.ToolCall{ID: "c", Name: "wait", Arguments: `{"s":1}`})}, []string{"a", "b"}, nil},
		{"arguments that cannot be read end it as well", [][]llm.Item{calling(llm.ToolCall{ID: "a", Name: "fail", Arguments: `{"s":`})}, nil, nil},
		{"the last turn may decide", [][]llm.Item{
			again(), again(), calling(llm.ToolCall{ID: "b", Name: "fail", Arguments: `{"s":0}`}),
		}, []string{"a", "a", "b"}, nil},
		{"another call in the last turn is one too many", [][]llm.Item{
			again(), again(), calling(llm.ToolCall{ID: "b", Name: "wait", Arguments: `{"s":0}`}),
		}, []string{"a", "a"}, ErrMaxTurns},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			model, tools := &turns{items: test.items}, &handingIn{}
			_, err := play(t, Sequential, model, tools)
			require.ErrorIs(t, err, test.err)
			require.Equal(t, test.called, tools.called)
			require.Len(t, model.asked, len(test.items))
		})
	}
}
