package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	dialect "github.com/stallwright/stallwright/fakes/provider/openai"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

// extra is the reasoning in a message: no field of Chat Completions, so that the SDK hands it on as it came.
func extra(t *testing.T, fields map[string]respjson.Field) string {
	t.Helper()
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if f, ok := fields[name]; ok && f.Raw() != "null" {
			var text string
			require.NoError(t, json.Unmarshal([]byte(f.Raw()), &text))
			return text
		}
	}
	return ""
}

var used = Usage{Prompt: 9, Completion: 4, Reasoning: 2, Cached: 5}

var usage = fake.Usage{In: 9, Out: 4, Reasoning: 2, Cached: 5}

// TestAnswers plays each program twice: as a stream and in one piece the SDK hands over the same.
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
			fake.Heard{Text: "Hello \"you\"\né🙂", Finish: "stop", Usage: usage}},
		{"reasoning is handed on beside the text", dialect.Dialect{},
			[]Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "4", Thought: "Let me see", Finish: "stop", Usage: usage}},
		{"arguments in pieces are one JSON", dialect.Dialect{},
			[]Step{Tool{ID: "call_1", Name: "weather", Args: []string{`{"ci`, `ty":`, `"Oslo"}`}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo}, Finish: "tool_calls", Usage: usage}},
		{"text comes before a call", dialect.Dialect{},
			[]Step{Role{}, Text{Chunks: []string{"Let me look."}}, Tool{ID: "call_1", Name: "weather", Args: []string{`{"city":"Oslo"}`}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Text: "Let me look.", Calls: []fake.Call{oslo}, Finish: "tool_calls", Usage: usage}},
		{"parallel calls stay apart", dialect.Dialect{},
			[]Step{Role{}, Tool{ID: "call_1", Name: "weather", Args: []string{`{"city":`, `"Oslo"}`}},
				Tool{Index: 1, ID: "call_2", Name: "clock", Args: []string{`{}`}}, Tool{Index: 2, ID: "call_3", Name: "weather", Args: []string{`{"city":`, `"Rome"}`}},
				Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo, {ID: "call_2", Name: "clock", Args: `{}`}, {ID: "call_3", Name: "weather", Args: `{"city":"Rome"}`}}, Finish: "tool_calls", Usage: usage}},
		{"calls whose pieces alternate stay apart", dialect.Dialect{},
			[]Step{Role{},
				ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Is("call_1"), Type: Is("function"), Name: Is("weather"), Args: Is("")}, {Index: Is("1"), ID: Is("call_2"), Type: Is("function"), Name: Is("clock"), Args: Is("")}}},
				ToolChunk{Parts: []ToolPart{{Index: Is("0"), Args: Is(`{"city":`)}}}, ToolChunk{Parts: []ToolPart{{Index: Is("1"), Args: Is(`{`)}}},
				ToolChunk{Parts: []ToolPart{{Index: Is("0"), Args: Is(`"Oslo"}`)}, {Index: Is("1"), Args: Is(`}`)}}},
				Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo, {ID: "call_2", Name: "clock", Args: `{}`}}, Finish: "tool_calls", Usage: usage}},
		{"a refusal has its own field", dialect.Dialect{},
			[]Step{Refusal{Chunks: []string{"I'm", " sorry"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Refusal: "I'm sorry", Finish: "stop", Usage: usage}},
		{"an answer that is too long says so", dialect.Dialect{},
			[]Step{Role{}, Text{Chunks: []string{"And so"}}, Finish{Reason: "length"}, used, Done{}},
			fake.Heard{Text: "And so", Finish: "length", Usage: usage}},
		{"a call that is too long keeps its broken arguments", dialect.Dialect{},
			[]Step{Tool{ID: "call_1", Name: "weather", Args: []string{`{"ci`}}, Finish{Reason: "length"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{{ID: "call_1", Name: "weather", Args: `{"ci`}}, Finish: "length", Usage: usage}},
		{"a filtered answer says so", dialect.Dialect{},
			[]Step{Role{}, Text{Chunks: []string{"How"}}, Finish{Reason: "content_filter"}, used, Done{}},
			fake.Heard{Text: "How", Finish: "content_filter", Usage: usage}},
		{"all tokens went into hidden reasoning", dialect.Dialect{},
			[]Step{Role{}, Finish{Reason: "length"}, Usage{Prompt: 9, Completion: 5, Reasoning: 5}, Done{}},
			fake.Heard{Finish: "length", Usage: fake.Usage{In: 9, Out: 5, Reasoning: 5}}},
	}
	for _, d := range []dialect.Flavour{dialect.DeepSeek, dialect.Groq, dialect.OpenRouter} {
		steps := []Step{Ping{}, Role{}, Think{Chunks: []string{"Let me", " see"}}, Ping{}, Text{Chunks: []string{"4", "!"}}, Finish{Reason: "stop"}, used, Done{}}
		if d == dialect.Groq { // it has no ping of its own
			steps = slices.DeleteFunc(steps, func(s Step) bool { return s.Kind() == Ping{}.Kind() })
		}
		tests = append(tests, struct {
			name    string
			dialect dialect.Dialect
			steps   []Step
			want    fake.Heard
		}{string(d) + " says the same in its own way", dialect.Dialect{Flavour: d},
			steps, fake.Heard{Text: "4!", Thought: "Let me see", Finish: "stop", Usage: usage}})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := startAs(t, tt.dialect, Program{Times: 2, Steps: tt.steps})
			got, err := stream(t, context.Background(), f, client)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			got, err = whole(t, client)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			require.Equal(t, []int{1, 1}, f.Attempts())
		})
	}
}

// TestAzureOpensWithAFilter has a first chunk without choices whose id is empty. The accumulator takes the id of the
// chunk behind it.
func TestAzureOpensWithAFilter(t *testing.T) {
	f, client := startAs(t, dialect.Dialect{Flavour: dialect.Azure}, Answer("Hel", "lo"))
	got, err := stream(t, context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, fake.Heard{Text: "Hello", Finish: "stop", Usage: fake.Usage{In: 9, Out: 2}}, got)
}

func TestHeaders(t *testing.T) {
	f, client := start(t, Program{Times: 2, Steps: Answer("Hi").Steps})
	var streamed, once *http.Response
	_, err := stream(t, context.Background(), f, client, into(&streamed))
	require.NoError(t, err)
	require.Equal(t, "Bearer "+fake.Key, f.Sent("Authorization"))
	// No stream is asked for in Accept: a fake that looks there answers with the wrong kind.
	require.Equal(t, "application/json", f.Sent("Accept"))
	_, err = whole(t, client, into(&once))
	require.NoError(t, err)
	for kind, r := range map[string]*http.Response{"text/event-stream; charset=utf-8": streamed, "application/json": once} {
		require.Equal(t, kind, r.Header.Get("Content-Type"))
		require.Regexp(t, "^req_[0-9a-f]{32}$", r.Header.Get("X-Request-Id"))
		reset, err := time.ParseDuration(r.Header.Get("X-Ratelimit-Reset-Requests"))
		require.NoError(t, err)
		require.Positive(t, reset)
	}
}

func TestModels(t *testing.T) {
	_, client := startAs(t, dialect.Dialect{Models: []string{"gpt-x", "gpt-y"}})
	page, err := client.Models.List(context.Background())
	require.NoError(t, err)
	require.Len(t, page.Data, 2)
	require.Equal(t, "gpt-y", page.Data[1].ID)
	one, err := client.Models.Get(context.Background(), "gpt-y")
	require.NoError(t, err)
	require.Equal(t, "gpt-y", one.ID)
}

// TestStatuses answers every attempt with a status. The fake says Retry-After: 0 so that the SDK waits for nothing.
func TestStatuses(t *testing.T) {
	tests := []struct {
		name     string
		status   fault.Status
		attempts int
		kind     string
		code     string
		message  string
	}{
		{"a bad request is sent once", fault.Status{Code: 400}, 1, "invalid_request_error", "", "We could not parse the JSON body of your request."},
		{"a bad key is sent once", fault.Status{Code: 401}, 1, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."},
		{"a forbidden region is sent once", fault.Status{Code: 403}, 1, "request_forbidden", "unsupported_country_region_territory", "Country, region, or territory not supported"},
		{"a model that is not there is asked for once", fault.Status{Code: 404}, 1, "invalid_request_error", "model_not_found", "The model `gpt-x` does not exist or you do not have access to it."},
		{"a request that took too long is sent three times", fault.Status{Code: 408}, 3, "invalid_request_error", "", "Request Timeout"},
		{"a conflict is sent three times", fault.Status{Code: 409}, 3, "invalid_request_error", "", "Conflict"},
		{"a request that is too large is sent once", fault.Status{Code: 413}, 1, "invalid_request_error", "", "Request Entity Too Large"},
		{"a rate limit is met three times", fault.Status{Code: 429}, 3, "requests", "rate_limit_exceeded", "Rate limit reached for gpt-x on requests per min (RPM). Please try again in 1s."},
		{"a server error is met three times", fault.Status{Code: 500}, 3, "server_error", "", "The server had an error while processing your request. Sorry about that!"},
		{"an overload is met three times", fault.Status{Code: 503}, 3, "server_error", "overloaded", "The engine is currently overloaded, please try again later"},
		{"a number that is not in the standard is met three times", fault.Status{Code: 529}, 3, "server_error", "", "The server had an error while processing your request. Sorry about that!"},
		{"the server may forbid a retry", fault.Status{Code: 500, Header: map[string]string{"X-Should-Retry": "false"}}, 1, "server_error", "", "The server had an error while processing your request. Sorry about that!"},
		{"the server may ask for a retry", fault.Status{Code: 400, Header: map[string]string{"X-Should-Retry": "true"}}, 3, "invalid_request_error", "", "We could not parse the JSON body of your request."},
		{"a wait above two minutes ends the attempts", fault.Status{Code: 429, Header: map[string]string{"Retry-After": "121"}}, 1, "requests", "rate_limit_exceeded", "Rate limit reached for gpt-x on requests per min (RPM). Please try again in 1s."},
		// A body that is no JSON is not in the error: only the status is, and the response keeps the bytes.
		{"a page of HTML gives the status alone", fault.Status{Code: 502, ContentType: "text/html", Body: "<html>Bad Gateway</html>"}, 3, "", "", ""},
		{"an empty body gives the status alone", fault.Status{Code: 500, Blank: true}, 3, "", "", ""},
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
					_, err = stream(t, context.Background(), f, client)
				} else {
					_, err = whole(t, client)
				}
				failed := new(openai.Error)
				require.True(t, errors.As(err, &failed), "%T %v", err, err)
				require.Equal(t, tt.status.Code, failed.StatusCode)
				require.Equal(t, []string{tt.kind, tt.code, tt.message}, []string{failed.Type, failed.Code, failed.Message})
				require.Regexp(t, "^req_", failed.Response.Header.Get("X-Request-Id"))
				require.Equal(t, []int{1, 2, 3}[:tt.attempts], f.Attempts())
			})
		}
	}
}

func TestARetryGetsTheAnswer(t *testing.T) {
	f, client := start(t,
		Program{When: When{Attempt: 1}, Steps: []Step{fault.Status{Code: 429, Header: map[string]string{"Retry-After-Ms": "600", "Retry-After": "0"}}}},
		Program{When: When{Attempt: 2}, Steps: Answer("Hi").Steps})
	got, err := stream(t, context.Background(), f, client)
	require.NoError(t, err)
	require.Equal(t, "Hi", got.Text)
	require.Equal(t, []int{1, 2}, f.Attempts())
	require.GreaterOrEqual(t, f.Gap(), 600*time.Millisecond, "milliseconds go before seconds, and are more than the SDK's own first wait")
}

// TestATurnWithTools hands the SDK's own copy of a call back with its result. The fake is strict about both.
func TestATurnWithTools(t *testing.T) {
	f, client := start(t,
		Program{When: When{Contains: `"tools"`}, Steps: []Step{Role{}, Text{Chunks: []string{"Look."}}, Tool{ID: "call_1", Name: "weather", Args: []string{`{"city":`, `"Oslo"}`}}, Finish{Reason: "tool_calls"}, Done{}}},
		Program{When: When{Contains: `"tool_call_id":"call_1"`}, Steps: Answer("It rains.").Steps})
	q := question()
	q.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "weather", Parameters: shared.FunctionParameters{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
	})}
	s := client.Chat.Completions.NewStreaming(context.Background(), q)
	defer s.Close()
	var acc openai.ChatCompletionAccumulator
	finished := 0
	for s.Next() {
		require.True(t, acc.AddChunk(s.Current()))
		if call, ok := acc.JustFinishedToolCall(); ok {
			finished++
			require.Equal(t, `{"city":"Oslo"}`, call.Arguments)
		}
	}
	require.NoError(t, s.Err())
	require.Equal(t, 1, finished)
	q.Messages = append(q.Messages, acc.Choices[0].Message.ToParam(), openai.ToolMessage("rain", "call_1"))
	c, err := client.Chat.Completions.New(context.Background(), q)
	require.NoError(t, err)
	require.Equal(t, "It rains.", c.Choices[0].Message.Content)
	require.Len(t, f.Attempts(), 2)
}

func TestNoRetryIsANumberOfTheClient(t *testing.T) {
	f, client := start(t, Program{Steps: []Step{fault.Status{Code: 500}}})
	_, err := whole(t, client, option.WithMaxRetries(0))
	require.Error(t, err)
	require.Equal(t, []int{1}, f.Attempts())
}
