package gemini_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/stallwright/stallwright/fakes/fault"
	. "github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

var used = Usage{Prompt: 9, Completion: 4, Reasoning: 2, Cached: 5}

// usage is what comes of it: the API counts thoughts beside the answer, not in it.
var usage = fake.Usage{In: 9, Out: 2, Reasoning: 2, Cached: 5}

// signature is the one that the fake sends, out of its base64.
const signature = "stallwright"

// TestAnswers plays each program twice: as a stream and in one piece the SDK hands over the same.
func TestAnswers(t *testing.T) {
	oslo := fake.Call{ID: "call_1", Name: "weather", Args: `{"city":"Oslo"}`}
	tests := []struct {
		name   string
		config *genai.GenerateContentConfig
		steps  []Step
		want   fake.Heard
		block  string
	}{
		{"text in pieces is one text", nil,
			[]Step{Role{}, Text{Chunks: []string{"Hel", "lo \"you\"\n", "é🙂 <&>"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "Hello \"you\"\né🙂 <&>", Finish: "STOP", Usage: usage}, ""},
		{"thoughts that were asked for are parts of their own", thoughts,
			[]Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "4", Thought: "Let me see", Finish: "STOP", Usage: usage}, ""},
		{"thoughts that were not asked for are only counted", nil,
			[]Step{Role{}, Think{Chunks: []string{"Let me", " see"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "4", Finish: "STOP", Usage: usage}, ""},
		{"a call comes whole, with a signature", nil,
			[]Step{Role{}, Tool{ID: "call_1", Name: "weather", Args: []string{`{"ci`, `ty":`, `"Oslo"}`}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo}, Signature: signature, Finish: "STOP", Usage: usage}, ""},
		{"a call needs no id", nil,
			[]Step{ToolChunk{Parts: []ToolPart{{Name: Is("weather"), Args: Is(`{"city":"Oslo"}`)}}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{{Name: "weather", Args: `{"city":"Oslo"}`}}, Signature: signature, Finish: "STOP", Usage: usage}, ""},
		{"parallel calls share a chunk, and only the first is signed", nil,
			[]Step{Text{Chunks: []string{"Look."}}, ToolChunk{Parts: []ToolPart{{ID: Is("call_1"), Name: Is("weather"), Args: Is(`{"city":"Oslo"}`)}, {ID: Is("call_2"), Name: Is("clock"), Args: Is(`{}`)}}},
				Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Text: "Look.", Calls: []fake.Call{oslo, {ID: "call_2", Name: "clock", Args: `{}`}}, Signature: signature, Finish: "STOP", Usage: usage}, ""},
		{"parallel calls may come one by one", nil,
			[]Step{Tool{ID: "call_1", Name: "weather", Args: []string{`{"city":"Oslo"}`}}, Tool{Index: 1, ID: "call_2", Name: "weather", Args: []string{`{"city":"Rome"}`}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Calls: []fake.Call{oslo, {ID: "call_2", Name: "weather", Args: `{"city":"Rome"}`}}, Signature: signature, Finish: "STOP", Usage: usage}, ""},
		{"a call that is no JSON is named in the reason", nil,
			[]Step{Tool{ID: "call_1", Name: "weather", Args: []string{`{"ci`}}, Finish{Reason: "tool_calls"}, used, Done{}},
			fake.Heard{Finish: "MALFORMED_FUNCTION_CALL", Usage: usage}, ""},
		{"a refusal is text", nil,
			[]Step{Refusal{Chunks: []string{"I'm", " sorry"}}, Finish{Reason: "stop"}, used, Done{}},
			fake.Heard{Text: "I'm sorry", Finish: "STOP", Usage: usage}, ""},
		{"an answer that is too long says so", nil,
			[]Step{Text{Chunks: []string{"And so"}}, Finish{Reason: "length"}, used, Done{}},
			fake.Heard{Text: "And so", Finish: "MAX_TOKENS", Usage: usage}, ""},
		{"an answer that is filtered says so", nil,
			[]Step{Text{Chunks: []string{"How"}}, Finish{Reason: "content_filter"}, used, Done{}},
			fake.Heard{Text: "How", Finish: "SAFETY", Usage: usage}, ""},
		{"a prompt that is filtered has no answer", nil,
			[]Step{Finish{Reason: "content_filter"}, used, Done{}},
			fake.Heard{Usage: usage}, "SAFETY"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, client := start(t, Program{Times: 2, Steps: tt.steps})
			streamed, errs := stream(t, context.Background(), f, client, tt.config)
			require.Empty(t, errs)
			once, err := whole(t, client, tt.config)
			require.NoError(t, err)
			for _, got := range []answer{streamed, once} {
				if len(tt.want.Calls) == 0 {
					got.Signature = "" // with thoughts alone it comes at the end of a stream: TestSignatureOfThoughts
				}
				require.Equal(t, tt.want, got.Heard)
				require.Equal(t, tt.block, got.block)
				require.Len(t, got.ids, 1, "one id in all chunks")
			}
			require.Equal(t, []int{0, 0}, f.Attempts(), "the SDK does not number them")
		})
	}
}

// TestATurnWithTools hands the SDK's own copy of a signed call back with the result. The fake is strict about both.
func TestATurnWithTools(t *testing.T) {
	f, client := start(t,
		Program{When: When{Ordinal: 1}, Steps: []Step{Tool{ID: "call_1", Name: "weather", Args: []string{`{"city":"Oslo"}`}}, Finish{Reason: "tool_calls"}, Done{}}},
		Program{When: When{Contains: `"functionResponse"`}, Steps: Answer("It rains.").Steps})
	chat, err := client.Chats.Create(context.Background(), "gemini-x", &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
		Name: "weather", ParametersJsonSchema: map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
	}}}}}, nil)
	require.NoError(t, err)
	first, err := chat.SendMessage(context.Background(), genai.Part{Text: "What is the weather in Oslo?"})
	require.NoError(t, err)
	require.Len(t, first.FunctionCalls(), 1)
	call := first.FunctionCalls()[0]
	second, err := chat.SendMessage(context.Background(), genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: map[string]any{"output": "rain"}}})
	require.NoError(t, err)
	require.Equal(t, "It rains.", second.Text())
	require.Len(t, f.Attempts(), 2)
}

func TestSignatureOfThoughts(t *testing.T) {
	f, client := start(t, Program{Steps: []Step{Think{Chunks: []string{"Hm"}}, Text{Chunks: []string{"4"}}, Finish{Reason: "stop"}, Done{}}})
	got, errs := stream(t, context.Background(), f, client, thoughts)
	require.Empty(t, errs)
	require.Equal(t, signature, got.Signature)
}

func TestHeaders(t *testing.T) {
	f, client := start(t, Program{Times: 2, Steps: Answer("Hi").Steps})
	for r, err := range client.Models.GenerateContentStream(context.Background(), "gemini-x", genai.Text("hi"), nil) {
		require.NoError(t, err)
		require.Equal(t, "text/event-stream", r.SDKHTTPResponse.Headers.Get("Content-Type"))
		require.Equal(t, "gemini-x", r.ModelVersion)
	}
	require.Equal(t, fake.Key, f.Sent("X-Goog-Api-Key"))
	require.Contains(t, f.Sent("X-Goog-Api-Client"), "google-genai-sdk/")
	require.Empty(t, f.Sent("Accept"))
	r, err := client.Models.GenerateContent(context.Background(), "gemini-x", genai.Text("hi"), nil)
	require.NoError(t, err)
	require.Equal(t, "application/json; charset=UTF-8", r.SDKHTTPResponse.Headers.Get("Content-Type"))
	require.Regexp(t, "^gfet4t7; dur=", r.SDKHTTPResponse.Headers.Get("Server-Timing"))
}

func TestOtherRequests(t *testing.T) {
	_, client := start(t)
	n, err := client.Models.CountTokens(context.Background(), "gemini-x", genai.Text("hi"), nil)
	require.NoError(t, err)
	require.Positive(t, n.TotalTokens)
	page, err := client.Models.List(context.Background(), nil)
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Equal(t, "models/gemini-x", page.Items[0].Name)
}

// TestStatuses: the SDK sends nothing again unless it is asked to.
func TestStatuses(t *testing.T) {
	tests := []struct {
		name    string
		status  fault.Status
		word    string
		message string
	}{
		{"a bad request", fault.Status{Code: 400}, "INVALID_ARGUMENT", "Request contains an invalid argument."},
		{"a bad key", fault.Status{Code: 401}, "UNAUTHENTICATED", "Request had invalid authentication credentials."},
		{"what is forbidden", fault.Status{Code: 403}, "PERMISSION_DENIED", "The caller does not have permission."},
		{"a model that is not there", fault.Status{Code: 404}, "NOT_FOUND", "models/gemini-x is not found for API version v1beta, or is not supported for generateContent."},
		{"a rate limit", fault.Status{Code: 429}, "RESOURCE_EXHAUSTED", "You exceeded your current quota. Please retry in 1s."},
		{"an error that keeps the type of the stream", fault.Status{Code: 429, ContentType: "text/event-stream"}, "RESOURCE_EXHAUSTED", "You exceeded your current quota. Please retry in 1s."},
		{"a server error", fault.Status{Code: 500}, "INTERNAL", "An internal error has occurred."},
		{"an overload", fault.Status{Code: 503}, "UNAVAILABLE", "The model is overloaded. Please try again later."},
		{"a deadline of the server", fault.Status{Code: 504}, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."},
		{"a page of HTML", fault.Status{Code: 502, ContentType: "text/html", Body: "<html>"}, "502 Bad Gateway", "<html>"},
		{"an empty body", fault.Status{Code: 500, Blank: true}, "500 Internal Server Error", ""},
	}
	for _, tt := range tests {
		for _, way := range []string{"stream", "in one piece"} {
			t.Run(tt.name+", "+way, func(t *testing.T) {
				f, client := start(t, Program{Steps: []Step{tt.status}})
				var err error
				if way == "stream" {
					_, errs := stream(t, context.Background(), f, client, nil)
					require.Len(t, errs, 1)
					err = errs[0]
				} else {
					_, err = whole(t, client, nil)
				}
				var failed genai.APIError
				require.True(t, errors.As(err, &failed), "%T %v", err, err)
				require.Equal(t, []any{tt.status.Code, tt.word, tt.message}, []any{failed.Code, failed.Status, failed.Message})
				if tt.status.Code == 429 {
					require.Equal(t, "1s", failed.Details[1]["retryDelay"])
				}
				require.Equal(t, []int{0}, f.Attempts())
			})
		}
	}
}
