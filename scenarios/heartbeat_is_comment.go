package scenarios

import (
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// heartbeatIsComment: what keeps the connection alive is no part of the answer.
func heartbeatIsComment() harness.Scenario {
	answering := func(steps func(harness.Windows) []script.Step) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(script.Program{Steps: append(steps(t.Windows), script.Finish{Reason: "stop"}, script.Usage{Prompt: 9, Completion: 2}, script.Done{}, script.End{})})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}
	}
	check := func(name, noun string, x expect.Expectation) harness.Check {
		return harness.Check{Name: name, Guarantee: "heartbeat.is-comment", Noun: noun, Expect: shows(x)}
	}
	return harness.Scenario{
		ID:    "heartbeat/is-comment",
		Claim: "a heartbeat is the comment `: heartbeat`: no data, no event, and nothing of the answer is disturbed by it",
		Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{
			{Name: "in-silence", Play: answering(func(w harness.Windows) []script.Step {
				return []script.Step{script.Pause{For: w.Heartbeat * 5 / 2}, script.Text{Chunks: []string{"one ", "two"}}}
			})},
			{Name: "between-items", Play: answering(func(w harness.Windows) []script.Step {
				return []script.Step{script.Text{Chunks: []string{"one ", "two"}, Every: w.Heartbeat * 5 / 2}}
			})},
			{Name: "while-text-flows", Play: answering(func(w harness.Windows) []script.Step {
				return []script.Step{script.Pause{For: w.Heartbeat / 7}, script.Text{Chunks: []string{"o", "n", "e", " ", "t", "w", "o"}, Every: w.Heartbeat * 2 / 5}}
			})},
		},
		Checks: []harness.Check{
			check("comments", "heartbeat", expect.Times{What: saying(clientComment, "heartbeat"), Min: 2, Max: 2}),
			check("no-other-comment", "comment-text", expect.Times{What: clientComment, Max: 2}),
			check("no-data", "data-frame", expect.Never{What: clientGarbage}),
			check("no-event", "named-event", expect.Never{What: saying(clientEvent, "heartbeat")}),
			check("answer-whole", "answer", expect.Reads{What: clientText, Text: "one two"}),
			check("ends-well", "end", expect.InOrder{clientText, clientFinish, clientDone, clientEnd}),
		},
	}
}
