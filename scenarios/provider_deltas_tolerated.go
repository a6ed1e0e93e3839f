package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// providerDeltasTolerated: what one vendor's chunks have and another's have not is no error, and costs no text.
func providerDeltasTolerated() harness.Scenario {
	// unchanged sends each piece in a delta of its own.
	unchanged := func(name string, pieces ...string) harness.Variant {
		return harness.Variant{
			Name: name, Dialects: onWires(), Checks: isWhole("provider.deltas-tolerated", pieces...),
			Play: func(t *harness.Trial) {
				w := wireSaying(t.Case.Dialect(), pieces...)
				var frames []string
				for _, f := range w.frames {
					frames = append(frames, w.plainly(f, "\n"))
				}
				answering(frames...)(t)
			},
		}
	}
	variants := []harness.Variant{
		unchanged("leading-spaces", " one", "  two", "\tthree", "\n- four"),
		unchanged("trailing-newlines", "one\n", "two\n\n", "three \r\n", "four\n"),
		unchanged("only-white-space", "one", " ", "two", "\n", "\n\n", "three", "\t", "\n"),
	}
	for _, d := range deltas() {
		variants = append(variants, d.Variant)
	}
	return harness.Scenario{
		ID:       "provider/deltas-tolerated",
		Claim:    "chunks with members that are missing, null, empty, repeated or unknown cost the answer nothing, and white space is text",
		Needs:    []harness.Feature{harness.Streaming},
		Variants: variants,
	}
}

// delta is a form of an answer, and what is called in it.
type delta struct {
	harness.Variant
	gets []getsArguments
}

// deltas are those of all dialects.
func deltas() []delta {
	return slices.Concat(deltasOfChat(), deltasOfResponses(), deltasOfAnthropic(), deltasOfGemini(), deltasOfOllama())
}

// gets are calls, each a tool and its arguments.
func gets(calls ...string) []getsArguments {
	var out []getsArguments
	for c := range slices.Chunk(calls, 2) {
		out = append(out, getsArguments{c[0], c[1]})
	}
	return out
}

// answering plays an answer of these pieces, which have their framing, and ends its body well.
func answering(pieces ...string) func(*harness.Trial) {
	return func(t *harness.Trial) {
		var steps []script.Step
		for _, p := range pieces {
			steps = append(steps, script.Raw{Bytes: p})
		}
		// What a server asks after a tool call that it does not know is its own concern.
		t.Script(script.Program{Steps: append(steps, script.End{})}, turns())
		t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
	}
}

// tolerated is an answer in a dialect that reads "one two".
func tolerated(dialect, name string, pieces ...string) delta {
	return delta{Variant: harness.Variant{
		Name: name, Dialects: speaking(dialect), Play: answering(pieces...), Checks: isWhole("provider.deltas-tolerated", "one two"),
	}}
}

// toleratedCall is one that ends in a tool call: the run goes on or ends, but it does not fail.
func toleratedCall(dialect, name string, gets []getsArguments, pieces ...string) delta {
	return delta{gets: gets, Variant: harness.Variant{Name: name, Dialects: speaking(dialect), Play: answering(pieces...), Checks: []harness.Check{
		{Name: "is-not-given-up", Guarantee: "provider.deltas-tolerated", Noun: "error-frame", Expect: shows(expect.Never{What: clientError})},
		{Name: "ends-well", Guarantee: "provider.deltas-tolerated", Noun: "end", Expect: shows(expect.InOrder{clientFinish, clientDone, saying(clientEnd, "complete")})},
	}}}
}

// limited is an answer in a dialect that reads "one two" when the model has said all that it may.
func limited(dialect, name string, pieces ...string) delta {
	v := tolerated(dialect, name, pieces...)
	v.Checks = append(v.Checks, harness.Check{
		Name: "finishes-for-length", Guarantee: "provider.deltas-tolerated", Noun: "finish", Expect: shows(expect.Says{What: clientFinish, Text: "length"})})
	return v
}
