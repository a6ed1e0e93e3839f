package scenarios

import (
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// streamCapFires: a run that is still going when the stream window is over ends then, and one that ends before does not.
func streamCapFires() harness.Scenario {
	const guarantee = "stream-cap.fires"
	play := func(stream bool, answer func(*harness.Trial) script.Program) func(*harness.Trial) {
		return func(t *harness.Trial) {
			t.Script(answer(t))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: stream}))
		}
	}
	steady := func(t *harness.Trial) script.Program {
		return proper(script.Role{}, script.Text{Chunks: onAndOn(beyond), Every: pace(t.Windows.Stream)})
	}
	// The clock starts at admission, not with the output.
	quiet := func(t *harness.Trial) script.Program {
		return silent(script.Pause{For: t.Windows.FirstChunk * 3 / 7}, script.Role{}, script.Text{Chunks: onAndOn(1)})
	}
	aTickEarly := func(t *harness.Trial) script.Program {
		gap := pace(t.Windows.Stream)
		rest := script.Pause{For: t.Windows.Stream - t.Stage.Tick - 24*gap}
		return proper(script.Role{}, script.Text{Chunks: onAndOn(25), Every: gap}, rest, script.Text{Chunks: []string{"end"}})
	}
	aTickLate := func(t *harness.Trial) script.Program {
		pause := fault.Stall{For: t.Windows.Stream + t.Stage.Tick}
		return proper(script.Role{}, script.Text{Chunks: onAndOn(1)}, pause, script.Text{Chunks: []string{"late"}})
	}
	// All that the model says waits in the server, and more of it than a connection holds.
	unread := func(t *harness.Trial) {
		t.Script(proper(unreadable(t.Stage)))
		r := t.Ask(caller.Ask{Prompt: "hello", Stream: true, Hold: true})
		t.Await(providerEnd)
		t.Pass(t.Windows.Stream + t.Windows.LastWrite + t.Stage.Tick)
		r.Read()
		t.AwaitEnd(r)
	}
	cut := []harness.Check{
		{Name: "connection-is-cut", Guarantee: guarantee, Noun: "client-connection", Expect: shows(expect.Says{What: clientEnd, Text: "cut"})},
		{Name: "no-ordinary-end", Guarantee: guarantee, Noun: "finish", Expect: shows(expect.Never{What: clientFinish})},
	}
	capped := append(isCapped(guarantee, true), dropsLate(guarantee))
	wholeCapped := append(isCapped(guarantee, false), dropsLate(guarantee))
	whole := isWhole(guarantee, append(onAndOn(25), "end")...)
	streaming, notStreaming := []harness.Feature{harness.Streaming}, []harness.Feature{harness.NonStreaming}
	return harness.Scenario{
		ID:    "stream-cap/fires",
		Claim: "a run that is still going is ended exactly one stream window after its admission, and one that ends a tick before is whole",
		Variants: []harness.Variant{
			{Name: "no-output", Needs: streaming, Set: harness.Set{NoFirstChunk: true}, Checks: capped, Play: play(true, func(*harness.Trial) script.Program {
				return silent(script.Headers{})
			})},
			{Name: "silent-after-output", Needs: streaming, Checks: capped, Play: play(true, quiet)},
			{Name: "with-all-clocks", Needs: streaming, Set: harness.Set{Inactivity: true}, Checks: capped, Play: play(true, steady)},
			{Name: "a-tick-late", Needs: streaming, Checks: capped, Play: play(true, aTickLate)},
			{Name: "a-tick-early", Needs: streaming, Checks: whole, Play: play(true, aTickEarly)},
			{Name: "unread-after-the-finish", Needs: streaming, Checks: cut, Play: unread},
			{Name: "whole-with-all-clocks", Needs: notStreaming, Set: harness.Set{Inactivity: true}, Checks: wholeCapped, Play: play(false, steady)},
			{Name: "whole-a-tick-late", Needs: notStreaming, Checks: wholeCapped, Play: play(false, aTickLate)},
			{Name: "whole-a-tick-early", Needs: notStreaming, Checks: whole, Play: play(false, aTickEarly)},
		},
	}
}
