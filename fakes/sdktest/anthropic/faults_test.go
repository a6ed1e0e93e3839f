package anthropic_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
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

// TestStreamFaults: no fault inside a stream is worth a second request to the SDK.
func TestStreamFaults(t *testing.T) {
	const none, half, all = "", "Hel", "Hello"
	tests := []struct {
		name   string
		steps  []Step
		text   string
		finish string
		err    require.ErrorAssertionFunc
	}{
		{"a FIN between events is an error", after(fault.Cut{}), half, "", fake.Cut},
		{"a FIN within an event is an error", after(Raw{Bytes: "event: content_block_del"}, fault.Cut{}), half, "", fake.Cut},
		{"a half-closed connection is an error", after(fault.HalfClose{}), half, "", fake.Cut},
		{"a RST is an error", after(Await{Gate: "heard"}, fault.Reset{}), half, "", fake.Is(syscall.ECONNRESET)},
		{"an end without message_stop goes unseen", between()[:len(between())-1], all, "end_turn", require.NoError},
		{"an end without a stop reason goes unseen", after(Done{}), half, "", require.NoError},
		{"an end in the middle goes unseen", after(End{}), half, "", require.NoError},
		{"half an event at the end is lost", after(Raw{Bytes: "event: content_block_delta\ndata: {"}, End{}), half, "", require.NoError},
		{"a missing blank line makes one event of two", between(fault.Garble{How: "no-blank"}), half, "", fake.Says("after top-level value")},
		{"CRLF is as good as LF", ahead(fault.Lines{End: "crlf"}), all, "end_turn", require.NoError},
		{"CR alone hides every event", ahead(fault.Lines{End: "cr"}), none, "", require.NoError},
		{"no space behind the colon is well", ahead(fault.Lines{NoSpace: true}), all, "end_turn", require.NoError},
		{"data over several lines is one event", ahead(fault.Lines{Several: true}), all, "end_turn", require.NoError},
		{"comments are skipped", between(Comment{Text: "one\ntwo"}), all, "end_turn", require.NoError},
		{"pings are skipped", append([]Step{Keepalive{Form: PingForm, Every: 10 * time.Millisecond}, Pause{For: 35 * time.Millisecond}}, between(Ping{})...), all, "end_turn", require.NoError},
		{"a ping without data is skipped", between(Raw{Bytes: "event: ping\n\n"}), all, "end_turn", require.NoError},
		{"an event without data is skipped", between(Raw{Bytes: "event: content_block_delta\n\n"}), all, "end_turn", require.NoError},
		{"an event with empty data is skipped", between(Raw{Bytes: "event: content_block_delta\ndata:\n\n"}), all, "end_turn", require.NoError},
		{"an event without a name is lost", append(after(fault.Garble{How: "no-event"}, Text{Chunks: []string{"?"}}), rest...), all, "end_turn", require.NoError},
		{"bad JSON without a name is lost", between(Raw{Bytes: "data: no JSON\n\n"}), all, "end_turn", require.NoError},
		{"a delta whose data is gone is lost", append(after(fault.Garble{How: "no-data"}, Text{Chunks: []string{"?"}}), rest...), all, "end_turn", require.NoError},
		{"an empty delta says nothing", between(Empty{}), all, "end_turn", require.NoError},
		{"a missing brace is an error", between(fault.Garble{}), half, "", fake.Says("unexpected end of JSON input")},
		{"plain text in place of JSON is an error", between(fault.Garble{How: "plain"}), half, "", fake.Says("invalid character")},
		{"every byte on its own is well", ahead(fault.Split{Every: 1}), all, "end_turn", require.NoError},
		{"all events in one write are well", ahead(fault.Batch{Frames: 100}), all, "end_turn", require.NoError},
		{"an unknown event is handed over", between(Raw{Bytes: "event: news\ndata: {\"type\":\"news\"}\n\n"}), all, "end_turn", require.NoError},
		{"an unknown delta is handed over", between(Raw{Bytes: "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"news\"}}\n\n"}), all, "end_turn", require.NoError},
		{"a gap in the blocks is an error of the accumulator",
			[]Step{Role{}, ToolChunk{Parts: []ToolPart{{Index: Is("1"), ID: Is("toolu_1"), Name: Is("clock"), Args: Is("{}")}}}, Finish{Reason: "tool_calls"}, Done{}},
			none, "", fake.Says("content block at index 1, expected index 0")},
		{"an error in the flat form without a name is lost", between(Error{Message: "boom", Form: DataForm}), all, "end_turn", require.NoError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Steps: tt.steps})
			got, _, err := stream(context.Background(), f, client)
			tt.err(t, err)
			require.Equal(t, tt.text, got.Text)
			require.Equal(t, tt.finish, got.Finish)
			require.Equal(t, []int{1}, f.Attempts())
		})
	}
}

func TestUnknownEventsAreHandedOver(t *testing.T) {
	f, client := start(t, Program{Steps: between(Raw{Bytes: "event: news\ndata: {\"type\":\"news\"}\n\n"})})
	_, kinds, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Contains(t, kinds, "news")
}

// TestABOMHidesTheFirstEvent whose name is then not one: no block has a message to be in, which the accumulator
// does not mind.
func TestABOMHidesTheFirstEvent(t *testing.T) {
	f, client := start(t, Program{Steps: ahead(fault.Lines{BOM: true})})
	got, kinds, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, "content_block_start", kinds[0])
	require.Equal(t, "Hello", got.Text)
}

// TestErrorsInTheStream are the typed error, with the status of the stream: 200.
func TestErrorsInTheStream(t *testing.T) {
	for _, place := range []string{"first", "behind message_start", "in the middle of a text"} {
		t.Run(place, func(t *testing.T) {
			steps := map[string][]Step{"first": {}, "behind message_start": {Role{}}, "in the middle of a text": before}[place]
			steps = append(append([]Step{}, steps...), Error{Type: "overloaded_error", Message: "Overloaded"})
			f, client := start(t, Program{Steps: steps})
			got, _, err := stream(context.Background(), f, client)
			failed := new(anthropic.Error)
			require.True(t, errors.As(err, &failed), "%T %v", err, err)
			require.Equal(t, 200, failed.StatusCode)
			require.Equal(t, []string{"overloaded_error", "Overloaded"}, []string{string(failed.Type()), failed.Message})
			require.Regexp(t, "^req_", failed.RequestID)
			if place == "in the middle of a text" {
				require.Equal(t, "Hel", got.Text)
			}
			require.Equal(t, []int{1}, f.Attempts(), "it is not tried again, wherever it comes")
		})
	}
	t.Run("the flat form is an error without a type", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(Error{Type: "overloaded_error", Message: "boom", Form: FlatForm})})
		_, _, err := stream(context.Background(), f, client)
		failed := new(anthropic.Error)
		require.True(t, errors.As(err, &failed), "%T %v", err, err)
		require.Empty(t, failed.Type())
		require.Contains(t, failed.RawJSON(), "boom")
	})
}

// TestFaultsBeforeTheAnswer are connection errors: the SDK sends the request again, after half a second and one more.
func TestFaultsBeforeTheAnswer(t *testing.T) {
	f, client := start(t,
		Program{When: When{Attempt: 1}, Steps: []Step{fault.Cut{}}},
		Program{When: When{Attempt: 2}, Steps: []Step{fault.Reset{}}},
		Program{When: When{Attempt: 3}, Steps: Answer("Hi").Steps})
	got, _, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, "Hi", got.Text)
	require.Equal(t, []int{1, 2, 3}, f.Attempts())
}

// TestFaultsOfAnAnswerInOnePiece: a body that breaks off is a connection error to this SDK, so that it asks three
// times; one that it cannot read is not.
func TestFaultsOfAnAnswerInOnePiece(t *testing.T) {
	now := map[string]string{"Retry-After": "0"}
	tests := []struct {
		name     string
		steps    []Step
		attempts int
		err      require.ErrorAssertionFunc
	}{
		{"half a body and a FIN", []Step{Headers{Header: now}, Text{Chunks: []string{"Hello"}}, fault.Cut{}}, 3, fake.Cut},
		{"a body that is shorter than it says", []Step{Headers{Header: map[string]string{"Content-Length": "1000", "Retry-After": "0"}}, Raw{Bytes: `{"id":"x"`}, End{}}, 3, fake.Cut},
		{"a body that is no JSON", []Step{Raw{Bytes: "Internal Server Error"}, End{}}, 1, fake.Says("error parsing response json")},
		{"a missing brace", []Step{fault.Garble{}, Text{Chunks: []string{"Hello"}}, End{}}, 1, fake.Says("unexpected EOF")},
		{"a body of another type", []Step{Headers{Header: map[string]string{"Content-Type": "text/plain"}}, Text{Chunks: []string{"Hello"}}, End{}}, 1, fake.Says("that is not 'application/json'")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Times: tt.attempts, Steps: tt.steps})
			_, err := whole(client)
			tt.err(t, err)
			require.Equal(t, []int{1, 2, 3}[:tt.attempts], f.Attempts())
		})
	}
}

// TestTheClientLeaves: however it gives up, the fake sees that it left.
func TestTheClientLeaves(t *testing.T) {
	t.Run("the timeout of a request covers its whole stream", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		got, _, err := stream(context.Background(), f, client, option.WithRequestTimeout(fake.Patience))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, "Hel", got.Text)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
		require.Equal(t, []int{1}, f.Attempts())
	})
	t.Run("a timeout before the answer is tried again", func(t *testing.T) {
		f, client := start(t, Program{Times: 3, Steps: []Step{fault.Stall{}}})
		_, _, err := stream(context.Background(), f, client, option.WithRequestTimeout(fake.Patience))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
		require.Equal(t, []int{1, 2, 3}, f.Attempts())
	})
	t.Run("a cancel in the middle ends the stream", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		s := client.Messages.NewStreaming(ctx, question())
		defer s.Close()
		require.True(t, s.Next())
		f.Await("stall")
		cancel()
		for s.Next() { // what has come already
		}
		require.ErrorIs(t, s.Err(), context.Canceled)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
	t.Run("closing the stream is leaving", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		s := client.Messages.NewStreaming(context.Background(), question())
		require.True(t, s.Next())
		f.Await("stall")
		require.NoError(t, s.Close())
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
}
