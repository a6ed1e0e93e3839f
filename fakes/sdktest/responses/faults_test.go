package responses_test

import (
	"context"
	"errors"
	"io"
	"syscall"
	"testing"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
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

// TestStreamFaults: the SDK wants no order of events and no last one, and sends nothing again.
func TestStreamFaults(t *testing.T) {
	const none, half, all = "", "Hel", "Hello"
	tests := []struct {
		name   string
		steps  []Step
		text   string // of the deltas
		status string // of the last response, empty when there was none
		err    require.ErrorAssertionFunc
	}{
		{"a FIN between events is an error", after(fault.Cut{}), half, "", fake.Cut},
		{"a FIN within an event is an error", after(Raw{Bytes: "event: response.out"}, fault.Cut{}), half, "", fake.Cut},
		{"a half-closed connection is an error", after(fault.HalfClose{}), half, "", fake.Cut},
		{"a RST is an error", after(Await{Gate: "heard"}, fault.Reset{}), half, "", fake.Is(syscall.ECONNRESET)},
		{"an end without a last event goes unseen", after(End{}), half, "", require.NoError},
		{"half an event at the end is lost", after(Raw{Bytes: `data: {"type":"resp`}, End{}), half, "", require.NoError},
		{"a missing blank line makes one event of two", between(fault.Garble{How: "no-blank"}), half, "", fake.Says("after top-level value")},
		{"CRLF is as good as LF", ahead(fault.Lines{End: "crlf"}), all, "completed", require.NoError},
		{"CR alone hides every event", ahead(fault.Lines{End: "cr"}), none, "", require.NoError},
		{"no space behind the colon is well", ahead(fault.Lines{NoSpace: true}), all, "completed", require.NoError},
		{"data over several lines is one event", ahead(fault.Lines{Several: true}), all, "completed", require.NoError},
		{"comments are skipped", between(Comment{Text: "one\ntwo"}), all, "completed", require.NoError},
		{"events need no name", ahead(fault.Garble{How: "no-event"}), all, "completed", require.NoError},
		{"an event name without data is skipped", between(Raw{Bytes: "event: ping\n\n"}), all, "completed", require.NoError},
		{"empty data is an error", between(Raw{Bytes: "data:\n\n"}), half, "", fake.Says("unexpected end of JSON input")},
		{"an empty delta says nothing", between(Empty{}), all, "completed", require.NoError},
		{"a missing brace is an error", between(fault.Garble{}), half, "", fake.Says("unexpected end of JSON input")},
		{"plain text in place of JSON is an error", between(fault.Garble{How: "plain"}), half, "", fake.Says("invalid character")},
		{"every byte on its own is well", ahead(fault.Split{Every: 1}), all, "completed", require.NoError},
		{"all events in one write are well", ahead(fault.Batch{Frames: 100}), all, "completed", require.NoError},
		{"a delta of no item is handed over", []Step{Raw{Bytes: `data: {"type":"response.output_text.delta","output_index":0,"delta":"Hello"}` + "\n\n"}, End{}}, all, "", require.NoError},
		{"[DONE] is the end here too", between(Raw{Bytes: "data: [DONE]\n\n"}), half, "", require.NoError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Steps: tt.steps})
			got, err := stream(context.Background(), f, client)
			tt.err(t, err)
			require.Equal(t, tt.text, got.deltas.Text)
			require.Equal(t, tt.status, string(got.last.Status))
			require.Equal(t, []int{1}, f.Attempts())
		})
	}
}

// TestABOMHidesTheFirstEvent whose data line is then not one.
func TestABOMHidesTheFirstEvent(t *testing.T) {
	f, client := start(t, Program{Steps: append([]Step{fault.Lines{BOM: true}, Raw{Bytes: `data: {"type":"response.created"}` + "\n\n"}}, between()...)})
	got, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, "Hello", got.deltas.Text)
	require.Equal(t, []string{"response.created", "response.in_progress", "response.output_item.added"}, got.kinds[:3], "the one behind the BOM is lost")
}

// TestKeepalivesAreEvents, as is whatever the SDK does not know.
func TestKeepalivesAreEvents(t *testing.T) {
	for kind, step := range map[string]Step{
		"keepalive": Ping{},
		"news":      Raw{Bytes: `event: news` + "\n" + `data: {"type":"news","sequence_number":99}` + "\n\n"},
	} {
		t.Run(kind, func(t *testing.T) {
			f, client := start(t, Program{Steps: between(step)})
			got, err := stream(context.Background(), f, client)
			require.NoError(t, err)
			require.Contains(t, got.kinds, kind)
			require.Equal(t, "Hello", got.deltas.Text)
			require.Equal(t, "completed", string(got.last.Status))
		})
	}
}

func TestErrorsInTheStream(t *testing.T) {
	t.Run("the nested form is an error with the event in it", func(t *testing.T) {
		for name, form := range map[string]ErrorForm{"named": OwnForm, "without a name": DataForm} {
			f, client := start(t, Program{Steps: after(Error{Type: "insufficient_quota", Code: "insufficient_quota", Message: "boom", Form: form})})
			got, err := stream(context.Background(), f, client)
			failed := new(ssestream.StreamError)
			require.True(t, errors.As(err, &failed), "%s: %T %v", name, err, err)
			require.Contains(t, failed.Message, "boom")
			require.JSONEq(t, `{"type":"error","sequence_number":5,"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"boom","param":null}}`,
				string(failed.Event.Data))
			require.Equal(t, map[bool]string{true: "error"}[form == OwnForm], failed.Event.Type)
			require.Equal(t, "Hel", got.deltas.Text)
			require.Equal(t, []int{1}, f.Attempts())
		}
	})
	t.Run("as the first event it is not tried again", func(t *testing.T) {
		f, client := start(t, Program{Steps: []Step{Error{Type: "rate_limit_error", Code: "rate_limit_exceeded", Message: "boom"}}})
		_, err := stream(context.Background(), f, client)
		require.ErrorContains(t, err, "boom")
		require.Equal(t, []int{1}, f.Attempts())
	})
	t.Run("the flat form is an event", func(t *testing.T) {
		_, client := start(t, Program{Steps: after(Error{Code: "server_error", Message: "boom", Form: FlatForm})})
		s := client.Responses.NewStreaming(context.Background(), question())
		defer s.Close()
		for s.Next() && s.Current().Type != "error" {
		}
		require.NoError(t, s.Err())
		e := s.Current().AsError()
		require.Equal(t, []string{"server_error", "boom"}, []string{e.Code, e.Message})
		require.False(t, s.Next())
		require.NoError(t, s.Err())
	})
	t.Run("a failed response is an event", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(Error{Code: "server_error", Message: "boom", Form: ChoicesForm})})
		got, err := stream(context.Background(), f, client)
		require.NoError(t, err)
		require.Equal(t, "response.failed", got.kinds[len(got.kinds)-1])
		require.Equal(t, "failed", string(got.last.Status))
		require.Equal(t, []string{"server_error", "boom"}, []string{string(got.last.Error.Code), got.last.Error.Message})
	})
}

func TestFaultsBeforeTheAnswer(t *testing.T) {
	f, client := start(t, Program{When: When{Attempt: 1}, Steps: []Step{fault.Cut{}}}, Program{When: When{Attempt: 2}, Steps: Answer("Hi").Steps})
	got, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, "Hi", got.deltas.Text)
	require.Equal(t, []int{1, 2}, f.Attempts())
}

func TestHalfABodyIsNotTriedAgain(t *testing.T) {
	f, client := start(t, Program{Steps: []Step{Headers{}, Text{Chunks: []string{"Hello"}}, fault.Cut{}}})
	_, err := whole(client)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, []int{1}, f.Attempts())
}

func TestTheClientLeaves(t *testing.T) {
	t.Run("the timeout of a request covers its whole stream", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		got, err := stream(context.Background(), f, client, option.WithRequestTimeout(fake.Patience))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, "Hel", got.deltas.Text)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
	t.Run("closing the stream is leaving", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		s := client.Responses.NewStreaming(context.Background(), question())
		require.True(t, s.Next())
		f.Await("stall")
		require.NoError(t, s.Close())
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
}
