package anthropic_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

var used = Usage{Prompt: 9, Completion: 4, Reasoning: 2, Cached: 5}

// usage is what comes of it: the API does not count what it read from its cache as input.
var usage = fake.Usage{In: 4, Out: 4, Reasoning: 2, Cached: 5}

// TestAnswers plays each program twice: as a stream and in one piece the SDK hands over the same.
func TestAnswers(t *testing.T) {
	oslo := fake.Call{ID: "toolu_1", Name: "weather", Args: `{"city":"Oslo"}`}
	tests := []struct {
		name  string
		steps []Step
		want  fake.Heard // its signature is not compared, but whether there is one
	}{
		{"text in pieces is one text",
			[]Step{Role{}, Text{Chunks: []string{"Hel", "lo \"you\"\n", "é🙂"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "Hello \"you\"\né🙂", Finish: "end_turn", Usage: usage}},
		{"usage may come ahead of the end",
			[]Step{Role{}, Text{Chunks: []string{"Hi"}}, used, Finish{Reason: "stop"}, Done{}},
			fake.Heard{Text: "Hi", Finish: "end_turn", Usage: usage}},
		{"thinking is a block with a signature",
			[]Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "4", Thought: "Let me see", Signature: "there", Finish: "end_turn", Usage: usage}},
		{"arguments in pieces are one JSON",
			[]Step{Role{}, Tool{ID: "toolu_1", Name: "weather", Args: []string{`{"ci`, `ty":`, `"Oslo"}`}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo}, Finish: "tool_use", Usage: usage}},
		{"a call without arguments has an empty object",
			[]Step{Role{}, Tool{ID: "toolu_1", Name: "clock"}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{{ID: "toolu_1", Name: "clock", Args: "{}"}}, Finish: "tool_use", Usage: usage}},
		{"thoughts, text and parallel calls stay apart",
			[]Step{Role{}, Think{Chunks: []string{"Hm"}}, Text{Chunks: []string{"Look."}}, Tool{ID: "toolu_1", Name: "weather", Args: []string{`{"city":`, `"Oslo"}`}},
				Tool{Index: 1, ID: "toolu_2", Name: "clock", Args: []string{`{}`}}, Tool{Index: 2, ID: "toolu_3", Name: "weather", Args: []string{`{"city":`, `"Rome"}`}},
				Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Text: "Look.", Thought: "Hm", Signature: "there", Calls: []fake.Call{oslo, {ID: "toolu_2", Name: "clock", Args: `{}`},
				{ID: "toolu_3", Name: "weather", Args: `{"city":"Rome"}`}}, Finish: "tool_use", Usage: usage}},
		{"calls whose pieces alternate stay apart",
			[]Step{Role{},
				ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Is("toolu_1"), Name: Is("weather")}, {Index: Is("1"), ID: Is("toolu_2"), Name: Is("clock")}}},
				ToolChunk{Parts: []ToolPart{{Index: Is("0"), Args: Is(`{"city":`)}, {Index: Is("1"), Args: Is(`{`)}}},
				ToolChunk{Parts: []ToolPart{{Index: Is("0"), Args: Is(`"Oslo"}`)}, {Index: Is("1"), Args: Is(`}`)}}},
				Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo, {ID: "toolu_2", Name: "clock", Args: `{}`}}, Finish: "tool_use", Usage: usage}},
		{"a refusal is text that ends so, with an explanation",
			[]Step{Role{}, Refusal{Chunks: []string{"I'm", " sorry"}}, Finish{Reason: "refusal"}, used, Done{}},
			fake.Heard{Text: "I'm sorry", Refusal: "I'm sorry", Finish: "refusal", Usage: usage}},
		{"an answer that is too long says so",
			[]Step{Role{}, Text{Chunks: []string{"And so"}}, Finish{Reason: "length"}, used, Done{}},
			fake.Heard{Text: "And so", Finish: "max_tokens", Usage: usage}},
		// Whether the arguments were cut off cannot be told from the call: both ways it is one without any.
		{"a call that is too long has lost its arguments",
			[]Step{Role{}, Tool{ID: "toolu_1", Name: "weather", Args: []string{`{"ci`}}, Finish{Reason: "length"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{{ID: "toolu_1", Name: "weather", Args: "{}"}}, Finish: "max_tokens", Usage: usage}},
		{"a stop sequence is one of the reasons",
			[]Step{Role{}, Text{Chunks: []string{"a"}}, Finish{Reason: "stop_sequence"}, used, Done{}},
			fake.Heard{Text: "a", Finish: "stop_sequence", Usage: usage}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Times: 2, Steps: tt.steps})
			streamed, _, err := stream(context.Background(), f, client)
			require.NoError(t, err)
			once, err := whole(client)
			require.NoError(t, err)
			for _, got := range []fake.Heard{streamed, once} {
				require.Equal(t, tt.want.Signature != "", got.Signature != "")
				got.Signature = tt.want.Signature
				require.Equal(t, tt.want, got)
			}
			require.Equal(t, []int{1, 1}, f.Attempts())
		})
	}
}

// TestThinkingThatIsNotShown is a signature behind pings, which are not handed over.
func TestThinkingThatIsNotShown(t *testing.T) {
	f, client := start(t, Program{Steps: []Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Ping{}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Done{}}})
	got, kinds, err := stream(context.Background(), f, client, option.WithJSONSet("thinking", map[string]any{"type": "adaptive", "display": "omitted"}))
	require.NoError(t, err)
	require.Equal(t, []string{"4", ""}, []string{got.Text, got.Thought})
	require.NotEmpty(t, got.Signature)
	require.Equal(t, []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "content_block_start"}, kinds[:5])
}

// TestATurnWithTools hands the SDK's own copy of thoughts and a call back with the result. The fake is strict about all.
func TestATurnWithTools(t *testing.T) {
	f, client := start(t,
		Program{When: When{Ordinal: 1}, Steps: []Step{Role{}, Think{Chunks: []string{"Hm"}}, Text{Chunks: []string{"Look."}},
			Tool{ID: "toolu_1", Name: "weather", Args: []string{`{"city":`, `"Oslo"}`}}, Finish{Reason: "tool_calls"}, Done{}}},
		Program{When: When{Contains: `"tool_use_id":"toolu_1"`}, Steps: Answer("It rains.").Steps})
	q := question()
	q.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: map[string]any{"city": map[string]any{"type": "string"}}}, "weather")}
	s := client.Messages.NewStreaming(context.Background(), q)
	defer s.Close()
	var m anthropic.Message
	for s.Next() {
		require.NoError(t, m.Accumulate(s.Current()))
	}
	require.NoError(t, s.Err())
	q.Messages = append(q.Messages, m.ToParam(), anthropic.NewUserMessage(anthropic.NewToolResultBlock("toolu_1", "rain", false)))
	second, err := client.Messages.New(context.Background(), q)
	require.NoError(t, err)
	require.Equal(t, "It rains.", second.Content[0].Text)
	require.Len(t, f.Attempts(), 2)
}

// TestEvents: pings are not handed over.
func TestEvents(t *testing.T) {
	f, client := start(t, Program{Steps: []Step{Role{}, Ping{}, Text{Chunks: []string{"a", "b"}}, Ping{}, Finish{Reason: "stop"}, Ping{}, Done{}}})
	_, kinds, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, []string{
		"message_start", "content_block_start", "content_block_delta", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
	}, kinds)
}

func TestStopSequenceIsTheOneOfTheRequest(t *testing.T) {
	_, client := start(t, Program{Steps: []Step{Role{}, Text{Chunks: []string{"a"}}, Finish{Reason: "stop_sequence"}, Done{}}})
	m, err := client.Messages.New(context.Background(), question())
	require.NoError(t, err)
	require.Equal(t, "END", m.StopSequence)
}

func TestHeadersAndIDs(t *testing.T) {
	f, client := start(t, Program{Times: 2, Steps: Answer("Hi").Steps})
	var streamed, once *http.Response
	_, _, err := stream(context.Background(), f, client, option.WithResponseInto(&streamed))
	require.NoError(t, err)
	require.Empty(t, f.Sent("X-Stainless-Timeout"), "a stream has no limit")
	m, err := client.Messages.New(context.Background(), question(), option.WithResponseInto(&once))
	require.NoError(t, err)
	require.Equal(t, "600", f.Sent("X-Stainless-Timeout"))
	// The key goes as a bearer token since the version of 2026-10-21.
	require.Equal(t, "Bearer "+fake.Key, f.Sent("Authorization"))
	require.Empty(t, f.Sent("X-Api-Key"))
	require.Equal(t, "2026-10-21", f.Sent("Anthropic-Version"))
	require.Regexp(t, "^msg_", m.ID)
	require.Equal(t, "claude-x", string(m.Model))
	for kind, r := range map[string]*http.Response{"text/event-stream; charset=utf-8": streamed, "application/json": once} {
		require.Equal(t, kind, r.Header.Get("Content-Type"))
		require.Regexp(t, "^req_", r.Header.Get("Request-Id"))
		require.NotEmpty(t, r.Header.Get("Anthropic-Organization-Id"))
		_, err := time.Parse(time.RFC3339, r.Header.Get("Anthropic-Ratelimit-Tokens-Reset"))
		require.NoError(t, err)
	}
}

func TestOtherRequests(t *testing.T) {
	_, client := start(t)
	n, err := client.Messages.CountTokens(context.Background(), anthropic.MessageCountTokensParams{Model: "claude-x", Messages: question().Messages})
	require.NoError(t, err)
	require.Positive(t, n.InputTokens)
	page, err := client.Models.List(context.Background(), anthropic.ModelListParams{})
	require.NoError(t, err)
	require.Len(t, page.Data, 1)
	require.Equal(t, "claude-x", page.Data[0].ID)
}

func TestStatuses(t *testing.T) {
	tests := []struct {
		name     string
		status   fault.Status
		attempts int
		kind     string
		message  string
	}{
		{"a bad request is sent once", fault.Status{Code: 400}, 1, "invalid_request_error", "The request is not valid."},
		{"a bad key is sent once", fault.Status{Code: 401}, 1, "authentication_error", "API key is invalid."},
		{"an empty purse is met once", fault.Status{Code: 402}, 1, "billing_error", "There is a problem with the billing of this organization."},
		{"what is forbidden is asked for once", fault.Status{Code: 403}, 1, "permission_error", "This key may not use the resource."},
		{"a model that is not there is asked for once", fault.Status{Code: 404}, 1, "not_found_error", "model: claude-x"},
		{"a request that took too long is sent three times", fault.Status{Code: 408}, 3, "timeout_error", "The request took too long."},
		{"a conflict is sent three times", fault.Status{Code: 409}, 3, "conflict_error", "The resource is in another state."},
		{"a request that is too large is sent once", fault.Status{Code: 413}, 1, "request_too_large", "The request is larger than 32 MB."},
		{"a rate limit is met three times", fault.Status{Code: 429}, 3, "rate_limit_error", "The rate limit of requests per minute was reached."},
		{"a server error is met three times", fault.Status{Code: 500}, 3, "api_error", "Internal server error"},
		{"an overload is met three times", fault.Status{Code: 529}, 3, "overloaded_error", "Overloaded"},
		{"the server may forbid a retry", fault.Status{Code: 500, Header: map[string]string{"X-Should-Retry": "false"}}, 1, "api_error", "Internal server error"},
		{"the server may ask for a retry", fault.Status{Code: 400, Header: map[string]string{"X-Should-Retry": "true"}}, 3, "invalid_request_error", "The request is not valid."},
		{"a page of HTML gives the status alone", fault.Status{Code: 502, ContentType: "text/html", Body: "<html>Bad Gateway</html>"}, 3, "", ""},
		{"an empty body gives the status alone", fault.Status{Code: 500, Blank: true}, 3, "", ""},
	}
	for _, tt := range tests {
		for _, way := range []string{"stream", "in one piece"} {
			t.Run(tt.name+", "+way, func(t *testing.T) {
				header := map[string]string{"Retry-After": "0"}
				for name, value := range tt.status.Header {
					header[name] = value
				}
				tt.status.Header = header
				f, client := start(t, Program{Times: tt.attempts, Steps: []Step{tt.status}})
				var err error
				if way == "stream" {
					_, _, err = stream(context.Background(), f, client)
				} else {
					_, err = whole(client)
				}
				failed := new(anthropic.Error)
				require.True(t, errors.As(err, &failed), "%T %v", err, err)
				require.Equal(t, tt.status.Code, failed.StatusCode)
				require.Equal(t, []string{tt.kind, tt.message}, []string{string(failed.Type()), failed.Message})
				if tt.status.Code == http.StatusUnauthorized {
					require.Empty(t, failed.RequestID, "the API names none")
				} else {
					require.Regexp(t, "^req_", failed.RequestID)
				}
				require.Contains(t, failed.RawJSON(), tt.status.Body)
				require.Equal(t, []int{1, 2, 3}[:tt.attempts], f.Attempts())
			})
		}
	}
}

func TestARetryGetsTheAnswer(t *testing.T) {
	f, client := start(t,
		Program{When: When{Attempt: 1}, Steps: []Step{fault.Status{Code: 529, Header: map[string]string{"Retry-After": "0.6"}}}},
		Program{When: When{Attempt: 2}, Steps: Answer("Hi").Steps})
	got, _, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, "Hi", got.Text)
	require.Equal(t, []int{1, 2}, f.Attempts())
	require.GreaterOrEqual(t, f.Gap(), 600*time.Millisecond, "the SDK waits as it is told, in parts of a second too: its own first wait is shorter")
}
