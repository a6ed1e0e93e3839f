// Package responses_test has openai-go judge the fake's Responses.
package responses_test

import (
	"context"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	dialect "github.com/stallwright/stallwright/fakes/provider/responses"
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

func question() responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: "gpt-x", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("What is the weather in Oslo?")},
	}
}

// streamed is what a stream has said: by its deltas, and by the response of its last event.
type streamed struct {
	deltas fake.Heard
	kinds  []string // of its events
	last   responses.Response
	seqs   []int64
}

// stream asks for a stream and reads all of it. The deltas of an item belong to the item that was added at their index.
func stream(ctx context.Context, f *fake.Provider, client openai.Client, opts ...option.RequestOption) (got streamed, err error) {
	s := client.Responses.NewStreaming(ctx, question(), opts...)
	defer s.Close()
	calls := map[int64]int{}
	for s.Next() {
		e := s.Current()
		got.kinds = append(got.kinds, e.Type)
		got.seqs = append(got.seqs, e.SequenceNumber)
		d := &got.deltas
		switch e.Type {
		case "response.output_item.added":
			if item := e.Item.AsFunctionCall(); item.Type == "function_call" {
				calls[e.OutputIndex] = len(d.Calls)
				d.Calls = append(d.Calls, fake.Call{ID: item.CallID, Name: item.Name})
			}
		case "response.output_text.delta":
			d.Text += e.Delta
			f.Heard()
		case "response.refusal.delta":
			d.Refusal += e.Delta
		case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
			d.Thought += e.Delta
		case "response.function_call_arguments.delta":
			d.Calls[calls[e.OutputIndex]].Args += e.Delta
		case "response.completed", "response.incomplete", "response.failed":
			got.last = e.Response
		}
	}
	return got, s.Err()
}

// heard is a response. Its finish is the status, and why it is incomplete where it is.
func heard(r responses.Response) fake.Heard {
	h := fake.Heard{
		Text: r.OutputText(), Finish: string(r.Status),
		Usage: fake.Usage{
			In: r.Usage.InputTokens, Out: r.Usage.OutputTokens,
			Reasoning: r.Usage.OutputTokensDetails.ReasoningTokens, Cached: r.Usage.InputTokensDetails.CachedTokens,
		},
	}
	if why := r.IncompleteDetails.Reason; why != "" {
		h.Finish += " " + why
	}
	for _, item := range r.Output {
		switch item.Type {
		case "reasoning":
			for _, s := range item.Summary {
				h.Thought += s.Text
			}
			for _, c := range item.AsReasoning().Content {
				h.Thought += c.Text
			}
		case "function_call":
			call := item.AsFunctionCall()
			h.Calls = append(h.Calls, fake.Call{ID: call.CallID, Name: call.Name, Args: call.Arguments})
		case "message":
			for _, c := range item.Content {
				h.Refusal += c.Refusal
			}
		}
	}
	return h
}

// whole asks for an answer in one piece.
func whole(client openai.Client, opts ...option.RequestOption) (fake.Heard, error) {
	r, err := client.Responses.New(context.Background(), question(), opts...)
	if err != nil {
		return fake.Heard{}, err
	}
	return heard(*r), nil
}
