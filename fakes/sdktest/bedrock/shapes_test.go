package bedrock_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

var used = Usage{Prompt: 9, Completion: 4, Reasoning: 2, Cached: 5}

// usage is what comes of it: what was read from the cache is not counted as input, and reasoning not apart.
var usage = fake.Usage{In: 4, Out: 4, Cached: 5}

// TestAnswers plays each program twice: as a stream and in one piece the SDK hands over the same.
func TestAnswers(t *testing.T) {
	oslo := fake.Call{ID: "tooluse_1", Name: "weather", Args: `{"city":"Oslo"}`}
	tests := []struct {
		name   string
		steps  []Step
		want   fake.Heard // its signature is not compared, but whether there is one
		starts int        // of blocks: only calls have one
		stops  int
	}{
		{"text in pieces is one text",
			[]Step{Role{}, Text{Chunks: []string{"Hel", "lo \"you\"\n", "é🙂"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "Hello \"you\"\né🙂", Finish: "end_turn", Usage: usage}, 0, 1},
		{"reasoning is a block with a signature",
			[]Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "4", Thought: "Let me see", Signature: "there", Finish: "end_turn", Usage: usage}, 0, 2},
		{"arguments in pieces are one JSON",
			[]Step{Role{}, Tool{ID: "tooluse_1", Name: "weather", Args: []string{`{"ci`, `ty":`, `"Oslo"}`}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo}, Finish: "tool_use", Usage: usage}, 1, 1},
		{"parallel calls stay apart",
			[]Step{Role{}, Text{Chunks: []string{"Look."}}, Tool{ID: "tooluse_1", Name: "weather", Args: []string{`{"city":`, `"Oslo"}`}},
				Tool{Index: 1, ID: "tooluse_2", Name: "clock", Args: []string{`{}`}}, Tool{Index: 2, ID: "tooluse_3", Name: "weather", Args: []string{`{"city":"Rome"}`}},
				Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Text: "Look.", Calls: []fake.Call{oslo, {ID: "tooluse_2", Name: "clock", Args: `{}`}, {ID: "tooluse_3", Name: "weather", Args: `{"city":"Rome"}`}},
				Finish: "tool_use", Usage: usage}, 3, 4},
		{"calls whose pieces alternate stay apart",
			[]Step{Role{},
				ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Is("tooluse_1"), Name: Is("weather")}, {Index: Is("1"), ID: Is("tooluse_2"), Name: Is("clock")}}},
				ToolChunk{Parts: []ToolPart{{Index: Is("0"), Args: Is(`{"city":`)}, {Index: Is("1"), Args: Is(`{`)}}},
				ToolChunk{Parts: []ToolPart{{Index: Is("0"), Args: Is(`"Oslo"}`)}, {Index: Is("1"), Args: Is(`}`)}}},
				Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo, {ID: "tooluse_2", Name: "clock", Args: `{}`}}, Finish: "tool_use", Usage: usage}, 2, 2},
		{"a refusal is text",
			[]Step{Role{}, Refusal{Chunks: []string{"I'm", " sorry"}}, Finish{Reason: "refusal"}, used, Done{}},
			fake.Heard{Text: "I'm sorry", Finish: "content_filtered", Usage: usage}, 0, 1},
		{"an answer that is too long says so",
			[]Step{Role{}, Text{Chunks: []string{"And so"}}, Finish{Reason: "length"}, used, Done{}},
			fake.Heard{Text: "And so", Finish: "max_tokens", Usage: usage}, 0, 1},
		{"a guardrail has a word of its own",
			[]Step{Role{}, Text{Chunks: []string{"No."}}, Finish{Reason: "guardrail_intervened"}, used, Done{}},
			fake.Heard{Text: "No.", Finish: "guardrail_intervened", Usage: usage}, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{When: When{Model: model}, Times: 2, Steps: tt.steps})
			streamed, err := stream(context.Background(), f, client)
			require.NoError(t, err)
			require.Equal(t, []int{tt.starts, tt.stops}, []int{streamed.starts, streamed.stops})
			once, err := whole(t, client)
			require.NoError(t, err)
			for _, got := range []answer{streamed, once} {
				require.Equal(t, tt.want.Signature != "", got.Signature != "")
				got.Signature = tt.want.Signature
				require.Equal(t, tt.want, got.Heard)
				require.True(t, got.latency)
				require.Empty(t, got.strange)
			}
			require.Equal(t, []int{1, 1}, f.Attempts())
		})
	}
}

// TestArgumentsThatAreCutOff are text in a stream, and have no form in one piece.
func TestArgumentsThatAreCutOff(t *testing.T) {
	f, client := start(t, Program{Times: 2, Steps: []Step{Tool{ID: "tooluse_1", Name: "weather", Args: []string{`{"ci`}}, Finish{Reason: "length"}, Done{}}})
	streamed, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, []fake.Call{{ID: "tooluse_1", Name: "weather", Args: `{"ci`}}, streamed.Calls)
	once, err := whole(t, client)
	require.NoError(t, err)
	require.Equal(t, []fake.Call{{ID: "tooluse_1", Name: "weather", Args: `{}`}}, once.Calls)
}

func TestHeaders(t *testing.T) {
	f, client := start(t, Program{Times: 2, Steps: Answer("Hi").Steps})
	_, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, "application/vnd.amazon.eventstream", f.Got("Content-Type"))
	require.Regexp(t, "^AWS4-HMAC-SHA256 Credential=AKID/", f.Sent("Authorization"))
	require.NotEmpty(t, f.Sent("Amz-Sdk-Invocation-Id"))
	_, err = whole(t, client)
	require.NoError(t, err)
	require.Equal(t, "application/json", f.Got("Content-Type"))
	require.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", f.Got("X-Amzn-Requestid"))
}

// TestStatuses are the errors of the API's model, three times where the SDK thinks that a retry may help.
func TestStatuses(t *testing.T) {
	tests := []struct {
		name     string
		status   fault.Status
		attempts int
		as       any
		code     string
	}{
		{"a bad request is sent once", fault.Status{Code: 400}, 1, new(*types.ValidationException), "ValidationException"},
		{"a bad token is no error of the model", fault.Status{Code: 401}, 1, new(*smithy.GenericAPIError), "UnrecognizedClientException"},
		{"what is forbidden is asked for once", fault.Status{Code: 403}, 1, new(*types.AccessDeniedException), "AccessDeniedException"},
		{"a model that is not there is asked for once", fault.Status{Code: 404}, 1, new(*types.ResourceNotFoundException), "ResourceNotFoundException"},
		{"a model that took too long is asked once", fault.Status{Code: 408}, 1, new(*types.ModelTimeoutException), "ModelTimeoutException"},
		{"a model that failed is asked once", fault.Status{Code: 424}, 1, new(*types.ModelErrorException), "ModelErrorException"},
		{"a rate limit is met three times", fault.Status{Code: 429}, 3, new(*types.ThrottlingException), "ThrottlingException"},
		// Wire notes differ: the API calls it worth a retry, but the SDK goes by names, and 429 alone is none.
		{"a model that is not ready is asked once", fault.Status{Code: 429, Header: map[string]string{"X-Amzn-Errortype": "ModelNotReadyException"}}, 1, new(*types.ModelNotReadyException), "ModelNotReadyException"},
		{"a server error is met three times", fault.Status{Code: 500}, 3, new(*types.InternalServerException), "InternalServerException"},
		{"an unavailable service is met three times", fault.Status{Code: 503}, 3, new(*types.ServiceUnavailableException), "ServiceUnavailableException"},
	}
	for _, tt := range tests {
		for _, way := range []string{"stream", "in one piece"} {
			t.Run(tt.name+", "+way, func(t *testing.T) {
				f, client := start(t, Program{Times: tt.attempts, Steps: []Step{tt.status}})
				var err error
				if way == "stream" {
					_, err = stream(context.Background(), f, client)
				} else {
					_, err = whole(t, client)
				}
				require.True(t, errors.As(err, tt.as), "%T %v", err, err)
				var failed smithy.APIError
				require.True(t, errors.As(err, &failed))
				require.Equal(t, tt.code, failed.ErrorCode())
				require.NotEmpty(t, failed.ErrorMessage())
				var response *awshttp.ResponseError
				require.True(t, errors.As(err, &response))
				require.Equal(t, tt.status.Code, response.HTTPStatusCode())
				require.Equal(t, f.Got("X-Amzn-Requestid"), response.ServiceRequestID())
				require.NotEmpty(t, response.ServiceRequestID())
				require.Equal(t, []int{1, 2, 3}[:tt.attempts], f.Attempts())
			})
		}
	}
	t.Run("a page of HTML has no code", func(t *testing.T) {
		f, client := start(t, Program{Times: 3, Steps: []Step{fault.Status{Code: 502, ContentType: "text/html", Body: "<html>", Header: map[string]string{"X-Amzn-Errortype": ""}}}})
		_, err := stream(context.Background(), f, client)
		var response *awshttp.ResponseError
		require.True(t, errors.As(err, &response), "%T %v", err, err)
		require.Equal(t, http.StatusBadGateway, response.HTTPStatusCode())
		require.Equal(t, []int{1, 2, 3}, f.Attempts())
	})
}

// TestTheSDKsOwnWaits go between the attempts, unless a client says otherwise.
func TestTheSDKsOwnWaits(t *testing.T) {
	f, _ := start(t,
		Program{When: When{Attempt: 1}, Steps: []Step{fault.Status{Code: 503}}},
		Program{When: When{Attempt: 2}, Steps: Answer("Hi").Steps})
	out, err := bedrockruntime.New(options(f)).Converse(context.Background(), &bedrockruntime.ConverseInput{ModelId: aws.String(model), Messages: messages})
	require.NoError(t, err)
	require.Equal(t, types.StopReasonEndTurn, out.StopReason)
	require.Equal(t, []int{1, 2}, f.Attempts())
}
