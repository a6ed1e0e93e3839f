package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// cancelAbortsProvider: when the client of a stream leaves, the request to the model is aborted, wherever it is.
func cancelAbortsProvider() harness.Scenario {
	var variants []harness.Variant
	for _, how := range []caller.Leaving{caller.Close, caller.Reset} {
		for _, p := range phases() {
			variants = append(variants, harness.Variant{Name: p.name + "-by-" + string(how), Dialects: p.on, Play: func(t *harness.Trial) {
				t.Script(silent(p.steps...))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
				t.Await(providerStall)
				t.Pass(t.Windows.Heartbeat * 3 / 7) // between two writes
				r.Leave(how)
				t.Await(providerLeft)
			}})
		}
		variants = append(variants, harness.Variant{Name: "in-steady-text-by-" + string(how), Play: func(t *harness.Trial) {
			t.Script(proper(script.Role{}, script.Text{Chunks: onAndOn(beyond), Every: t.Windows.Heartbeat * 4 / 7}))
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(nth(clientText, 3))
			t.Pass(t.Windows.Heartbeat / 7)
			r.Leave(how)
			t.Await(providerLeft)
		}})
	}
	return harness.Scenario{
		ID:       "cancel/aborts-provider",
		Claim:    "the provider's connection is left at once when the client of a stream leaves, and no further request is made for it",
		Needs:    []harness.Feature{harness.Streaming},
		Variants: variants,
		Checks:   leavesWith("cancel.aborts-provider", clientLeft),
	}
}
