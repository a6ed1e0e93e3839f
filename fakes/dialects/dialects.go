// Package dialects lists what the fake provider speaks.
package dialects

import (
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/anthropic"
	"github.com/stallwright/stallwright/fakes/provider/bedrock"
	"github.com/stallwright/stallwright/fakes/provider/gemini"
	"github.com/stallwright/stallwright/fakes/provider/ollama"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	"github.com/stallwright/stallwright/fakes/provider/responses"
)

// All are the dialects, in an order in which one provider can ask them all. Gemini's list of models would otherwise be
// taken for OpenAI's, which stands under any path that ends so.
func All() []provider.Dialect {
	return []provider.Dialect{anthropic.Dialect{}, gemini.Dialect{}, ollama.Dialect{}, bedrock.Dialect{}, responses.Dialect{}, openai.Dialect{}}
}

// Names are theirs, OpenAI's Chat Completions first.
func Names() []string {
	return []string{openai.Dialect{}.Name(), responses.Dialect{}.Name(), anthropic.Dialect{}.Name(), gemini.Dialect{}.Name(), ollama.Dialect{}.Name(), bedrock.Dialect{}.Name()}
}
