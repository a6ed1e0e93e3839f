// Package gemini_test has Google's genai judge the fake's generateContent.
package gemini_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	dialect "github.com/stallwright/stallwright/fakes/provider/gemini"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

func start(t *testing.T, programs ...Program) (*fake.Provider, *genai.Client) {
	t.Helper()
	f := fake.Start(t, dialect.Dialect{}, programs...)
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: fake.Key, Backend: genai.BackendGeminiAPI, HTTPClient: f.Client, HTTPOptions: genai.HTTPOptions{BaseURL: f.URL},
	})
	require.NoError(t, err)
	return f, client
}

var thoughts = &genai.GenerateContentConfig{ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true}}

// answer is what the SDK has handed over, of one response or of the chunks of a stream: the last usage and the last
// reason count.
type answer struct {
	fake.Heard
	ids   map[string]bool // of the response
	block string          // why the prompt was refused
}

func (a *answer) take(t *testing.T, r *genai.GenerateContentResponse) {
	t.Helper()
	if a.ids == nil {
		a.ids = map[string]bool{}
	}
	if r.ResponseID != "" {
		a.ids[r.ResponseID] = true
	}
	if u := r.UsageMetadata; u != nil {
		a.Usage = fake.Usage{
			In: int64(u.PromptTokenCount), Out: int64(u.CandidatesTokenCount), Reasoning: int64(u.ThoughtsTokenCount), Cached: int64(u.CachedContentTokenCount),
		}
	}
	if r.PromptFeedback != nil {
		a.block = string(r.PromptFeedback.BlockReason)
	}
	for _, c := range r.Candidates {
		if c.FinishReason != "" {
			a.Finish = string(c.FinishReason)
		}
		if c.Content == nil {
			continue
		}
		for _, part := range c.Content.Parts {
			a.Signature += string(part.ThoughtSignature)
			switch {
			case part.FunctionCall != nil:
				args, err := json.Marshal(part.FunctionCall.Args)
				require.NoError(t, err)
				a.Calls = append(a.Calls, fake.Call{ID: part.FunctionCall.ID, Name: part.FunctionCall.Name, Args: string(args)})
			case part.Thought:
				a.Thought += part.Text
			default:
				a.Text += part.Text
			}
		}
	}
}

// stream asks for a stream and reads all of it. The SDK goes on after some errors: errs are all that it yields.
func stream(t *testing.T, ctx context.Context, f *fake.Provider, client *genai.Client, config *genai.GenerateContentConfig) (got answer, errs []error) {
	t.Helper()
	for r, err := range client.Models.GenerateContentStream(ctx, "gemini-x", genai.Text("What is the weather in Oslo?"), config) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		got.take(t, r)
		if got.Text != "" {
			f.Heard()
		}
	}
	return got, errs
}

// whole asks for an answer in one piece.
func whole(t *testing.T, client *genai.Client, config *genai.GenerateContentConfig) (got answer, err error) {
	t.Helper()
	r, err := client.Models.GenerateContent(context.Background(), "gemini-x", genai.Text("What is the weather in Oslo?"), config)
	if err == nil {
		got.take(t, r)
	}
	return got, err
}
