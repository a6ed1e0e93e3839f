// Package bedrock_test has aws-sdk-go-v2 judge the fake's Converse.
package bedrock_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/stretchr/testify/require"

	dialect "github.com/stallwright/stallwright/fakes/provider/bedrock"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

// model has signs that the path escapes.
const model = "amazon.nova-lite-v1:0"

func start(t *testing.T, programs ...Program) (*fake.Provider, *bedrockruntime.Client) {
	t.Helper()
	return startAs(t, dialect.Dialect{}, programs...)
}

func startAs(t *testing.T, d dialect.Dialect, programs ...Program) (*fake.Provider, *bedrockruntime.Client) {
	t.Helper()
	f := fake.Start(t, d, programs...)
	return f, bedrockruntime.New(options(f), func(o *bedrockruntime.Options) {
		// The standard number of attempts, without its waits.
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
}

func options(f *fake.Provider) bedrockruntime.Options {
	return bedrockruntime.Options{
		Region: "us-east-1", BaseEndpoint: &f.URL, HTTPClient: f.Client,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: fake.Key}, nil
		}),
	}
}

var messages = []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "What is the weather in Oslo?"}}}}

// answer is what the SDK has handed over.
type answer struct {
	fake.Heard
	starts, stops int      // of blocks
	strange       []string // events that the SDK does not know
	latency       bool     // was said
}

// stream asks for a stream and takes all of it. Deltas belong to the block of their index.
func stream(ctx context.Context, f *fake.Provider, client *bedrockruntime.Client) (got answer, err error) {
	out, err := client.ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{ModelId: aws.String(model), Messages: messages})
	if err != nil {
		return got, err
	}
	s := out.GetStream()
	defer s.Close()
	calls := map[int32]int{}
	for event := range s.Events() {
		switch e := event.(type) {
		case *types.ConverseStreamOutputMemberContentBlockStart:
			got.starts++
			if u, ok := e.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
				calls[*e.Value.ContentBlockIndex] = len(got.Calls)
				got.Calls = append(got.Calls, fake.Call{ID: aws.ToString(u.Value.ToolUseId), Name: aws.ToString(u.Value.Name)})
			}
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			switch d := e.Value.Delta.(type) {
			case *types.ContentBlockDeltaMemberText:
				got.Text += d.Value
				f.Heard()
			case *types.ContentBlockDeltaMemberToolUse:
				got.Calls[calls[*e.Value.ContentBlockIndex]].Args += aws.ToString(d.Value.Input)
			case *types.ContentBlockDeltaMemberReasoningContent:
				switch r := d.Value.(type) {
				case *types.ReasoningContentBlockDeltaMemberText:
					got.Thought += r.Value
				case *types.ReasoningContentBlockDeltaMemberSignature:
					got.Signature += r.Value
				}
			}
		case *types.ConverseStreamOutputMemberContentBlockStop:
			got.stops++
		case *types.ConverseStreamOutputMemberMessageStop:
			got.Finish = string(e.Value.StopReason)
		case *types.ConverseStreamOutputMemberMetadata:
			got.Usage = usageOf(e.Value.Usage)
			got.latency = e.Value.Metrics != nil && e.Value.Metrics.LatencyMs != nil
		case *types.UnknownUnionMember:
			got.strange = append(got.strange, e.Tag)
		}
	}
	return got, s.Err()
}

func usageOf(u *types.TokenUsage) fake.Usage {
	return fake.Usage{In: int64(aws.ToInt32(u.InputTokens)), Out: int64(aws.ToInt32(u.OutputTokens)), Cached: int64(aws.ToInt32(u.CacheReadInputTokens))}
}

// whole asks for an answer in one piece.
func whole(t *testing.T, client *bedrockruntime.Client) (got answer, err error) {
	t.Helper()
	out, err := client.Converse(context.Background(), &bedrockruntime.ConverseInput{ModelId: aws.String(model), Messages: messages})
	if err != nil {
		return got, err
	}
	got.Finish, got.Usage = string(out.StopReason), usageOf(out.Usage)
	got.latency = out.Metrics != nil && out.Metrics.LatencyMs != nil
	message, ok := out.Output.(*types.ConverseOutputMemberMessage)
	require.True(t, ok, "%T", out.Output)
	for _, block := range message.Value.Content {
		switch b := block.(type) {
		case *types.ContentBlockMemberText:
			got.Text += b.Value
		case *types.ContentBlockMemberReasoningContent:
			r, ok := b.Value.(*types.ReasoningContentBlockMemberReasoningText)
			require.True(t, ok, "%T", b.Value)
			got.Thought += aws.ToString(r.Value.Text)
			got.Signature += aws.ToString(r.Value.Signature)
		case *types.ContentBlockMemberToolUse:
			got.Calls = append(got.Calls, fake.Call{ID: aws.ToString(b.Value.ToolUseId), Name: aws.ToString(b.Value.Name), Args: text(t, b.Value.Input)})
		}
	}
	return got, nil
}

func text(t *testing.T, d document.Interface) string {
	t.Helper()
	var v any
	require.NoError(t, d.UnmarshalSmithyDocument(&v))
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}
