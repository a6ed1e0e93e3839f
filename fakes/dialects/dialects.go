// Package dialects lists what the fake provider speaks.
package dialects

import (
	"net/http"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/anthropic"
	"github.com/stallwright/stallwright/fakes/provider/bedrock"
	"github.com/stallwright/stallwright/fakes/provider/gemini"
	"github.com/stallwright/stallwright/fakes/provider/ollama"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	"github.com/stallwright/stallwright/fakes/provider/responses"
)

// All are the dialects, in an order in which one provider can ask them all: the flavours of Chat Completions first, since
// each has a path of its own, and Gemini before Chat Completions, which takes a list of models under any path that ends so.
func All() []provider.Dialect {
	var all []provider.Dialect
	for _, name := range Flavours() {
		all = append(all, flavoured{openai.Dialect{Flavour: openai.Flavour(name)}})
	}
	return append(all, anthropic.Dialect{}, gemini.Dialect{}, ollama.Dialect{}, bedrock.Dialect{}, responses.Dialect{}, openai.Dialect{})
}

// Names are the names of the dialects, that of Chat Completions first; its flavours are not among them.
func Names() []string {
	return []string{openai.Dialect{}.Name(), responses.Dialect{}.Name(), anthropic.Dialect{}.Name(), gemini.Dialect{}.Name(), ollama.Dialect{}.Name(), bedrock.Dialect{}.Name()}
}

// Flavours are the names of the flavours of Chat Completions, each of which counts as a dialect. The fake speaks one to
// requests whose path begins with its name, as in /deepseek/v1/chat/completions.
func Flavours() []string {
	var names []string
	for _, f := range openai.Flavours() {
		if f != openai.OpenAI {
			names = append(names, string(f))
		}
	}
	return names
}

// Base is the dialect of which the named one is a flavour, or else itself.
func Base(name string) string {
	if slices.Contains(Flavours(), name) {
		return openai.Dialect{}.Name()
	}
	return name
}

// flavoured is a flavour of Chat Completions under its own path.
type flavoured struct{ openai.Dialect }

func (f flavoured) Name() string { return string(f.Flavour) }

func (f flavoured) Recognise(r *http.Request, body []byte) (provider.Request, provider.Answer) {
	if !strings.HasPrefix(r.URL.Path, "/"+f.Name()+"/") {
		return provider.Request{}, nil
	}
	return f.Dialect.Recognise(r, body)
}
