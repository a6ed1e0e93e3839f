// Package ollama_test has the api package of Ollama judge the fake's native dialect.
package ollama_test

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/stretchr/testify/require"

	dialect "github.com/stallwright/stallwright/fakes/provider/ollama"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

func start(t *testing.T, programs ...Program) (*fake.Provider, *api.Client) {
	t.Helper()
	f := fake.Start(t, dialect.Dialect{}, programs...)
	base, err := url.Parse(f.URL)
	require.NoError(t, err)
	return f, api.NewClient(base, f.Client)
}

// question leaves it open whether the answer is a stream: then it is.
func question() *api.ChatRequest {
	return &api.ChatRequest{Model: "model-x", Messages: []api.Message{{Role: "user", Content: "What is the weather in Oslo?"}}}
}

// answer is what the SDK has handed over.
type answer struct {
	fake.Heard
	done bool
	last api.ChatResponse
}

// ask sends a request and takes all that comes.
func ask(t *testing.T, ctx context.Context, f *fake.Provider, client *api.Client, q *api.ChatRequest) (got answer, err error) {
	t.Helper()
	err = client.Chat(ctx, q, func(r api.ChatResponse) error {
		got.last = r
		got.Text += r.Message.Content
		got.Thought += r.Message.Thinking
		for _, call := range r.Message.ToolCalls {
			args, err := json.Marshal(call.Function.Arguments)
			require.NoError(t, err)
			got.Calls = append(got.Calls, fake.Call{ID: call.ID, Name: call.Function.Name, Args: string(args)})
		}
		if r.Done {
			got.done, got.Finish = true, r.DoneReason
			got.Usage = fake.Usage{In: int64(r.PromptEvalCount), Out: int64(r.EvalCount)}
		}
		if got.Text != "" {
			f.Heard()
		}
		return nil
	})
	return got, err
}

func inOnePiece() *api.ChatRequest {
	q := question()
	q.Stream = new(bool)
	return q
}
