package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// inactivityNotFedByKeepalive: what keeps a stream warm without saying anything does not keep its run alive.
func inactivityNotFedByKeepalive() harness.Scenario {
	kept := func(form script.Form) func(*harness.Trial) {
		return func(t *harness.Trial) {
			steps := []script.Step{script.Pause{For: t.Windows.Inactivity / 7}, script.Role{}, script.Text{Chunks: []string{"one "}}}
			if form != "" {
				steps = append(steps, script.Keepalive{Form: form, Every: t.Windows.Inactivity * 2 / 7})
			}
			t.Script(silent(steps...))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			t.Await(providerLeft)
		}
	}
	set := harness.Set{Inactivity: true}
	sent := []expect.Event{nth(providerKeepalive, 3)}
	return harness.Scenario{
		ID:    "inactivity/not-fed-by-keepalive",
		Claim: "a model that sends nothing but keepalives after its last output is given up exactly one inactivity window after that output",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "comments", Dialects: inEvents(), Set: set, Reached: sent, Play: kept(script.CommentForm)},
			{Name: "empty-deltas", Set: set, Reached: sent, Play: kept(script.EmptyForm)},
			{Name: "role-frames", Dialects: opening(), Set: set, Reached: sent, Play: kept(script.RoleForm)},
			{Name: "pings", Dialects: pinging(), Set: set, Reached: sent, Play: kept(script.PingForm)},
			{Name: "own-heartbeats", Set: set, Reached: []expect.Event{nth(clientComment, 2)}, Play: kept("")},
		},
		Checks: endsAt("inactivity.not-fed-by-keepalive", providerStall, inactivityWindow),
	}
}
