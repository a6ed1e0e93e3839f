package scenarios

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
)

// death is a way in which a server fails to answer a call that it has taken.
type death struct {
	name  string
	over  []harness.Tooling
	steps []script.Step
	shown expect.Event // the instant from which there can be no answer any more
}

func deaths() []death {
	posts := []harness.Tooling{harness.HTTPTools, harness.ModernTools} // the answer has a connection of its own
	http := posts[:1]
	kind := func(kind string) expect.Event { return expect.Event{Lane: harness.ToolsLane, Kind: kind} }
	after := func(last ...script.Step) []script.Step {
		return slices.Concat([]script.Step{script.Headers{}, mcp.Progress{}}, last)
	}
	return []death{
		{"reset-before-headers", posts, []script.Step{fault.Reset{}}, kind("reset")},
		{"reset-after-headers", posts, after(fault.Reset{}), kind("reset")},
		{"closed-before-headers", posts, []script.Step{fault.HalfClose{}}, kind("half-close")},
		{"closed-after-headers", posts, after(fault.Cut{}), kind("cut")},
		{"ends-without-an-answer", posts, after(mcp.EndStream{}), saying(toolEnded, "unanswered")},
		{"half-an-answer", posts, after(script.Raw{Bytes: `data: {"jsonrpc":"2.0","id":`}, fault.Cut{}), kind("cut")},
		{"not-an-answer", posts, after(fault.Garble{}, mcp.Result{Text: "rain"}), kind("garble")},
		{"status-500", posts, []script.Step{fault.Status{Code: 500}}, kind("status")},
		{"status-503-blank", posts, []script.Step{fault.Status{Code: 503, Blank: true}}, kind("status")},
		{"page", http, []script.Step{fault.Status{Code: 200, ContentType: "text/html", Body: "<html>sign in</html>"}}, kind("status")},
		{"session-gone", http, []script.Step{fault.Status{Code: 404}}, kind("status")},
		{"stream-closed", []harness.Tooling{harness.SSETools}, []script.Step{fault.Cut{}}, kind("cut")},
		{"stream-reset", []harness.Tooling{harness.SSETools}, []script.Step{fault.Reset{}}, kind("reset")},
		{"pipe-closed", []harness.Tooling{harness.StdioTools}, []script.Step{fault.Cut{}}, kind("cut")},
	}
}

// mcpDeathIsAnError: a call whose server dies fails at once, the model is told so, and neither the run nor the next one is harmed.
func mcpDeathIsAnError() harness.Scenario {
	const id = "mcp.death-is-an-error"
	silence := func(w harness.Windows) time.Duration { return w.Heartbeat * 3 / 7 }
	failed := func(of expect.Event) []harness.Check {
		return []harness.Check{
			happens("fails-at-once", id, "tool-result", saying(modelTold, "call_1 "), of, now, once),
			{Name: "reads-as-a-failure", Guarantee: id, Noun: "tool-result", Expect: shows(toldAsFailed{"call_1"})},
			{Name: "is-reported", Guarantee: id, Noun: "tool-complete", Needs: []harness.Feature{harness.CustomEvents},
				Expect: shows(expect.InOrder{saying(clientCompleted, `"success":false`)})},
		}
	}
	var variants []harness.Variant
	for _, d := range deaths() {
		for _, over := range d.over {
			v := harness.Variant{Name: d.name + "-" + string(over), Set: harness.Set{Tools: over}, Reached: []expect.Event{d.shown}, Checks: failed(d.shown)}
			v.Play = func(t *harness.Trial) {
				t.Tools(onCall(slices.Concat([]script.Step{script.Pause{For: silence(t.Windows)}}, d.steps)...))
				looksUpInTurn(t, []string{"call_1"}, []string{"call_2"})
			}
			if over != harness.HTTPTools || d.name != "reset-after-headers" {
				v.Dialects = chat()[:1] // what becomes of the model's side is the same each time
			}
			variants = append(variants, v)
		}
	}
	// Above what most take: how the call ends is the client's choice, that it ends is not. What shares its stream with other calls has to
	// be read to its end, which the race detector makes long.
	for _, over := range harness.Transports() {
		mib := 64
		if over == harness.SSETools || over == harness.StdioTools {
			mib = 12
		}
		variants = append(variants, harness.Variant{Name: "too-large-" + string(over), Set: harness.Set{Tools: over}, Dialects: chat()[:1], Play: func(t *harness.Trial) {
			t.Tools(onCall(mcp.Result{Size: mib << 20}))
			looksUpInTurn(t, []string{"call_1"}, []string{"call_2"})
		}})
	}
	return harness.Scenario{
		ID:       "mcp/death-is-an-error",
		Claim:    "when a tool server dies or drops its connection in a call, the model is told of the failure at once, the run ends well, and so does the next",
		Needs:    []harness.Feature{harness.Streaming},
		Variants: variants,
		Checks: []harness.Check{
			happens("tells-of-the-first", id, "tool-result", saying(modelTold, "call_1 "), toolRequest, now, func(at harness.At) time.Duration { return silence(at.Windows) + at.Once }),
			isTold(id, "call_2", "lookup is done"),
			endWell(id, 2),
		},
	}
}
