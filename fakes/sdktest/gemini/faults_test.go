package gemini_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/stallwright/stallwright/fakes/fault"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

var (
	before = []Step{Text{Chunks: []string{"Hel"}}}
	rest   = []Step{Text{Chunks: []string{"lo"}}, Finish{Reason: "stop"}, Done{}}
)

func between(steps ...Step) []Step {
	return append(append(append([]Step{}, before...), steps...), rest...)
}

func after(steps ...Step) []Step { return append(append([]Step{}, before...), steps...) }

func ahead(step Step) []Step { return append(append([]Step{step}, before...), rest...) }

const chunk = `{"candidates":[{"content":{"parts":[{"text":"lo"}],"role":"model"},"finishReason":"STOP","index":0}]}`

// TestStreamFaults: the SDK splits at blank lines and wants data: at the beginning of every block. What it cannot read
// ends the stream. (Wire notes differ: by them it goes on behind an error. The loop that continues a broken stream by
// itself does not.)
func TestStreamFaults(t *testing.T) {
	const none, half, all, end = "", "Hel", "Hello", "STOP"
	tests := []struct {
		name   string
		steps  []Step
		text   string
		finish string
		err    require.ErrorAssertionFunc
	}{
		{"a FIN between chunks is an error", after(fault.Cut{}), half, "", fake.Cut},
		// Wire notes differ: the FIN behind it is not yielded any more.
		{"a FIN within a chunk is bad JSON", after(Raw{Bytes: `data: {"candidates"`}, fault.Cut{}), half, "", fake.Says("unexpected end of JSON input")},
		{"a half-closed connection is an error", after(fault.HalfClose{}), half, "", fake.Cut},
		{"a RST is an error", after(Await{Gate: "heard"}, fault.Reset{}), half, "", fake.Is(syscall.ECONNRESET)},
		{"an end without a reason goes unseen", after(End{}), half, "", require.NoError},
		{"a stream that says nothing is well", []Step{End{}}, none, "", require.NoError},
		{"a last chunk without a blank line counts", after(Raw{Bytes: "data: " + chunk}, End{}), all, end, require.NoError},
		{"half a chunk at the end is an error", after(Raw{Bytes: `data: {"candidates"`}, End{}), half, "", fake.Says("unexpected end of JSON input")},
		{"a missing blank line makes one chunk of two", between(fault.Garble{How: "no-blank"}), half, "", fake.Says("after top-level value")},
		{"CRLF is as good as LF", ahead(fault.Lines{End: "crlf"}), all, end, require.NoError},
		{"CR alone makes one broken chunk of all", ahead(fault.Lines{End: "cr"}), none, "", fake.Says("after top-level value")},
		{"a BOM breaks the first chunk", ahead(fault.Lines{BOM: true}), none, "", fake.Says("invalid stream chunk: \ufeffdata")},
		{"no space behind the colon is well", ahead(fault.Lines{NoSpace: true}), all, end, require.NoError},
		{"data over several lines cannot be read", between(fault.Lines{Several: true}), half, "", fake.Says("error unmarshalling data")},
		{"a comment is an error", between(Comment{Text: "wait"}), half, "", fake.Says("invalid stream chunk: : wait")},
		{"an event name is an error", between(Raw{Bytes: "event: news\ndata: {}\n\n"}), half, "", fake.Says("invalid stream chunk: event")},
		{"an id is an error", between(Raw{Bytes: "id: 1\n\n"}), half, "", fake.Says("invalid stream chunk: id")},
		{"one blank line too many is an error", between(Raw{Bytes: "\n"}), half, "", fake.Says("invalid stream chunk")},
		{"two blank lines too many are well", between(Raw{Bytes: "\n\n"}), all, end, require.NoError},
		{"empty data is an error", between(Raw{Bytes: "data:\n\n"}), half, "", fake.Says("unexpected end of JSON input")},
		{"an empty text says nothing", between(Empty{}), all, end, require.NoError},
		{"a missing brace is an error", between(fault.Garble{}), half, "", fake.Says("unexpected end of JSON input")},
		{"plain text in place of JSON is an error", between(fault.Garble{How: "plain"}), half, "", fake.Says("invalid character")},
		{"a byte that is no UTF-8 is replaced", between(fault.Garble{How: "utf-8"}, Text{Chunks: []string{"p? "}}), "Hel\ufffdp? lo", end, require.NoError},
		{"every byte on its own is well", ahead(fault.Split{Every: 1}), all, end, require.NoError},
		{"all chunks in one write are well", ahead(fault.Batch{Frames: 100}), all, end, require.NoError},
		{"a stream of another content type is well", ahead(Headers{Header: map[string]string{"Content-Type": "text/plain"}}), all, end, require.NoError},
		{"a null error is none", after(Raw{Bytes: `data: {"error":null,` + chunk[1:] + "\n\n"}, End{}), all, end, require.NoError},
		{"an unknown field is well", between(Raw{Bytes: `data: {"news":1}` + "\n\n"}), all, end, require.NoError},
		{"a reason in the middle does not end the stream", between(Finish{Reason: "stop"}), all, end, require.NoError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Steps: tt.steps})
			got, errs := stream(t, context.Background(), f, client, nil)
			require.LessOrEqual(t, len(errs), 1, "%v", errs)
			tt.err(t, errors.Join(errs...))
			require.Equal(t, tt.text, got.Text)
			require.Equal(t, tt.finish, got.Finish)
			require.Equal(t, []int{0}, f.Attempts())
		})
	}
}

// TestErrorsInTheStream are yielded, and end the stream. (Wire notes differ: by them it goes on.)
func TestErrorsInTheStream(t *testing.T) {
	t.Run("an error in place of a chunk", func(t *testing.T) {
		f, client := start(t, Program{Steps: between(Error{Type: "UNAVAILABLE", Message: "The model is overloaded."})})
		got, errs := stream(t, context.Background(), f, client, nil)
		require.Len(t, errs, 1)
		var failed genai.APIError
		require.True(t, errors.As(errs[0], &failed), "%T", errs[0])
		require.Equal(t, []any{503, "UNAVAILABLE", "The model is overloaded."}, []any{failed.Code, failed.Status, failed.Message})
		require.Equal(t, "Hel", got.Text)
	})
	t.Run("a bare error without data:", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(Raw{Bytes: `{"error":{"code":503,"message":"boom","status":"UNAVAILABLE"}}` + "\n\n"}, End{})})
		_, errs := stream(t, context.Background(), f, client, nil)
		require.Len(t, errs, 1)
		var failed genai.APIError
		require.True(t, errors.As(errs[0], &failed), "%T", errs[0])
		require.Equal(t, []any{503, "boom"}, []any{failed.Code, failed.Message})
	})
	t.Run("the flat form is a chunk that says nothing", func(t *testing.T) {
		f, client := start(t, Program{Steps: between(Error{Type: "UNAVAILABLE", Message: "boom", Form: FlatForm})})
		got, errs := stream(t, context.Background(), f, client, nil)
		require.Empty(t, errs)
		require.Equal(t, "Hello", got.Text)
	})
}

// TestRetries are what the caller asks for. The SDK does not number them and does not read how long it is to wait.
func TestRetries(t *testing.T) {
	options := &genai.HTTPRetryOptions{Attempts: genai.Ptr[int32](3), InitialDelay: genai.Ptr(0.01), Jitter: genai.Ptr(0.0)}
	config := &genai.GenerateContentConfig{HTTPOptions: &genai.HTTPOptions{RetryOptions: options}}
	for name, steps := range map[string][]Step{
		"a rate limit":     {fault.Status{Code: 429, Header: map[string]string{"Retry-After": "100"}}},
		"an overload":      {fault.Status{Code: 503}},
		"a FIN beforehand": {fault.Cut{}},
	} {
		t.Run(name, func(t *testing.T) {
			f, client := start(t, Program{Times: 2, Steps: steps}, Answer("Hi"))
			got, errs := stream(t, context.Background(), f, client, config)
			require.Empty(t, errs)
			require.Equal(t, "Hi", got.Text)
			require.Equal(t, []int{0, 0, 0}, f.Attempts())
		})
	}
	t.Run("a bad request is not worth one", func(t *testing.T) {
		f, client := start(t, Program{Steps: []Step{fault.Status{Code: 400}}})
		_, errs := stream(t, context.Background(), f, client, config)
		require.Len(t, errs, 1)
		require.Equal(t, []int{0}, f.Attempts())
	})
}

// TestAChunkMaySayHowToGoOn: a stream that breaks behind a continuation token is asked for once more, with the token.
// No other client of the wire notes sends anything again in the middle of a stream.
func TestAChunkMaySayHowToGoOn(t *testing.T) {
	const token = "dG9rZW4="
	checkpoint := Raw{Bytes: `data: {"candidates":[{"content":{"parts":[{"text":"Hel"}],"role":"model"},"continuationToken":"` + token + `","index":0}]}` + "\n\n"}
	for name, broken := range map[string]Step{"a FIN": fault.Cut{}, "an end without a reason": End{}, "an error": Error{Type: "UNAVAILABLE", Message: "boom"}} {
		t.Run(name, func(t *testing.T) {
			f, client := start(t,
				Program{When: When{Ordinal: 1}, Steps: []Step{checkpoint, broken}},
				Program{When: When{Contains: token}, Steps: rest})
			got, errs := stream(t, context.Background(), f, client, nil)
			require.Empty(t, errs)
			require.Equal(t, "Hello", got.Text)
			require.Equal(t, "STOP", got.Finish)
			require.Len(t, f.Attempts(), 2)
		})
	}
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
			_, errs := stream(t, context.Background(), f, client, nil)
			require.Len(t, errs, 1)
			require.ErrorIs(t, errs[0], tt.err)
			require.Equal(t, []int{0}, f.Attempts())
		})
	}
}

func TestFaultsOfAnAnswerInOnePiece(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		err   require.ErrorAssertionFunc
	}{
		{"half a body and a FIN", []Step{Headers{}, Text{Chunks: []string{"Hello"}}, fault.Cut{}}, fake.Cut},
		{"a body that is shorter than it says", []Step{Headers{Header: map[string]string{"Content-Length": "1000"}}, Raw{Bytes: `{"candidates":`}, End{}}, fake.Cut},
		{"a body that is no JSON", []Step{Raw{Bytes: "Internal Server Error"}, End{}}, fake.Says("error unmarshalling response")},
		{"a missing brace", []Step{fault.Garble{}, Text{Chunks: []string{"Hello"}}, End{}}, fake.Says("unexpected end of JSON input")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Steps: tt.steps})
			_, err := whole(t, client, nil)
			tt.err(t, err)
			require.Equal(t, []int{0}, f.Attempts())
		})
	}
}

// TestAnErrorInABodyThatIsWellGoesUnseen: the SDK looks for an error only behind a status that says so.
func TestAnErrorInABodyThatIsWellGoesUnseen(t *testing.T) {
	_, client := start(t, Program{Steps: []Step{Error{Type: "INTERNAL", Message: "boom"}, End{}}})
	got, err := whole(t, client, nil)
	require.NoError(t, err)
	require.Equal(t, fake.Heard{}, got.Heard)
}

// TestAStreamWithoutEventsIsAnArray that the SDK never asks for, but json can read.
func TestAStreamWithoutEventsIsAnArray(t *testing.T) {
	f, _ := start(t, Answer("Hel", "lo"))
	resp, err := f.Client.Post(f.URL+"/v1beta/models/gemini-x:streamGenerateContent", "application/json", strings.NewReader(`{"contents":[{"parts":[{"text":"hi"}]}]}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	var list []genai.GenerateContentResponse
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&list))
	text := ""
	for i := range list {
		text += list[i].Text()
	}
	require.Equal(t, "Hello", text)
}

// TestTheClientLeaves: however it gives up, the fake sees that it left.
func TestTheClientLeaves(t *testing.T) {
	t.Run("a timeout covers the whole stream", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		patience := fake.Patience
		got, errs := stream(t, context.Background(), f, client, &genai.GenerateContentConfig{HTTPOptions: &genai.HTTPOptions{Timeout: &patience}})
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], context.DeadlineExceeded)
		require.Equal(t, "Hel", got.Text)
		require.Equal(t, "1", f.Sent("X-Server-Timeout"), "in seconds, rounded up")
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
	t.Run("a timeout before the answer is not tried again", func(t *testing.T) {
		f, client := start(t, Program{Steps: []Step{fault.Stall{}}})
		patience := fake.Patience
		_, errs := stream(t, context.Background(), f, client, &genai.GenerateContentConfig{HTTPOptions: &genai.HTTPOptions{Timeout: &patience}})
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], context.DeadlineExceeded)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
		require.Equal(t, []int{0}, f.Attempts())
	})
	t.Run("a cancel in the middle ends the stream", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var errs []error
		for _, err := range client.Models.GenerateContentStream(ctx, "gemini-x", genai.Text("hi"), nil) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			f.Await("stall")
			cancel()
		}
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], context.Canceled)
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
	t.Run("leaving the loop is leaving", func(t *testing.T) {
		f, client := start(t, Program{Steps: after(fault.Stall{})})
		for _, err := range client.Models.GenerateContentStream(context.Background(), "gemini-x", genai.Text("hi"), nil) {
			require.NoError(t, err)
			f.Await("stall")
			break
		}
		require.Contains(t, []string{"fin", "rst"}, f.Left())
	})
}
