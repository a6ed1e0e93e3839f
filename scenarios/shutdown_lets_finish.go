package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// shutdownLetsFinish: a run that ends before the grace period does is none of the shutdown's business.
func shutdownLetsFinish() harness.Scenario {
	const id = "shutdown.lets-finish"
	said := []script.Step{script.Role{}, script.Text{Chunks: []string{"one "}}}
	last := func(at harness.At) time.Duration { return at.Shutdown - at.Tick }
	// In real time this leaves one beat well inside the grace period.
	before := func(w harness.Windows) time.Duration { return w.Heartbeat / 2 }
	beats := harness.Check{Name: "beats-in-the-grace", Guarantee: "heartbeat.beats", Noun: "heartbeat", Expect: func(at harness.At) expect.Expectation {
		return expect.Beats{What: clientComment, After: clientStatus, Every: at.Heartbeat, Until: before(at.Windows) + last(at)}
	}}
	// The model's last turn goes on to its end; one before is over when it has called a tool.
	ends := func(turn, text string) []harness.Check {
		return append(isWhole(id, text), harness.Check{
			Name: "keeps-the-provider", Guarantee: id, Noun: "provider-connection", Expect: shows(expect.Never{What: of(providerLeft, turn), Before: clientEnd})})
	}
	streamed := []harness.Feature{harness.Streaming}
	http := harness.Set{Tools: harness.HTTPTools}
	called := append(ends("#2", "two"), harness.Check{Name: "keeps-the-tool", Guarantee: id, Noun: "cancellation", Expect: shows(expect.Never{What: toolCancelled})},
		harness.Check{Name: "result-reaches-the-model", Guarantee: id, Noun: "result", Expect: shows(expect.Times{What: saying(providerTold, "rain"), Min: 1, Max: 1})})
	// The tool is called, or its server connected to, before the signal, or the call comes after it; the last moment is the tool's or the model's.
	withTool := func(stream bool, tool mcp.Tool, programs []mcp.Program, opening, last []script.Step, ready expect.Event) func(*harness.Trial) {
		return func(t *harness.Trial) {
			call := slices.Concat(opening, []script.Step{script.Role{}, t.ToolCall("call_1", "lookup", `{"city":"Oslo"}`)})
			t.Script(calling(call...), proper(append(last, script.Text{Chunks: []string{"two"}})...))
			t.Tools(mcp.Script{Tools: []mcp.Tool{tool}, Programs: programs})
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: stream})
			t.Await(ready)
			t.Pass(awhile(t.Windows))
			t.Signal("SIGTERM")
			t.Pass(awhile(t.Windows))
			t.Open("begin")
			t.Pass(t.Windows.Shutdown - awhile(t.Windows) - t.Stage.Tick)
			t.Open("end")
			t.AwaitEnd(r)
			t.AwaitExit()
		}
	}
	rain := mcp.Tool{Name: "lookup", Result: mcp.Result{Text: "rain"}}
	slow := mcp.Tool{Name: "lookup", Gate: "end", Result: mcp.Result{Text: "rain"}}
	begin, end := script.Await{Gate: "begin"}, script.Await{Gate: "end"}
	connecting := []mcp.Program{{When: mcp.When{Method: "initialize"}, Steps: []script.Step{begin, mcp.Result{}}}}
	initialize := expect.Event{Lane: harness.ToolsLane, Kind: "request", Detail: "initialize"}
	whole := []harness.Feature{harness.NonStreaming}
	return harness.Scenario{
		ID:    "shutdown/lets-finish",
		Claim: "a run that ends within the grace period, be it at its last moment, is whole",
		Needs: []harness.Feature{harness.Signals},
		Alone: true,
		Variants: []harness.Variant{
			{Name: "streamed", Play: shutFinishing("SIGTERM", true, said...), Checks: ends("#1", "one two"), Needs: streamed},
			{Name: "sigint", Play: shutFinishing("SIGINT", true, said...), Checks: ends("#1", "one two"), Needs: streamed},
			{Name: "before-headers", Play: shutFinishing("SIGTERM", true), Checks: ends("#1", "two"), Needs: streamed},
			{Name: "heartbeat-goes-on", Checks: append(ends("#1", "one two"), beats), Needs: streamed, Play: func(t *harness.Trial) {
				t.Script(proper(slices.Concat(said, []script.Step{script.Await{Gate: "end"}, script.Text{Chunks: []string{"two"}}})...))
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
				t.Await(providerAwait)
				t.Await(clientStatus)
				t.Pass(before(t.Windows))
				t.Signal("SIGTERM")
				t.Pass(t.Windows.Shutdown - t.Stage.Tick)
				t.Open("end")
				t.AwaitEnd(r)
				t.AwaitExit()
			}},
			{Name: "in-a-tool", Set: http, Play: withTool(true, slow, nil, nil, nil, toolRequest), Checks: called, Needs: streamed},
			{Name: "in-a-tool-whole", Set: http, Play: withTool(false, slow, nil, nil, nil, toolRequest), Checks: called, Needs: whole},
			{Name: "before-a-tool", Set: http, Play: withTool(true, slow, nil, []script.Step{begin}, nil, providerAwait), Checks: called, Needs: streamed},
			{Name: "connecting-to-tools", Set: http, Play: withTool(true, rain, connecting, nil, []script.Step{end}, initialize), Checks: called, Needs: streamed},
			{Name: "whole", Play: shutFinishing("SIGTERM", false, said...), Checks: ends("#1", "one two"), Needs: whole},
			{Name: "whole-before-headers", Play: shutFinishing("SIGTERM", false), Checks: ends("#1", "two"), Needs: whole},
		},
		Checks: []harness.Check{exitsAt("shutdown.early-exit", last, last)},
	}
}
