package dialects_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/dialects"
	"github.com/stallwright/stallwright/fakes/provider"
)

// What a request tells the model of tools is read in each dialect: only what stands behind its last answer.
func TestResultsOfTools(t *testing.T) {
	two := []provider.Result{{ID: "b", Text: "two"}, {ID: "c", Text: "three"}}
	oneFailed := []provider.Result{{ID: "b", Text: "two", Failed: true}, {ID: "c", Text: "three"}}
	for _, tc := range []struct {
		name, path, body string
		want             []provider.Result
	}{
		{"Chat Completions", "/v1/chat/completions", `{"messages":[{"role":"user","content":"q"},{"role":"assistant"},{"role":"tool","tool_call_id":"a","content":"one"},{"role":"assistant"},
			{"role":"tool","tool_call_id":"b","content":"two"},{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"thr"},{"type":"text","text":"ee"}]}]}`, two},
		{"Chat Completions without any", "/v1/chat/completions", `{"messages":[{"role":"user","content":"q"}]}`, nil},
		{"Responses", "/v1/responses", `{"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"a"},{"type":"function_call_output","call_id":"a","output":"one"},{"type":"function_call","call_id":"b"},
			{"type":"function_call_output","call_id":"b","output":"two"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"three"}]}]}`, two},
		{"Messages", "/v1/messages", `{"max_tokens":1,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"one"}]},{"role":"assistant","content":[]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"two"},{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"three"}]}]}]}`, two},
		{"Gemini", "/v1beta/models/m:streamGenerateContent", `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[]},
			{"role":"user","parts":[{"functionResponse":{"id":"b","name":"f","response":{"result":"two"}}},{"functionResponse":{"name":"g","response":{"result":"three"}}}]}]}`,
			[]provider.Result{{ID: "b", Text: `{"result":"two"}`}, {ID: "g", Text: `{"result":"three"}`}}},
		{"Ollama", "/api/chat", `{"model":"m","messages":[{"role":"assistant","content":""},{"role":"tool","tool_call_id":"b","content":"two"},{"role":"tool","tool_name":"c","content":"three"}]}`, two},
		{"Bedrock", "/model/m/converse-stream", `{"messages":[{"role":"assistant","content":[]},{"role":"user","content":[{"toolResult":{"toolUseId":"b","content":[{"text":"two"}]}},{"toolResult":{"toolUseId":"c","content":[{"text":"three"}]}}]}]}`, two},
		{"a failure of Messages", "/v1/messages", `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"two","is_error":true},
			{"type":"tool_result","tool_use_id":"c","content":"three","is_error":false}]}]}`, oneFailed},
		{"a failure of Bedrock", "/model/m/converse-stream", `{"messages":[{"role":"user","content":[{"toolResult":{"toolUseId":"b","status":"error","content":[{"text":"two"}]}},
			{"toolResult":{"toolUseId":"c","status":"success","content":[{"text":"three"}]}}]}]}`, oneFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, d := range dialects.All() {
				if req, answer := d.Recognise(httptest.NewRequest("POST", tc.path, nil), []byte(tc.body)); answer != nil {
					require.Equal(t, tc.want, req.Results)
					return
				}
			}
			t.Fatal("no dialect knows it")
		})
	}
}
