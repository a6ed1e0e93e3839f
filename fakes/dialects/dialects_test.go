package dialects_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/dialects"
)

// google stands for a request with the headers of Google's clients.
const google = "google"

func TestEachRequestHasOneDialect(t *testing.T) {
	for _, tc := range []struct{ name, method, path, body, want string }{
		{"Google's clients ask for their models under /v1", "GET", "/v1/models", google, "gemini"},
		{"Chat Completions", "POST", "/v1/chat/completions", `{"model":"m","stream":true}`, "openai"},
		{"a flavour of it has its name in the path", "POST", "/deepseek/v1/chat/completions", `{"model":"m"}`, "deepseek"},
		{"the path of OpenRouter itself is no flavour's", "POST", "/api/v1/chat/completions", `{"model":"m"}`, "openai"},
		{"Azure's deployments stand behind its name", "POST", "/azure/openai/deployments/m/chat/completions", `{}`, "azure"},
		{"Responses", "POST", "/v1/responses", `{"model":"m"}`, "responses"},
		{"Messages", "POST", "/v1/messages", `{"model":"m","max_tokens":9,"messages":[]}`, "anthropic"},
		{"Gemini has the model in the path", "POST", "/v1beta/models/m:streamGenerateContent", `{}`, "gemini"},
		{"Gemini's models are not taken for OpenAI's", "GET", "/v1beta/models", ``, "gemini"},
		{"OpenAI's models, which both of its dialects list", "GET", "/v1/models", ``, "responses"},
		{"a flavour's models", "GET", "/groq/v1/models", ``, "groq"},
		{"Ollama", "POST", "/api/chat", `{"model":"m"}`, "ollama"},
		{"Bedrock", "POST", "/model/m/converse-stream", `{}`, "bedrock"},
		{"none", "POST", "/v1/other", `{}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			for _, d := range dialects.All() {
				r := httptest.NewRequest(tc.method, tc.path, nil)
				if tc.body == google {
					r.Header.Set("X-Goog-Api-Key", "k")
				}
				if req, answer := d.Recognise(r, []byte(tc.body)); answer != nil || req.Fixed != nil {
					got = d.Name()
					break
				}
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestNames(t *testing.T) {
	var all []string
	for _, d := range dialects.All() {
		all = append(all, d.Name())
	}
	require.ElementsMatch(t, all, append(dialects.Names(), dialects.Flavours()...))
	require.Equal(t, "openai", dialects.Base("vllm"))
	require.Equal(t, "gemini", dialects.Base("gemini"))
}
