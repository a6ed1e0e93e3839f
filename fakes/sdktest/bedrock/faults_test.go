package bedrock_test

import (
	"bytes"
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/eventstream"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	dialect "github.com/stallwright/stallwright/fakes/provider/bedrock"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

var (
	before = []Step{Role{}, Text{Chunks: []string{"Hel"}}}
	rest   = []Step{Text{Chunks: []string{"lo"}}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 2}, Done{}}
)

func between(steps ...Step) []Step {
	return append(append(append([]Step{}, before...), steps...), rest...)
}

func after(steps ...Step) []Step { return append(append([]Step{}, before...), steps...) }

func ahead(step Step) []Step { return append(append([]Step{step}, before...), rest...) }

// torn is the beginning of a frame.
const torn = "\x00\x00\x00\x49\x00\x00\x00\x37"

// frame is an event as the SDK itself would write it.
func frame(t *testing.T, name, payload string) Raw {
	t.Helper()
	m := eventstream.Message{Payload: []byte(payload)}
	m.Headers.Set(":event-type", eventstream.StringValue(name))
	m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	m.Headers.Set(":message-type", eventstream.StringValue("event"))
	var b bytes.Buffer
	require.NoError(t, eventstream.NewEncoder().Encode(&b, m))
	return Raw{Bytes: b.String()}
}

// TestUnknownEventsAreHandedOver by their names.
func TestUnknownEventsAreHandedOver(t *testing.T) {
	f, client := start(t, Program{Steps: between(frame(t, "news", `{}`))})
	got, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, []string{"news"}, got.strange)
	require.Equal(t, []string{"Hello", "end_turn"}, []string{got.Text, got.Finish})
}

func TestAFrameWhoseJSONIsBrokenIsAnError(t *testing.T) {
	f, client := start(t, Program{Steps: between(frame(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":`))})
	got, err := stream(context.Background(), f, client)
	require.ErrorContains(t, err, "unexpected end of JSON input")
	require.Equal(t, "Hel", got.Text)
}

// TestStreamFaults: the SDK does not look at how a stream has ended, and asks for nothing again.
func TestStreamFaults(t *testing.T) {
	const none, half, all, end = "", "Hel", "Hello", "end_turn"
	tests := []struct {
		name    string
		dialect dialect.Dialect
		steps   []Step
		text    string
		finish  string
		err     require.ErrorAssertionFunc
	}{
		{"a FIN between frames goes unseen", dialect.Dialect{}, after(fault.Cut{}), half, "", require.NoError},
		{"a FIN within a frame goes unseen", dialect.Dialect{}, after(Raw{Bytes: torn}, fault.Cut{}), half, "", require.NoError},
		{"a half-closed connection goes unseen", dialect.Dialect{}, after(fault.HalfClose{}), half, "", require.NoError},
		{"a RST is an error", dialect.Dialect{}, after(Await{Gate: "heard"}, fault.Reset{}), half, "", fake.Is(syscall.ECONNRESET)},
		{"an end without messageStop goes unseen", dialect.Dialect{}, after(End{}), half, "", require.NoError},
		{"half a frame at the end goes unseen", dialect.Dialect{}, after(Raw{Bytes: torn}, End{}), half, "", require.NoError},
		{"a stream that says nothing is well", dialect.Dialect{}, []Step{End{}}, none, "", require.NoError},
		{"a wrong checksum is an error", dialect.Dialect{BadCRC: 3}, between(), half, "", fake.Says("message checksum mismatch")},
		{"a wrong checksum of the lengths is an error", dialect.Dialect{BadPrelude: 3}, between(), half, "", fake.Says("message checksum mismatch")},
		{"a wrong checksum may be the first", dialect.Dialect{BadCRC: 1}, between(), none, "", fake.Says("message checksum mismatch")},
		{"a byte too few is an error", dialect.Dialect{}, between(fault.Garble{}), half, "", fake.Says("checksum mismatch")},
		{"bytes that are no frame are an error", dialect.Dialect{}, between(Raw{Bytes: "Internal Server Error"}), half, "", fake.Says("checksum mismatch")},
		{"an empty delta says nothing", dialect.Dialect{}, between(Empty{}), all, end, require.NoError},
		{"every byte on its own is well", dialect.Dialect{}, ahead(fault.Split{Every: 1}), all, end, require.NoError},
		{"all frames in one write are well", dialect.Dialect{}, ahead(fault.Batch{Frames: 100}), all, end, require.NoError},
		{"a few bytes at a time are well", dialect.Dialect{}, ahead(fault.Drip{Bytes: 100, Every: time.Millisecond}), all, end, require.NoError},
		{"a stream of another content type is well", dialect.Dialect{}, ahead(Headers{Header: map[string]string{"Content-Type": "application/json"}}), all, end, require.NoError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := startAs(t, tt.dialect, Program{Steps: tt.steps})
			got, err := stream(context.Background(), f, client)
			tt.err(t, err)
			require.Equal(t, tt.text, got.Text)
			require.Equal(t, tt.finish, got.Finish)
			require.Equal(t, []int{1}, f.Attempts())
		})
	}
}

// TestExceptionsInTheStream are the errors of the API's model; one that is not in it keeps its name.
func TestExceptionsInTheStream(t *testing.T) {
	tests := []struct {
		name string
		step Error
		as   any
		code string
	}{
		{"throttling", Error{Type: "throttlingException", Message: "boom"}, new(*types.ThrottlingException), "ThrottlingException"},
		{"a failure inside", Error{Message: "boom"}, new(*types.InternalServerException), "InternalServerException"},
		{"an unavailable service", Error{Type: "overloaded_error", Message: "boom"}, new(*types.ServiceUnavailableException), "ServiceUnavailableException"},
		{"a request that is not valid", Error{Type: "invalid_request_error", Message: "boom"}, new(*types.ValidationException), "ValidationException"},
		{"a failure of the model", Error{Type: "modelStreamErrorException", Code: "424", Message: "boom"}, new(*types.ModelStreamErrorException), "ModelStreamErrorException"},
		{"an exception beside the model", Error{Type: "newsException", Message: "boom"}, new(*smithy.GenericAPIError), "newsException"},
		{"an error without an exception", Error{Type: "InternalError", Message: "boom", Form: FlatForm}, new(*smithy.GenericAPIError), "InternalError"},
	}
	for _, tt := range tests {
		for _, place := range []string{"first", "in the middle"} {
			t.Run(tt.name+", "+place, func(t *testing.T) {
				steps := after(tt.step)
				if place == "first" {
					steps = []Step{tt.step}
				}
				f, client := start(t, Program{Steps: steps})
				got, err := stream(context.Background(), f, client)
				require.True(t, errors.As(err, tt.as), "%T %v", err, err)
				var failed smithy.APIError
				require.True(t, errors.As(err, &failed))
				require.Equal(t, []string{tt.code, "boom"}, []string{failed.ErrorCode(), failed.ErrorMessage()})
				if m, ok := tt.as.(**types.ModelStreamErrorException); ok {
					require.Equal(t, int32(424), aws.ToInt32((*m).OriginalStatusCode))
					require.Equal(t, "boom", aws.ToString((*m).OriginalMessage))
				}
				if place == "in the middle" {
					require.Equal(t, "Hel", got.Text)
				}
				require.Equal(t, []int{1}, f.Attempts())
			})
		}
	}
}

// TestFaultsBeforeTheAnswer are connection errors: the SDK sends the request again.
func TestFaultsBeforeTheAnswer(t *testing.T) {
	f, client := start(t,
		Program{When: When{Attempt: 1}, Steps: []Step{fault.Cut{}}},
		Program{When: When{Attempt: 2}, Steps: []Step{fault.Reset{}}},
		Program{When: When{Attempt: 3}, Steps: Answer("Hi").Steps})
	got, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, "Hi", got.Text)
	require.Equal(t, []int{1, 2, 3}, f.Attempts())
}

// TestFaultsOfAnAnswerInOnePiece are not worth a second request to the SDK.
func TestFaultsOfAnAnswerInOnePiece(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		err   require.ErrorAssertionFunc
	}{
		{"half a body and a FIN", []Step{Headers{}, Text{Chunks: []string{"Hello"}}, fault.Cut{}}, fake.Cut},
		{"a body that is shorter than it says", []Step{Headers{Header: map[string]string{"Content-Length": "1000"}}, Raw{Bytes: `{"output":`}, End{}}, fake.Cut},
		{"a body that is no JSON", []Step{Raw{Bytes: "Internal Server Error"}, End{}}, fake.Says("deserialization failed")},
		{"a missing brace", []Step{fault.Garble{}, Text{Chunks: []string{"Hello"}}, End{}}, fake.Says("unexpected end of JSON input")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Steps: tt.steps})
			_, err := whole(t, client)
			tt.err(t, err)
			require.Equal(t, []int{1}, f.Attempts())
		})
	}
}

// TestTheClientLeaves: however it gives up, the fake sees that it left.
func TestTheClientLeaves(t *testing.T) {
	t.Run("a timeout before the answer is not tried again", func(t *testing.T) {
		f, client := start(t, Program{Steps: []Step{fault.Stall{}}})
		ctx, cancel := context.WithTimeout(context.Background(), fake.Patience)
		defer cancel()
		_, err := stream(ctx, f, client)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
		require.Equal(t, []int{1}, f.Attempts())
	})
	t.Run("a timeout in the middle is an error", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		ctx, cancel := context.WithTimeout(context.Background(), fake.Patience)
		defer cancel()
		got, err := stream(ctx, f, client)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, "Hel", got.Text)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
	t.Run("closing the stream is leaving", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		out, err := client.ConverseStream(context.Background(), &bedrockruntime.ConverseStreamInput{ModelId: aws.String(model), Messages: messages})
		require.NoError(t, err)
		s := out.GetStream()
		<-s.Events()
		f.Await("stall")
		require.NoError(t, s.Close())
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
}
