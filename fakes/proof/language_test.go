package proof

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/dialects"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	"github.com/stallwright/stallwright/fakes/script"
)

// language lists what the script language can say, as its schema has it: each kind of step that has no keys, and of the
// others each key, with each of its words where it takes no others. Connections have their keys.
func language(t *testing.T) []string {
	type node struct {
		AnyOf      []node          `json:"anyOf"`
		Properties map[string]node `json:"properties"`
		Enum       []string        `json:"enum"`
	}
	var schema struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(script.Schema(), &schema))
	def := func(name string) (n node) {
		require.NoError(t, json.Unmarshal(schema.Defs[name], &n))
		return n
	}
	var words []string
	say := func(kind string, keys map[string]node) {
		for key, n := range keys {
			if n.Enum == nil {
				words = append(words, kind+"."+key)
			}
			for _, word := range n.Enum {
				if word != "" {
					words = append(words, kind+"."+key+"="+word)
				}
			}
		}
	}
	steps := def("step").AnyOf
	for kind, n := range steps[len(steps)-1].Properties {
		words = append(words, kind)
		say(kind, n.AnyOf[len(n.AnyOf)-1].Properties)
	}
	require.NotEmpty(t, words)
	say("connections", def("connections").Properties)
	slices.Sort(words)
	return words
}

// elsewhere are the kinds of steps that are neither faults nor ends, and where they are proven.
var elsewhere = map[string]string{
	"role": "output: the fixtures of each dialect", "text": "output: the fixtures of each dialect", "think": "output: the fixtures of each dialect",
	"refusal": "output: the fixtures of each dialect", "tool": "output: the fixtures of each dialect", "tool-chunk": "output: the fixtures of each dialect",
	"usage": "output: the fixtures of each dialect", "finish": "output: the fixtures of each dialect", "done": "output: the fixtures of each dialect",
	"message": "output: the fixtures of each dialect", "flood": "output in bulk: the tests of the provider",
	"pause": "order: the tests of the provider", "await": "order: the tests of the provider", "open": "order: the tests of the provider",
	"meet": "order: the tests of the provider", "repeat": "order: the tests of the provider",
}

// TestNothingIsOnlyDeclared fails when a word of the language has no proof: whoever adds one says what a peer sees of it.
func TestNothingIsOnlyDeclared(t *testing.T) {
	proven := map[string]bool{}
	prove := func(words []string) {
		for _, w := range words {
			proven[w] = true
			kind, _, _ := strings.Cut(w, ".")
			proven[kind] = true
		}
	}
	for _, p := range proofs() {
		require.NotEmpty(t, p.proves, p.name)
		prove(p.proves)
	}
	for _, p := range policies() {
		prove(p.proves)
	}
	known := language(t)
	for _, w := range known {
		kind, _, _ := strings.Cut(w, ".")
		if elsewhere[kind] != "" {
			require.False(t, proven[w], "%s is proven here", w)
			continue
		}
		require.True(t, proven[w], "%s has no proof", w)
	}
	for _, w := range slices.Sorted(maps.Keys(proven)) {
		require.True(t, w == "connections" || slices.Contains(known, w), "%s is not in the language", w)
	}
	for _, s := range script.Steps() {
		if isFault(s) {
			require.Empty(t, elsewhere[s.Kind()], "%s is a fault", s.Kind())
		}
		require.Contains(t, known, s.Kind())
	}
}

// TestEveryVariantHasAForm fails when a proof has a form in no variant, or a variant is left out without a reason: then
// nothing would be looked at.
func TestEveryVariantHasAForm(t *testing.T) {
	for _, p := range proofs() {
		var with []string
		for _, v := range variants() {
			if p.why(v, carrier{}) == "" {
				with = append(with, v.name)
			}
		}
		require.NotEmpty(t, with, p.name)
		over := slices.ContainsFunc(carriers(), func(c carrier) bool { return p.over == nil || p.over(c) })
		require.True(t, over, p.name)
	}
	spoken := map[string]bool{}
	for _, v := range variants() {
		spoken[v.dialect.Name()] = true
		require.Len(t, v.types, 4)
	}
	require.ElementsMatch(t, dialects.Names(), slices.Collect(maps.Keys(spoken)))
}

// TestScriptsKnowTheFlavours fails when a flavour of Chat Completions is no dialect for the check of scripts.
func TestScriptsKnowTheFlavours(t *testing.T) {
	require.NotEmpty(t, dialects.Flavours())
	for _, name := range dialects.Flavours() {
		require.NotEmpty(t, script.Meaningless(fault.Garble{How: "no-event"}, script.When{Dialect: name}), name)
		_, answer := openai.Dialect{Flavour: openai.Flavour(name)}.Recognise(httptest.NewRequest("POST", "/v1/chat/completions", nil), []byte(`{"model":"m","stream":true}`))
		none := len(answer.Append(nil, script.Ping{}, 0)) == 0
		require.Equal(t, none, script.Meaningless(script.Ping{}, script.When{Dialect: name}) != "", name)
	}
}
