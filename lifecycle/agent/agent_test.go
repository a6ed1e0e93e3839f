package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripted plays the same items at every turn and then ends with err.
type scripted struct {
	items []llm.Item
	err   error
	asked []llm.Request
}

func (s *scripted) Stream(_ context.Context, r llm.Request, emit func(llm.Item) error) error {
	s.asked = append(s.asked, r)
	for _, i := range s.items {
		if err := emit(i); err != nil {
			return err
		}
	}
	return s.err
}

var question = []llm.Message{{Role: "user", Content: "first"}, {Role: "assistant", Content: "a"}, {Role: "user", Content: "q"}}

func TestAnswer(t *testing.T) {
	usage := func(p, c, total int) llm.Item {
		return llm.Item{Kind: llm.UsageReported, Usage: llm.Usage{Prompt: p, Completion: c, Total: total}}
	}
	tests := []struct {
		name  string
		items []llm.Item
		want  []run.Event
	}{
		{
			"text and reasoning become events in their order",
			[]llm.Item{{Kind: llm.Reasoning, Text: "hm"}, {Kind: llm.Text, Text: "a"}, {Kind: llm.Text, Text: "b"}, {Kind: llm.Finished, Text: "length"}},
			[]run.Event{run.Reasoning{Content: "hm"}, run.Text{Content: "a"}, run.Text{Content: "b"}, run.Finished{Reason: "length"}},
		},
		{
			"the last usage of a turn counts",
			[]llm.Item{usage(5, 1, 6), {Kind: llm.Finished, Text: "stop"}, usage(5, 3, 8)},
			[]run.Event{run.Finished{Reason: "stop", Usage: run.Usage{Prompt: 5, Completion: 3, Total: 8}, Reported: true}},
		},
		{
			"without tools a call ends the answer with the model's own reason",
			[]llm.Item{{Kind: llm.ToolCallOpened, Call: llm.ToolCall{ID: "c", Name: "n"}}, {Kind: llm.ToolCallArguments, Text: "{}"}, {Kind: llm.Finished, Text: "tool_calls"}},
			[]run.Event{run.Finished{Reason: "tool_calls"}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client := &scripted{items: test.items}
			r := run.New("r", run.Config{Buffer: 10})
			defer r.End(run.Ending{How: run.Completed})
			var prompts []string
			a := Agent{Client: client, Model: "m", SystemPrompt: "be brief", TurnDepth: 3, BeforeTurn: func(_ context.Context, prompt string) {
				prompts = append(prompts, prompt)
			}}
			require.NoError(t, a.Answer(r.Context(), r, question, nil))
			var got []run.Event
			for range len(r.Events()) {
				got = append(got, <-r.Events())
			}
			require.Equal(t, test.want, got)
			require.Equal(t, []string{"q"}, prompts)
			require.Equal(t, 1, r.Turns())
			system := llm.Message{Role: "system", Content: "be brief"}
			require.Equal(t, []llm.Request{{Model: "m", Messages: append([]llm.Message{system}, question...)}}, client.asked)
		})
	}
}

func TestUsageIsSummedOverTurns(t *testing.T) {
	total := sum(run.Usage{Prompt: 1, Completion: 2, Total: 3}, llm.Usage{Prompt: 10, Completion: 20, Total: 30})
	require.Equal(t, run.Usage{Prompt: 11, Completion: 22, Total: 33}, total)
}

func TestEveryItemFeedsTheClocks(t *testing.T) {
	for _, kind := range []llm.Kind{llm.Text, llm.Reasoning, llm.ToolCallOpened, llm.ToolCallArguments, llm.UsageReported, llm.Finished} {
		synctest.Test(t, func(t *testing.T) {
			r := run.New("r", run.Config{Buffer: 10})
			r.WatchItems(time.Minute, 0)
			r.ModelCall()
			turn := &turn{ctx: r.Context(), life: r}
			turn.calls.open(0, llm.ToolCall{})
			require.NoError(t, turn.item(llm.Item{Kind: kind}))
			time.Sleep(time.Hour)
			require.Zero(t, r.Ending())
			r.End(run.Ending{How: run.Completed})
		})
	}
}

func TestAnEndedRunStopsTheModel(t *testing.T) {
	client := &scripted{items: []llm.Item{{Kind: llm.Text, Text: "a"}}}
	r := run.New("r", run.Config{Buffer: 10})
	r.End(run.Ending{How: run.Disconnected})
	err := (&Agent{Client: client, TurnDepth: 1}).Answer(r.Context(), r, question, nil)
	require.Equal(t, run.Disconnected, Ending(err).How)
}

func TestEnding(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want run.Ending
	}{
		{"a provider's error keeps its words", &llm.Error{Code: llm.ProviderError, Message: "quota"}, run.Ending{How: run.Failed, Code: run.ProviderError, Message: "quota"}},
		{"a truncated stream is its own code", &llm.Error{Code: llm.ProviderTruncated, Message: "cut"}, run.Ending{How: run.Failed, Code: run.ProviderTruncated, Message: "cut"}},
		{"too many turns", ErrMaxTurns, run.Ending{How: run.Failed, Code: run.MaxTurns, Message: "the model did not finish within its turns"}},
		{"the run's own ending stays", run.Ending{How: run.TimedOut, Code: run.StreamTimeout}, run.Ending{How: run.TimedOut, Code: run.StreamTimeout}},
		{"what nobody foresaw tells the client nothing", errors.New("secret"), run.Ending{How: run.Failed, Code: run.InternalError, Message: "internal error"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, Ending(test.err))
		})
	}
	long := Ending(&llm.Error{Message: strings.Repeat("ü", 600)})
	require.LessOrEqual(t, len(long.Message), maxMessage+len("…"))
}
