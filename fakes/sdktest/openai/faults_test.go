package openai_test

import (
	"context"
	"errors"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	dialect "github.com/stallwright/stallwright/fakes/provider/openai"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

// before is the beginning of an answer, rest its end.
var (
	before = []Step{Role{}, Text{Chunks: []string{"Hel"}}}
	rest   = []Step{Text{Chunks: []string{"lo"}}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 2}, Done{}}

	all  = fake.Heard{Text: "Hello", Finish: "stop", Usage: fake.Usage{In: 9, Out: 2}}
	half = fake.Heard{Text: "Hel"}
)

func between(steps ...Step) []Step {
	return append(append(append([]Step{}, before...), steps...), rest...)
}

func after(steps ...Step) []Step { return append(append([]Step{}, before...), steps...) }

func ahead(step Step) []Step { return append(append([]Step{step}, before...), rest...) }

// TestStreamFaults: no fault inside a stream is worth a second request to the SDK.
func TestStreamFaults(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		want  fake.Heard
		err   require.ErrorAssertionFunc
	}{
		{"a FIN between events is an error", after(fault.Cut{}), half, fake.Cut},
		{"a FIN within an event is an error", after(Raw{Bytes: `data: {"id":"chat`}, fault.Cut{}), half, fake.Cut},
		{"a half-closed connection is an error", after(fault.HalfClose{}), half, fake.Cut},
		{"a RST is an error", after(Await{Gate: "heard"}, fault.Reset{}), half, fake.Is(syscall.ECONNRESET)},
		{"an end without [DONE] goes unseen", between()[:len(between())-1], all, require.NoError},
		{"an end without a finish reason goes unseen", after(Done{}), half, require.NoError},
		{"an end in the middle goes unseen", after(End{}), half, require.NoError},
		{"an event without its blank line at the end is lost", after(Raw{Bytes: `data: {"id":"x"}` + "\n"}, End{}), half, require.NoError},
		{"half an event at the end is lost", after(Raw{Bytes: `data: {"id":"x`}, End{}), half, require.NoError},
		{"what stands behind [DONE] is not read", append(between(), Raw{Bytes: "data: no JSON\n\n"}), all, require.NoError},
		{"a missing blank line makes one event of two", ahead(fault.Garble{How: "no-blank"}), fake.Heard{}, fake.Says("after top-level value")},
		{"CRLF is as good as LF", ahead(fault.Lines{End: "crlf"}), all, require.NoError},
		// The whole stream is one line to the SDK, so it hears nothing, and says nothing.
		{"CR alone hides every event", ahead(fault.Lines{End: "cr"}), fake.Heard{}, require.NoError},
		// The field is called \ufeffdata: only the role is lost, and the chunks behind it are an answer.
		{"a BOM hides the first event", append([]Step{fault.Lines{BOM: true}, Text{Chunks: []string{"Lost"}}}, between()...), all, require.NoError},
		{"no space behind the colon is well", ahead(fault.Lines{NoSpace: true}), all, require.NoError},
		{"data over several lines is one event", ahead(fault.Lines{Several: true}), all, require.NoError},
		{"comments are skipped", between(Comment{Text: "one\ntwo"}), all, require.NoError},
		{"a keepalive behind every silence is skipped", append([]Step{Keepalive{Form: CommentForm, Every: 10 * time.Millisecond}, Pause{For: 35 * time.Millisecond}}, between()...), all, require.NoError},
		{"an event name without data is skipped", between(Raw{Bytes: "event: ping\n\n"}), all, require.NoError},
		{"an id is skipped", between(Raw{Bytes: "id: 1\n\n: comment\n\n"}), all, require.NoError},
		{"empty data is an error", between(Raw{Bytes: "data:\n\n"}), half, fake.Says("unexpected end of JSON input")},
		{"garbled data is an error", between(fault.Garble{How: "no-data"}), half, fake.Says("unexpected end of JSON input")},
		{"an empty delta says nothing", between(Empty{}), all, require.NoError},
		{"a missing brace is an error", between(fault.Garble{}), half, fake.Says("unexpected end of JSON input")},
		{"plain text in place of JSON is an error", between(fault.Garble{How: "plain"}), half, fake.Says("invalid character")},
		{"a doubled data: is an error", between(fault.Garble{How: "doubled"}), half, fake.Says("invalid character")},
		{"a byte that is no UTF-8 is handed over as it is", between(fault.Garble{How: "utf-8"}, Text{Chunks: []string{"p? "}}), fake.Heard{Text: "Hel\xffp? lo", Finish: "stop", Usage: all.Usage}, require.NoError},
		{"every byte on its own is well", ahead(fault.Split{Every: 1}), all, require.NoError},
		{"all events in one write are well", ahead(fault.Batch{Frames: 100}), all, require.NoError},
		{"a few bytes at a time are well", ahead(fault.Drip{Bytes: 100, Every: time.Millisecond}), all, require.NoError},
		{"a stream of another content type is well", ahead(Headers{Header: map[string]string{"Content-Type": "application/json"}}), all, require.NoError},
		{"a compressed stream is well", ahead(Headers{Gzip: true}), all, require.NoError},
		{"a stream that says nothing is well", []Step{End{}}, fake.Heard{}, require.NoError},
		{"the role in every delta is well", between(Role{}, Role{}), all, require.NoError},
		{"the whole message once more is not added", append(before[:2:2], append([]Step{Message{}}, rest...)...), all, require.NoError},
		{"a gap in the calls is filled with an empty one",
			[]Step{Role{}, Tool{Index: 1, ID: "call_2", Name: "clock", Args: []string{"{}"}}, Finish{Reason: "tool_calls"}, Done{}},
			fake.Heard{Calls: []fake.Call{{}, {ID: "call_2", Name: "clock", Args: "{}"}}, Finish: "tool_calls"}, require.NoError},
		{"a call without an index is the first",
			[]Step{Role{}, ToolChunk{Parts: []ToolPart{{ID: Is("call_1"), Name: Is("clock"), Args: Is("{}")}}}, Finish{Reason: "tool_calls"}, Done{}},
			fake.Heard{Calls: []fake.Call{{ID: "call_1", Name: "clock", Args: "{}"}}, Finish: "tool_calls"}, require.NoError},
		{"a name said twice is there twice",
			[]Step{Role{}, Repeat{Times: 2, Steps: []Step{ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Is("call_1"), Name: Is("f"), Args: Is("")}}}}}, Finish{Reason: "tool_calls"}, Done{}},
			fake.Heard{Calls: []fake.Call{{ID: "call_1", Name: "ff"}}, Finish: "tool_calls"}, require.NoError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Steps: tt.steps})
			got, err := stream(t, context.Background(), f, client)
			tt.err(t, err)
			require.Equal(t, tt.want, got)
			require.Equal(t, []int{1}, f.Attempts())
		})
	}
}

// TestErrorsInTheStream have no status, and hand over the event as it came.
func TestErrorsInTheStream(t *testing.T) {
	tests := []struct {
		name    string
		flavour dialect.Flavour
		step    Step
		data    string
	}{
		{"an error in place of a chunk", "", Error{Type: "server_error", Message: "boom"}, `{"error":{"message":"boom","type":"server_error","param":null,"code":null}}`},
		{"an error beside choices", "", Error{Message: "boom", Form: ChoicesForm}, ""},
		{"an error of OpenRouter", dialect.OpenRouter, Error{Message: "boom"}, ""},
		{"an error event of Groq", dialect.Groq, Error{Message: "boom"}, ""},
		{"a null error in a chunk", "", Raw{Bytes: `data: {"error":null,"choices":[]}` + "\n\n"}, `{"error":null,"choices":[]}`},
	}
	for _, tt := range tests {
		for _, place := range []string{"first", "in the middle"} {
			t.Run(tt.name+", "+place, func(t *testing.T) {
				steps, want := between(tt.step), half
				if place == "first" {
					steps, want = []Step{tt.step, Done{}}, fake.Heard{}
				}
				f, client := startAs(t, dialect.Dialect{Flavour: tt.flavour}, Program{Steps: steps})
				got, err := stream(t, context.Background(), f, client)
				failed := new(ssestream.StreamError)
				require.True(t, errors.As(err, &failed), "%T %v", err, err)
				require.Contains(t, failed.Message, "received error while streaming")
				if tt.data != "" {
					require.JSONEq(t, tt.data, string(failed.Event.Data))
				} else {
					require.Contains(t, failed.Message, "boom")
				}
				require.Equal(t, want, got)
				require.Equal(t, []int{1}, f.Attempts())
			})
		}
	}
}

// TestAFlatErrorIsAChunkThatSaysNothing: only a member error makes the SDK fail.
func TestAFlatErrorIsAChunkThatSaysNothing(t *testing.T) {
	_, client := start(t, Program{Steps: []Step{Error{Message: "boom", Form: FlatForm}, Done{}}})
	s := client.Chat.Completions.NewStreaming(context.Background(), question())
	defer s.Close()
	require.True(t, s.Next())
	require.Contains(t, s.Current().RawJSON(), "boom")
	require.Empty(t, s.Current().Choices)
	require.False(t, s.Next())
	require.NoError(t, s.Err())
}

// TestChunksThatAreNotAccumulated are handed over all the same. The name of an event means nothing to the SDK.
func TestChunksThatAreNotAccumulated(t *testing.T) {
	for name, event := range map[string]string{
		"a chunk of another id":         `data: {"id":"other","object":"chat.completion.chunk","choices":[]}`,
		"an event with an unknown name": "event: news\ndata: {}",
	} {
		t.Run(name, func(t *testing.T) {
			_, client := start(t, Program{Steps: between(Raw{Bytes: event + "\n\n"})})
			s := client.Chat.Completions.NewStreaming(context.Background(), question())
			defer s.Close()
			var acc openai.ChatCompletionAccumulator
			var taken []bool
			for s.Next() {
				taken = append(taken, acc.AddChunk(s.Current()))
			}
			require.NoError(t, s.Err())
			require.Equal(t, []bool{true, true, false, true, true, true}, taken)
			require.Equal(t, all, heard(acc.ChatCompletion))
		})
	}
}

// TestFaultsBeforeTheAnswer are connection errors: the SDK sends the request again, after half a second and one more.
func TestFaultsBeforeTheAnswer(t *testing.T) {
	f, client := start(t,
		Program{When: When{Attempt: 1}, Steps: []Step{fault.Cut{}}},
		Program{When: When{Attempt: 2}, Steps: []Step{fault.Reset{}}},
		Program{When: When{Attempt: 3}, Steps: Answer("Hi").Steps})
	got, err := stream(t, context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, "Hi", got.Text)
	require.Equal(t, []int{1, 2, 3}, f.Attempts())
}

func TestEveryAttemptIsCut(t *testing.T) {
	f, client := start(t, Program{Times: 3, Steps: []Step{fault.Cut{}}})
	_, err := whole(t, client)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, []int{1, 2, 3}, f.Attempts())
}

// TestFaultsOfAnAnswerInOnePiece are not worth a second request: the SDK reads the body after its last attempt.
func TestFaultsOfAnAnswerInOnePiece(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		err   require.ErrorAssertionFunc
	}{
		{"half a body and a FIN", []Step{Headers{}, Text{Chunks: []string{"Hello"}}, fault.Cut{}}, fake.Cut},
		{"a body that is shorter than it says", []Step{Headers{Header: map[string]string{"Content-Length": "1000"}}, Raw{Bytes: `{"id":"x"`}, End{}}, fake.Cut},
		{"a body that is no JSON", []Step{Raw{Bytes: "Internal Server Error"}, End{}}, fake.Says("invalid character")},
		{"a missing brace", []Step{fault.Garble{}, Text{Chunks: []string{"Hello"}}, End{}}, fake.Says("unexpected EOF")},
		{"a body of another type", []Step{Headers{Header: map[string]string{"Content-Type": "text/plain"}}, Text{Chunks: []string{"Hello"}}, End{}}, fake.Says("that is not 'application/json'")},
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
	t.Run("the timeout of a request covers its whole stream", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		got, err := stream(t, context.Background(), f, client, option.WithRequestTimeout(fake.Patience))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, half, got)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
		require.Equal(t, []int{1}, f.Attempts())
	})
	t.Run("a timeout before the answer is not tried again", func(t *testing.T) {
		f, client := start(t, Program{Steps: []Step{fault.Stall{}}})
		_, err := stream(t, context.Background(), f, client, option.WithRequestTimeout(fake.Patience))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
		require.Equal(t, []int{1}, f.Attempts())
	})
	t.Run("a cancel in the middle ends the stream", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		s := client.Chat.Completions.NewStreaming(ctx, question())
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
		s := client.Chat.Completions.NewStreaming(context.Background(), question())
		require.True(t, s.Next())
		f.Await("stall")
		require.NoError(t, s.Close())
		require.NoError(t, s.Err())
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
}
