package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// heartbeatBeats: the heartbeat has its own time, whatever the model does.
func heartbeatBeats() harness.Scenario {
	// The run lasts four and a half intervals, so that no beat falls on its end.
	lasting := func(steps func(harness.Windows) []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Steps: append(steps(t.Windows), script.Finish{Reason: "stop"}, script.Usage{Prompt: 9, Completion: 2}, script.Done{}, script.End{})})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	// beats is that every beat of a response comes that is due before a while is over.
	beats := func(until func(harness.At) time.Duration) harness.Check {
		return harness.Check{Name: "every-interval", Guarantee: "heartbeat.beats", Noun: "heartbeat", Expect: func(at harness.At) expect.Expectation {
			return expect.Beats{What: clientComment, After: clientStatus, Every: at.Heartbeat, Until: until(at)}
		}}
	}
	four := []harness.Check{
		beats(func(at harness.At) time.Duration { return at.Heartbeat * 17 / 4 }),
		{Name: "four-times", Guarantee: "heartbeat.beats", Noun: "heartbeat-count", Expect: shows(expect.Times{What: clientComment, Min: 4, Max: 4})},
	}
	// One beat may be due at the very instant of the cap.
	toTheCap := []harness.Check{beats(func(at harness.At) time.Duration { return at.Stream - at.Heartbeat/2 })}
	return harness.Scenario{
		ID:    "heartbeat/beats",
		Claim: "a streamed response carries a comment every heartbeat interval from its start to its end, whatever the model sends",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "before-headers", Checks: four, Set: harness.Set{NoFirstChunk: true}, Play: lasting(func(w harness.Windows) []script.Step {
				return []script.Step{script.Pause{For: w.Heartbeat * 9 / 2}, script.Text{Chunks: []string{"at last"}}}
			})},
			{Name: "before-the-first-item", Checks: four, Set: harness.Set{NoFirstChunk: true}, Play: lasting(func(w harness.Windows) []script.Step {
				return []script.Step{script.Headers{}, script.Pause{For: w.Heartbeat * 9 / 2}, script.Text{Chunks: []string{"at last"}}}
			})},
			{Name: "between-items", Checks: four, Play: lasting(func(w harness.Windows) []script.Step {
				return []script.Step{script.Text{Chunks: []string{"one "}}, script.Pause{For: w.Heartbeat * 9 / 4}, script.Text{Chunks: []string{"two"}}, script.Pause{For: w.Heartbeat * 9 / 4}}
			})},
			{Name: "while-text-flows", Checks: four, Play: lasting(func(w harness.Windows) []script.Step {
				// Fifteen pieces 0.3 intervals apart, none of them on a beat.
				text := script.Text{Chunks: pieces(15), Every: w.Heartbeat * 3 / 10}
				return []script.Step{script.Pause{For: w.Heartbeat / 7}, text, script.Pause{For: w.Heartbeat * 3 / 20}}
			})},
			{Name: "while-the-model-keeps-alive", Dialects: inEvents(), Checks: four, Play: lasting(func(w harness.Windows) []script.Step {
				return []script.Step{script.Text{Chunks: []string{"one"}}, script.Keepalive{Form: script.CommentForm, Every: w.Heartbeat * 4 / 7}, script.Pause{For: w.Heartbeat * 9 / 2}}
			})},
			{Name: "until-the-cap", Checks: toTheCap, Play: func(t *harness.Trial) {
				t.Script(silent(script.Role{}, script.Text{Chunks: []string{"one"}}))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}},
		},
		Reached: []expect.Event{clientDone},
		Checks: []harness.Check{
			{Name: "response-starts-at-once", Guarantee: "heartbeat.beats", Noun: "response-start", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: clientStatus, After: expect.Event{Lane: "client", Kind: "ask"}, To: at.Once}
			}},
		},
	}
}
