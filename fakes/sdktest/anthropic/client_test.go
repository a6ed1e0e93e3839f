// Package anthropic_test has anthropic-sdk-go judge the fake's Messages.
package anthropic_test

import (
	"context"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	dialect "github.com/stallwright/stallwright/fakes/provider/anthropic"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

func start(t *testing.T, programs ...Program) (*fake.Provider, anthropic.Client) {
	t.Helper()
	f := fake.Start(t, dialect.Dialect{}, programs...)
	return f, anthropic.NewClient(option.WithBaseURL(f.URL), option.WithAPIKey(fake.Key), option.WithHTTPClient(f.Client))
}

func question() anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: "claude-x", MaxTokens: 100, StopSequences: []string{"END"},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("What is the weather in Oslo?"))},
	}
}

// stream asks for a stream, and takes all of it into the SDK's accumulator. kinds are the events that it hands over.
func stream(ctx context.Context, f *fake.Provider, client anthropic.Client, opts ...option.RequestOption) (got fake.Heard, kinds []string, err error) {
	s := client.Messages.NewStreaming(ctx, question(), opts...)
	defer s.Close()
	var m anthropic.Message
	for s.Next() {
		e := s.Current()
		kinds = append(kinds, e.Type)
		if err := m.Accumulate(e); err != nil {
			return heard(m), kinds, err
		}
		if e.Delta.Text != "" {
			f.Heard()
		}
	}
	return heard(m), kinds, s.Err()
}

// heard is a message, whichever way it came. Its refusal is the explanation of one.
func heard(m anthropic.Message) fake.Heard {
	h := fake.Heard{
		Finish: string(m.StopReason), Refusal: m.StopDetails.Explanation,
		Usage: fake.Usage{
			In: m.Usage.InputTokens, Out: m.Usage.OutputTokens,
			Reasoning: m.Usage.OutputTokensDetails.ThinkingTokens, Cached: m.Usage.CacheReadInputTokens,
		},
	}
	for _, block := range m.Content {
		switch b := block.AsAny().(type) {
		case anthropic.TextBlock:
			h.Text += block.Text
		case anthropic.ThinkingBlock:
			h.Thought += block.Thinking
			h.Signature += block.Signature
		case anthropic.ToolUseBlock:
			h.Calls = append(h.Calls, fake.Call{ID: b.ID, Name: b.Name, Args: string(block.Input)})
		}
	}
	return h
}

// whole asks for an answer in one piece.
func whole(client anthropic.Client, opts ...option.RequestOption) (fake.Heard, error) {
	m, err := client.Messages.New(context.Background(), question(), opts...)
	if err != nil {
		return fake.Heard{}, err
	}
	return heard(*m), nil
}
