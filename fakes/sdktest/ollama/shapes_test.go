package ollama_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

var used = Usage{Prompt: 9, Completion: 4, Reasoning: 2}

var usage = fake.Usage{In: 9, Out: 4} // reasoning is not counted apart

// TestAnswers plays each program twice: as a stream and in one piece the SDK hands over the same.
func TestAnswers(t *testing.T) {
	oslo := fake.Call{ID: "call_1", Name: "weather", Args: `{"city":"Oslo"}`}
	tests := []struct {
		name  string
		steps []Step
		want  fake.Heard
	}{
		{"text in pieces is one text",
			[]Step{Role{}, Text{Chunks: []string{"Hel", "lo \"you\"\n", "é🙂 <&>"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "Hello \"you\"\né🙂 <&>", Finish: "stop", Usage: usage}},
		{"thinking has its own field",
			[]Step{Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "4", Thought: "Let me see", Finish: "stop", Usage: usage}},
		{"a call comes whole",
			[]Step{Tool{ID: "call_1", Name: "weather", Args: []string{`{"ci`, `ty":`, `"Oslo"}`}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo}, Finish: "stop", Usage: usage}},
		{"parallel calls come one by one, behind thoughts and text",
			[]Step{Think{Chunks: []string{"Hm"}}, Text{Chunks: []string{"Look."}}, Tool{ID: "call_1", Name: "weather", Args: []string{`{"city":`, `"Oslo"}`}},
				Tool{Index: 1, ID: "call_2", Name: "clock"}, Tool{Index: 2, ID: "call_3", Name: "weather", Args: []string{`{"b":1,"a":[2]}`}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Text: "Look.", Thought: "Hm", Calls: []fake.Call{oslo, {ID: "call_2", Name: "clock", Args: `{}`}, {ID: "call_3", Name: "weather", Args: `{"b":1,"a":[2]}`}}, Finish: "stop", Usage: usage}},
		{"parallel calls may share a line",
			[]Step{ToolChunk{Parts: []ToolPart{{Index: Is("0"), ID: Is("call_1"), Name: Is("weather"), Args: Is(`{"city":"Oslo"}`)}, {Index: Is("1"), ID: Is("call_2"), Name: Is("clock"), Args: Is(`{}`)}}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo, {ID: "call_2", Name: "clock", Args: `{}`}}, Finish: "stop", Usage: usage}},
		{"a refusal is text",
			[]Step{Refusal{Chunks: []string{"I'm", " sorry"}}, Finish{Reason: "refusal"}, used, Done{}},
			fake.Heard{Text: "I'm sorry", Finish: "stop", Usage: usage}},
		{"an answer that is too long says so",
			[]Step{Text{Chunks: []string{"And so"}}, Finish{Reason: "length"}, used, Done{}},
			fake.Heard{Text: "And so", Finish: "length", Usage: usage}},
		{"a model that was only loaded says nothing",
			[]Step{Finish{Reason: "load"}, Done{}},
			fake.Heard{Finish: "load"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Times: 2, Steps: tt.steps})
			for _, q := range []*api.ChatRequest{question(), inOnePiece()} {
				got, err := ask(t, context.Background(), f, client, q)
				require.NoError(t, err)
				require.Equal(t, tt.want, got.Heard)
				require.True(t, got.done)
				require.Equal(t, "assistant", got.last.Message.Role)
				require.Equal(t, "model-x", got.last.Model)
				require.WithinDuration(t, time.Now(), got.last.CreatedAt, time.Minute)
			}
			require.Equal(t, []int{0, 0}, f.Attempts(), "the SDK does not number them")
		})
	}
}

func TestThinkingThatWasRefusedIsNotSent(t *testing.T) {
	f, client := start(t, Program{Steps: []Step{Think{Chunks: []string{"Hm"}}, Text{Chunks: []string{"4"}}, Done{}}})
	q := question()
	q.Think = &api.ThinkValue{Value: false}
	got, err := ask(t, context.Background(), f, client, q)
	require.NoError(t, err)
	require.Equal(t, fake.Heard{Text: "4"}, got.Heard)
}

// TestATurnWithTools hands the SDK's own copy of a call back with the result.
func TestATurnWithTools(t *testing.T) {
	f, client := start(t,
		Program{When: When{Contains: `"tools"`}, Steps: []Step{Tool{ID: "call_1", Name: "weather", Args: []string{`{"city":"Oslo"}`}}, Finish{Reason: "tool_calls"}, Done{}}},
		Program{When: When{Contains: `"tool_call_id":"call_1"`}, Steps: Answer("It rains.").Steps})
	q := inOnePiece()
	q.Tools = api.Tools{{Type: "function", Function: api.ToolFunction{Name: "weather", Parameters: api.ToolFunctionParameters{Type: "object"}}}}
	first, err := ask(t, context.Background(), f, client, q)
	require.NoError(t, err)
	require.Len(t, first.Calls, 1)
	q.Messages = append(q.Messages, first.last.Message, api.Message{Role: "tool", Content: "rain", ToolName: "weather", ToolCallID: first.Calls[0].ID})
	second, err := ask(t, context.Background(), f, client, q)
	require.NoError(t, err)
	require.Equal(t, "It rains.", second.Text)
	require.Len(t, f.Attempts(), 2)
}

func TestDurationsAddUp(t *testing.T) {
	f, client := start(t, Answer("Hi"))
	got, err := ask(t, context.Background(), f, client, question())
	require.NoError(t, err)
	m := got.last.Metrics
	require.Positive(t, m.EvalDuration)
	require.Equal(t, m.TotalDuration, m.LoadDuration+m.PromptEvalDuration+m.EvalDuration)
}

func TestHeaders(t *testing.T) {
	f, client := start(t, Program{Times: 2, Steps: Answer("Hi").Steps})
	_, err := ask(t, context.Background(), f, client, question())
	require.NoError(t, err)
	require.Equal(t, "application/x-ndjson", f.Sent("Accept"))
	require.Equal(t, "application/x-ndjson", f.Got("Content-Type"))
	_, err = ask(t, context.Background(), f, client, inOnePiece())
	require.NoError(t, err)
	require.Equal(t, "application/x-ndjson", f.Sent("Accept"), "the SDK says so for an answer in one piece too")
	require.Equal(t, "application/json; charset=utf-8", f.Got("Content-Type"))
}

func TestGenerate(t *testing.T) {
	_, client := start(t, Program{Times: 2, Steps: []Step{Think{Chunks: []string{"Hm"}}, Text{Chunks: []string{"Hel", "lo"}}, Finish{Reason: "stop"}, used, Done{}}})
	for _, stream := range []*bool{nil, new(bool)} {
		var text, thought string
		var last api.GenerateResponse
		err := client.Generate(context.Background(), &api.GenerateRequest{Model: "model-x", Prompt: "hi", Stream: stream}, func(r api.GenerateResponse) error {
			text, thought, last = text+r.Response, thought+r.Thinking, r
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, []any{"Hello", "Hm", true, "stop", 9, 4}, []any{text, thought, last.Done, last.DoneReason, last.PromptEvalCount, last.EvalCount})
	}
}

func TestOtherRequests(t *testing.T) {
	_, client := start(t)
	list, err := client.List(context.Background())
	require.NoError(t, err)
	require.Len(t, list.Models, 1)
	require.Equal(t, "model-x:latest", list.Models[0].Name)
	require.False(t, list.Models[0].ModifiedAt.IsZero())
	version, err := client.Version(context.Background())
	require.NoError(t, err)
	require.Equal(t, "0.17.4", version)
}

// TestStatuses: the SDK sends nothing again.
func TestStatuses(t *testing.T) {
	tests := []struct {
		name   string
		status fault.Status
		text   string
	}{
		{"a bad request", fault.Status{Code: 400}, "400 Bad Request: invalid request"},
		{"what is forbidden", fault.Status{Code: 403}, "403 Forbidden: forbidden"},
		{"a model that is not there", fault.Status{Code: 404}, "404 Not Found: model 'model-x' not found"},
		{"a limit", fault.Status{Code: 429, Header: map[string]string{"Retry-After": "0"}}, "429 Too Many Requests: you have reached your usage limit"},
		{"a server error", fault.Status{Code: 500}, "500 Internal Server Error: internal server error"},
		{"a full queue", fault.Status{Code: 503}, "503 Service Unavailable: server busy, please try again.  maximum pending requests exceeded"},
		{"a line that is no JSON", fault.Status{Code: 502, ContentType: "text/html", Body: "<html>\nBad Gateway"}, "502 Bad Gateway: <html>"},
	}
	for _, tt := range tests {
		for way, q := range map[string]*api.ChatRequest{"stream": question(), "in one piece": inOnePiece()} {
			t.Run(tt.name+", "+way, func(t *testing.T) {
				f, client := start(t, Program{Steps: []Step{tt.status}})
				_, err := ask(t, context.Background(), f, client, q)
				var failed api.StatusError
				require.True(t, errors.As(err, &failed), "%T %v", err, err)
				require.Equal(t, tt.status.Code, failed.StatusCode)
				require.EqualError(t, err, tt.text)
				require.Equal(t, []int{0}, f.Attempts())
			})
		}
	}
}

func TestABadKeySaysWhereToSignIn(t *testing.T) {
	f, client := start(t, Program{Steps: []Step{fault.Status{Code: 401}}})
	_, err := ask(t, context.Background(), f, client, question())
	var failed api.AuthorizationError
	require.True(t, errors.As(err, &failed), "%T %v", err, err)
	require.Equal(t, 401, failed.StatusCode)
	require.Regexp(t, "^https://", failed.SigninURL)
}

// TestAnEmptyErrorGoesUnseen: the SDK reads lines, and looks at the status only behind one.
func TestAnEmptyErrorGoesUnseen(t *testing.T) {
	f, client := start(t, Program{Steps: []Step{fault.Status{Code: 500, Blank: true}}})
	got, err := ask(t, context.Background(), f, client, question())
	require.NoError(t, err)
	require.False(t, got.done)
}
