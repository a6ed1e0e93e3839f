package responses_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	dialect "github.com/stallwright/stallwright/fakes/provider/responses"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

var used = Usage{Prompt: 9, Completion: 4, Reasoning: 2, Cached: 5}

var usage = fake.Usage{In: 9, Out: 4, Reasoning: 2, Cached: 5}

// TestAnswers plays each program twice: the deltas of a stream, the response at its end, and the answer in one piece
// say the same.
func TestAnswers(t *testing.T) {
	oslo := fake.Call{ID: "call_1", Name: "weather", Args: `{"city":"Oslo"}`}
	tests := []struct {
		name    string
		dialect dialect.Dialect
		steps   []Step
		want    fake.Heard
	}{
		{"text in pieces is one text", dialect.Dialect{},
			[]Step{Role{}, Text{Chunks: []string{"Hel", "lo \"you\"\n", "é🙂"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "Hello \"you\"\né🙂", Finish: "completed", Usage: usage}},
		{"a summary of reasoning is an item of its own", dialect.Dialect{},
			[]Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "4", Thought: "Let me see", Finish: "completed", Usage: usage}},
		{"reasoning of an open model is an item of its own", dialect.Dialect{ReasoningText: true},
			[]Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "4", Thought: "Let me see", Finish: "completed", Usage: usage}},
		{"hidden reasoning says nothing", dialect.Dialect{},
			[]Step{Role{}, Think{Chunks: []string{""}}, Ping{}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "4", Finish: "completed", Usage: usage}},
		{"arguments in pieces are one JSON", dialect.Dialect{},
			[]Step{Tool{ID: "call_1", Name: "weather", Args: []string{`{"ci`, `ty":`, `"Oslo"}`}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo}, Finish: "completed", Usage: usage}},
		{"parallel calls stay apart", dialect.Dialect{},
			[]Step{Role{}, Text{Chunks: []string{"Look."}}, Tool{ID: "call_1", Name: "weather", Args: []string{`{"city":`, `"Oslo"}`}},
				Tool{Index: 1, ID: "call_2", Name: "clock", Args: []string{`{}`}}, Tool{Index: 2, ID: "call_3", Name: "weather", Args: []string{`{"city":`, `"Rome"}`}},
				Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Text: "Look.", Calls: []fake.Call{oslo, {ID: "call_2", Name: "clock", Args: `{}`}, {ID: "call_3", Name: "weather", Args: `{"city":"Rome"}`}}, Finish: "completed", Usage: usage}},
		{"a refusal is a part of its own", dialect.Dialect{},
			[]Step{Refusal{Chunks: []string{"I'm", " sorry"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Refusal: "I'm sorry", Finish: "completed", Usage: usage}},
		{"an answer that is too long is incomplete", dialect.Dialect{},
			[]Step{Role{}, Text{Chunks: []string{"And so"}}, Finish{Reason: "length"}, used, Done{}},
			fake.Heard{Text: "And so", Finish: "incomplete max_output_tokens", Usage: usage}},
		{"a call that is too long keeps its broken arguments", dialect.Dialect{},
			[]Step{Tool{ID: "call_1", Name: "weather", Args: []string{`{"ci`}}, Finish{Reason: "length"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{{ID: "call_1", Name: "weather", Args: `{"ci`}}, Finish: "incomplete max_output_tokens", Usage: usage}},
		{"a filtered answer is incomplete", dialect.Dialect{},
			[]Step{Role{}, Text{Chunks: []string{"How"}}, Finish{Reason: "content_filter"}, used, Done{}},
			fake.Heard{Text: "How", Finish: "incomplete content_filter", Usage: usage}},
		{"a failed answer has failed", dialect.Dialect{},
			[]Step{Role{}, Text{Chunks: []string{"How"}}, Finish{Reason: "error"}, used, Done{}},
			fake.Heard{Text: "How", Finish: "failed", Usage: usage}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := startAs(t, tt.dialect, Program{Times: 2, Steps: tt.steps})
			got, err := stream(context.Background(), f, client)
			require.NoError(t, err)
			require.Equal(t, tt.want, heard(got.last))
			said := tt.want
			said.Finish, said.Usage = "", fake.Usage{}
			require.Equal(t, said, got.deltas)
			require.Equal(t, []string{"response.created", "response.in_progress"}, got.kinds[:2])
			for i, n := range got.seqs {
				require.Equal(t, int64(i), n, "events are numbered from 0")
			}
			once, err := whole(client)
			require.NoError(t, err)
			require.Equal(t, tt.want, once)
			require.Equal(t, []int{1, 1}, f.Attempts())
		})
	}
}

// TestTheSDKsOwnAccumulator is strict about the order of events, their ids and indices. It is made for the events of
// a WebSocket, which are the same.
func TestTheSDKsOwnAccumulator(t *testing.T) {
	_, client := start(t, Program{Steps: []Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"Hel", "lo"}},
		Tool{ID: "call_1", Name: "weather", Args: []string{`{"city":`, `"Oslo"}`}}, Refusal{Chunks: []string{"No", "!"}}, Finish{Reason: "tool_calls"}, used, Done{}}})
	s := client.Responses.NewStreaming(context.Background(), question())
	defer s.Close()
	var acc responses.ResponseAccumulator
	for s.Next() {
		var e responses.ResponsesServerEventUnion
		require.NoError(t, json.Unmarshal([]byte(s.Current().RawJSON()), &e))
		require.NoError(t, acc.AddEvent(e), s.Current().RawJSON())
		if s.Current().Type == "response.completed" {
			continue
		}
		_, err := acc.ReconstructedResponse()
		require.EqualError(t, err, "responses accumulator: no terminal response collected", "no protocol error")
	}
	require.NoError(t, s.Err())
	got, err := acc.ReconstructedResponse()
	require.NoError(t, err)
	require.Equal(t, fake.Heard{Text: "Hello", Thought: "Let me see", Refusal: "No!", Calls: []fake.Call{{ID: "call_1", Name: "weather", Args: `{"city":"Oslo"}`}},
		Finish: "completed", Usage: usage}, heard(*got))
	snapshot := acc.Snapshot()
	require.Equal(t, "response.completed", snapshot.TerminalEvent)
	require.Len(t, snapshot.Output, 4)
	require.Equal(t, map[int64]string{0: "Hello"}, snapshot.Output[1].Text)
	require.Equal(t, `{"city":"Oslo"}`, snapshot.Output[2].Arguments)
}

// TestATurnWithTools hands a call back with its output. The fake is strict about both.
func TestATurnWithTools(t *testing.T) {
	f, client := start(t,
		Program{When: When{Contains: `"tools"`}, Steps: []Step{Role{}, Tool{ID: "call_1", Name: "weather", Args: []string{`{"city":`, `"Oslo"}`}}, Finish{Reason: "tool_calls"}, Done{}}},
		Program{When: When{Contains: `"function_call_output"`}, Steps: Answer("It rains.").Steps})
	q := question()
	q.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("weather", map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}, true)}
	first, err := client.Responses.New(context.Background(), q)
	require.NoError(t, err)
	call := first.Output[0].AsFunctionCall()
	q.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage("What is the weather in Oslo?", responses.EasyInputMessageRoleUser),
		responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.CallID, call.Name),
		responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
			CallID: openai.String(call.CallID), Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String("rain")},
		}},
	}}
	second, err := client.Responses.New(context.Background(), q)
	require.NoError(t, err)
	require.Equal(t, "It rains.", second.OutputText())
	require.Len(t, f.Attempts(), 2)
}

func TestHeadersAndIDs(t *testing.T) {
	f, client := start(t, Program{Steps: Answer("Hi").Steps})
	var r *http.Response
	got, err := stream(context.Background(), f, client, option.WithResponseInto(&r))
	require.NoError(t, err)
	require.Equal(t, "text/event-stream; charset=utf-8", r.Header.Get("Content-Type"))
	require.Regexp(t, "^req_[0-9a-f]{32}$", r.Header.Get("X-Request-Id"))
	require.Equal(t, "Bearer "+fake.Key, f.Sent("Authorization"))
	require.Regexp(t, "^resp_", got.last.ID)
	require.Equal(t, "gpt-x", string(got.last.Model))
	require.Positive(t, got.last.CreatedAt)
	require.Regexp(t, "^msg_", got.last.Output[0].ID)
}

func TestCountingTokens(t *testing.T) {
	_, client := start(t)
	n, err := client.Responses.InputTokens.Count(context.Background(), responses.InputTokenCountParams{
		Model: openai.String("gpt-x"), Input: responses.InputTokenCountParamsInputUnion{OfString: openai.String("12345678")},
	})
	require.NoError(t, err)
	require.Positive(t, n.InputTokens)
}

func TestStatuses(t *testing.T) {
	tests := []struct {
		name     string
		status   fault.Status
		attempts int
		kind     string
		code     string
	}{
		{"a bad request is sent once", fault.Status{Code: 400}, 1, "invalid_request_error", ""},
		{"a bad key is sent once", fault.Status{Code: 401}, 1, "invalid_request_error", "invalid_api_key"},
		{"an error need not be said to be JSON", fault.Status{Code: 401, ContentType: "text/plain; charset=utf-8"}, 1, "invalid_request_error", "invalid_api_key"},
		{"a model that is not there is asked for once", fault.Status{Code: 404}, 1, "invalid_request_error", "model_not_found"},
		{"a rate limit is met three times", fault.Status{Code: 429}, 3, "requests", "rate_limit_exceeded"},
		{"a server error is met three times", fault.Status{Code: 500}, 3, "server_error", ""},
		{"an overload is met three times", fault.Status{Code: 503}, 3, "server_error", "overloaded"},
	}
	for _, tt := range tests {
		for _, way := range []string{"stream", "in one piece"} {
			t.Run(tt.name+", "+way, func(t *testing.T) {
				tt.status.Header = map[string]string{"Retry-After": "0"}
				f, client := start(t, Program{Times: tt.attempts, Steps: []Step{tt.status}})
				var err error
				if way == "stream" {
					_, err = stream(context.Background(), f, client)
				} else {
					_, err = whole(client)
				}
				failed := new(openai.Error)
				require.True(t, errors.As(err, &failed), "%T %v", err, err)
				require.Equal(t, tt.status.Code, failed.StatusCode)
				require.Equal(t, []string{tt.kind, tt.code}, []string{failed.Type, failed.Code})
				require.NotEmpty(t, failed.Message)
				require.Regexp(t, "^req_", failed.Response.Header.Get("X-Request-Id"))
				require.Equal(t, []int{1, 2, 3}[:tt.attempts], f.Attempts())
			})
		}
	}
}

func TestItemsBeginAndEnd(t *testing.T) {
	f, client := start(t, Program{Steps: []Step{Role{}, Text{Chunks: []string{"a"}}, Tool{ID: "call_1", Name: "f", Args: []string{"{}"}}, Finish{Reason: "tool_calls"}, Done{}}})
	got, err := stream(context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, []string{
		"response.created", "response.in_progress",
		"response.output_item.added", "response.content_part.added", "response.output_text.delta",
		"response.output_text.done", "response.content_part.done", "response.output_item.done",
		"response.output_item.added", "response.function_call_arguments.delta", "response.function_call_arguments.done", "response.output_item.done",
		"response.completed",
	}, got.kinds)
	require.True(t, slices.IsSorted(got.seqs))
}
