package scenarios

import (
	"slices"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// streamCapProgressDoesNotExtend: output that never stops does not put off the end.
func streamCapProgressDoesNotExtend() harness.Scenario {
	play := func(stream bool, output func(t *harness.Trial) []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			lead := script.Pause{For: t.Windows.Heartbeat * 3 / 7}
			t.Script(proper(slices.Concat([]script.Step{lead}, output(t))...))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	text := func(t *harness.Trial) []script.Step {
		return []script.Step{script.Role{}, script.Text{Chunks: onAndOn(beyond), Every: pace(t.Windows.Stream)}}
	}
	reasoning := func(t *harness.Trial) []script.Step {
		return []script.Step{script.Role{}, script.Think{Chunks: onAndOn(beyond), Every: pace(t.Windows.Stream)}}
	}
	arguments := func(t *harness.Trial) []script.Step {
		return []script.Step{script.Tool{ID: "call_1", Name: "lookup", Args: onAndOn(beyond), Every: pace(t.Windows.Stream)}}
	}
	// So many that the last of them came shortly before the end.
	last := func(e expect.Event) []expect.Event { return []expect.Event{nth(e, 26)} }
	set := harness.Set{Inactivity: true}
	streaming := []harness.Feature{harness.Streaming}
	return harness.Scenario{
		ID:    "stream-cap/progress-does-not-extend",
		Claim: "a model that never stops sending output is ended exactly one stream window after the run's admission",
		Variants: []harness.Variant{
			{Name: "text", Needs: streaming, Set: set, Reached: last(providerText), Play: play(true, text)},
			{Name: "reasoning", Needs: streaming, Set: set, Reached: last(providerThink), Play: play(true, reasoning)},
			{Name: "arguments", Dialects: inPieces(), Needs: streaming, Set: set, Reached: last(providerTool), Play: play(true, arguments)},
			// Of an answer in one piece the fake records nothing before it is sent.
			{Name: "text-whole", Needs: []harness.Feature{harness.NonStreaming}, Set: set, Play: play(false, text)},
		},
		Checks: endsAt("stream-cap.progress-does-not-extend", clientAsk, streamWindow),
	}
}
