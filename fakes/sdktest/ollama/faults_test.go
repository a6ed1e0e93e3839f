package ollama_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

var (
	before = []Step{Text{Chunks: []string{"Hel"}}}
	rest   = []Step{Text{Chunks: []string{"lo"}}, Finish{Reason: "stop"}, Usage{Prompt: 9, Completion: 2}, Done{}}
)

func between(steps ...Step) []Step {
	return append(append(append([]Step{}, before...), steps...), rest...)
}

func after(steps ...Step) []Step { return append(append([]Step{}, before...), steps...) }

func ahead(step Step) []Step { return append(append([]Step{step}, before...), rest...) }

// TestStreamFaults: the SDK does not look at how a stream has ended. Only done says that all has come.
func TestStreamFaults(t *testing.T) {
	const none, half, all = "", "Hel", "Hello"
	tests := []struct {
		name  string
		steps []Step
		text  string
		done  bool
		err   require.ErrorAssertionFunc
	}{
		{"a FIN between lines goes unseen", after(fault.Cut{}), half, false, require.NoError},
		// Half a line is no JSON, and what is no JSON is the text of an error. (Wire notes differ: by them every cut
		// goes unseen.)
		{"a FIN within a line is an error of what has come of it", after(Raw{Bytes: `{"model":"mod`}, fault.Cut{}), half, false, fake.Says(`{"model":"mod`)},
		{"a half-closed connection goes unseen", after(fault.HalfClose{}), half, false, require.NoError},
		{"a RST goes unseen", after(Await{Gate: "heard"}, fault.Reset{}), half, false, require.NoError},
		{"an end without the last line goes unseen", after(End{}), half, false, require.NoError},
		{"a stream that says nothing is well", []Step{End{}}, none, false, require.NoError},
		{"a last line without its end counts", after(Raw{Bytes: `{"message":{"role":"assistant","content":"lo"},"done":true}`}, End{}), all, true, require.NoError},
		{"lines behind the last one count", append(between(), Text{Chunks: []string{"!"}}), all + "!", true, require.NoError},
		{"CRLF is as good as LF", ahead(fault.Lines{End: "crlf"}), all, true, require.NoError},
		{"CR alone makes one broken line of all", ahead(fault.Lines{End: "cr"}), none, false, fake.Says("Hel")},
		{"an empty text says nothing", between(Empty{}), all, true, require.NoError},
		{"a missing brace is an error of the whole line", between(fault.Garble{}), half, false, fake.Says(`"content":"lo"`)},
		{"plain text is its own error", between(fault.Garble{How: "plain"}), half, false, fake.Says("Internal Server Error")},
		{"a server-sent event is its own error", between(Raw{Bytes: "data: {}\n"}), half, false, fake.Says("data: {}")},
		{"a byte that is no UTF-8 is replaced", between(fault.Garble{How: "utf-8"}, Text{Chunks: []string{"p? "}}), "Hel\ufffdp? lo", true, require.NoError},
		{"every byte on its own is well", ahead(fault.Split{Every: 1}), all, true, require.NoError},
		{"all lines in one write are well", ahead(fault.Batch{Frames: 100}), all, true, require.NoError},
		{"a stream of another content type is well", ahead(Headers{Header: map[string]string{"Content-Type": "text/plain"}}), all, true, require.NoError},
		{"an unknown field is well", between(Raw{Bytes: `{"news":1}` + "\n"}), all, true, require.NoError},
		{"an empty error is none", between(Raw{Bytes: `{"error":""}` + "\n"}), all, true, require.NoError},
		{"a null error is none", between(Raw{Bytes: `{"error":null}` + "\n"}), all, true, require.NoError},
		{"an error line is an error of its text", between(Error{Message: "boom"}), half, false, fake.Says("boom")},
		{"an error line may be the first", []Step{Error{Message: "boom"}, End{}}, none, false, fake.Says("boom")},
		{"an error object is the error of its line", between(Raw{Bytes: `{"error":{"message":"boom"}}` + "\n"}), half, false, fake.Says(`{"error":{"message":"boom"}}`)},
		{"a line above 8 MB goes unseen, with all behind it", between(Flood{Frames: 1, Bytes: 9 << 20}), half, false, require.NoError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Steps: tt.steps})
			got, err := ask(t, context.Background(), f, client, question())
			tt.err(t, err)
			require.Equal(t, tt.text, got.Text)
			require.Equal(t, tt.done, got.done)
			require.Equal(t, []int{0}, f.Attempts())
		})
	}
}

// TestABlankLineIsAnErrorWithoutWords.
func TestABlankLineIsAnErrorWithoutWords(t *testing.T) {
	f, client := start(t, Program{Steps: between(Raw{Bytes: "\n"})})
	got, err := ask(t, context.Background(), f, client, question())
	require.EqualError(t, err, "")
	require.Equal(t, "Hel", got.Text)
}

func TestFaultsBeforeTheAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		step Step
		err  error
	}{
		"a FIN": {fault.Cut{}, io.EOF},
		"a RST": {fault.Reset{}, syscall.ECONNRESET},
	} {
		t.Run(name, func(t *testing.T) {
			f, client := start(t, Program{Steps: []Step{tt.step}})
			_, err := ask(t, context.Background(), f, client, question())
			require.ErrorIs(t, err, tt.err)
			require.Equal(t, []int{0}, f.Attempts())
		})
	}
}

// TestFaultsOfAnAnswerInOnePiece: to the SDK it is a stream of one line.
func TestFaultsOfAnAnswerInOnePiece(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		err   require.ErrorAssertionFunc
	}{
		{"half a body and a FIN", []Step{Headers{}, Text{Chunks: []string{"Hello"}}, fault.Cut{}}, fake.Says(`{"model":"model-x"`)},
		{"no body at all", []Step{Headers{Header: map[string]string{"Content-Length": "1000"}}, Raw{Bytes: "\n"}, End{}}, func(t require.TestingT, err error, _ ...any) { require.EqualError(t, err, "") }},
		{"a missing brace", []Step{fault.Garble{}, Text{Chunks: []string{"Hello"}}, End{}}, fake.Says(`"content":"Hello"`)},
		{"an error in a body that is well", []Step{Error{Message: "boom"}, End{}}, fake.Says("boom")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Steps: tt.steps})
			got, err := ask(t, context.Background(), f, client, inOnePiece())
			tt.err(t, err)
			require.False(t, got.done)
			require.Equal(t, []int{0}, f.Attempts())
		})
	}
}

// TestTheClientLeaves: however it gives up, the fake sees that it left. What the SDK makes of it depends on when.
func TestTheClientLeaves(t *testing.T) {
	t.Run("a timeout before the answer is an error", func(t *testing.T) {
		f, client := start(t, Program{Steps: []Step{fault.Stall{}}})
		ctx, cancel := context.WithTimeout(context.Background(), fake.Patience)
		defer cancel()
		_, err := ask(t, ctx, f, client, question())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
	t.Run("a timeout in the middle goes unseen", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		ctx, cancel := context.WithTimeout(context.Background(), fake.Patience)
		defer cancel()
		got, err := ask(t, ctx, f, client, question())
		require.NoError(t, err)
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
		require.Equal(t, "Hel", got.Text)
		require.False(t, got.done)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
	t.Run("an error of the caller's function ends the stream", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		enough := errors.New("enough")
		err := client.Chat(context.Background(), question(), func(r api.ChatResponse) error {
			f.Await("stall")
			require.True(t, strings.HasPrefix(r.Message.Content, "Hel"))
			return enough
		})
		require.ErrorIs(t, err, enough)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
}
