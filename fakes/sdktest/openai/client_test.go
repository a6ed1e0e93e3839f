// Package openai_test has openai-go judge the fake's Chat Completions.
package openai_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	dialect "github.com/stallwright/stallwright/fakes/provider/openai"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

func start(t *testing.T, programs ...Program) (*fake.Provider, openai.Client) {
	t.Helper()
	return startAs(t, dialect.Dialect{}, programs...)
}

func startAs(t *testing.T, d dialect.Dialect, programs ...Program) (*fake.Provider, openai.Client) {
	t.Helper()
	f := fake.Start(t, d, programs...)
	return f, openai.NewClient(option.WithBaseURL(f.URL+"/v1/"), option.WithAPIKey(fake.Key), option.WithHTTPClient(f.Client))
}

func question() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:         "gpt-x",
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is the weather in Oslo?")},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
}

// stream asks for a stream, and takes all of it into the SDK's accumulator.
func stream(t *testing.T, ctx context.Context, f *fake.Provider, client openai.Client, opts ...option.RequestOption) (fake.Heard, error) {
	t.Helper()
	s := client.Chat.Completions.NewStreaming(ctx, question(), opts...)
	defer s.Close()
	var acc openai.ChatCompletionAccumulator
	var thought strings.Builder
	for s.Next() {
		chunk := s.Current()
		require.True(t, acc.AddChunk(chunk), "the accumulator refuses %s", chunk.RawJSON())
		for _, choice := range chunk.Choices {
			thought.WriteString(extra(t, choice.Delta.JSON.ExtraFields))
			if choice.Delta.Content != "" {
				f.Heard()
			}
		}
	}
	got := heard(acc.ChatCompletion)
	got.Thought = thought.String()
	return got, s.Err()
}

// heard is a completion, whichever way it came. One without choices says nothing.
func heard(c openai.ChatCompletion) fake.Heard {
	h := fake.Heard{Usage: fake.Usage{
		In: c.Usage.PromptTokens, Out: c.Usage.CompletionTokens,
		Reasoning: c.Usage.CompletionTokensDetails.ReasoningTokens, Cached: c.Usage.PromptTokensDetails.CachedTokens,
	}}
	for _, choice := range c.Choices {
		h.Text += choice.Message.Content
		h.Refusal += choice.Message.Refusal
		h.Finish = choice.FinishReason
		for _, call := range choice.Message.ToolCalls {
			h.Calls = append(h.Calls, fake.Call{ID: call.ID, Name: call.Function.Name, Args: call.Function.Arguments})
		}
	}
	return h
}

// whole asks for an answer in one piece.
func whole(t *testing.T, client openai.Client, opts ...option.RequestOption) (fake.Heard, error) {
	t.Helper()
	q := question()
	q.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	c, err := client.Chat.Completions.New(context.Background(), q, opts...)
	if err != nil {
		return fake.Heard{}, err
	}
	got := heard(*c)
	for _, choice := range c.Choices {
		got.Thought += extra(t, choice.Message.JSON.ExtraFields)
	}
	return got, nil
}

// into keeps the response of a call.
func into(r **http.Response) option.RequestOption { return option.WithResponseInto(r) }
