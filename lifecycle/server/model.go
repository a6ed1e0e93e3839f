package server

import (
	"net/http"

	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/anthropic"
	"github.com/stallwright/stallwright/lifecycle/llm/gemini"
	"github.com/stallwright/stallwright/lifecycle/llm/ollama"
	"github.com/stallwright/stallwright/lifecycle/llm/openai"
	"github.com/stallwright/stallwright/lifecycle/llm/responses"
)

// newModel makes the client for the configured provider, or returns nil when there is none of that name.
func newModel(c config.LLM, transport *http.Transport) llm.Client {
	key, client := string(c.APIKey), &http.Client{Transport: transport}
	switch c.Provider {
	case config.OpenAI:
		return &openai.Client{BaseURL: c.BaseURL, APIKey: key, HTTP: client}
	case config.OpenAIResponses:
		return &responses.Client{BaseURL: c.BaseURL, APIKey: key, HTTP: client}
	case config.Anthropic:
		return &anthropic.Client{BaseURL: c.BaseURL, APIKey: key, HTTP: client}
	case config.Gemini:
		return &gemini.Client{BaseURL: c.BaseURL, APIKey: key, HTTP: client}
	case config.Ollama:
		return &ollama.Client{BaseURL: c.BaseURL, APIKey: key, HTTP: client}
	}
	return nil
}
