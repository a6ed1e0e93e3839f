package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// echoing is a tool that tells, of whom it is called for, progress and a result.
func echoing(name string, takes time.Duration) mcp.Tool {
	return mcp.Tool{Name: name, Run: func(c mcp.Call) []script.Step {
		var a struct{ For string }
		_ = json.Unmarshal(c.Arguments, &a) // what nobody is named in is for nobody
		return []script.Step{
			mcp.Progress{Every: takes / 2, Text: a.For + "-progress"}, script.Pause{For: takes - takes/2}, mcp.Effect{}, mcp.Result{Text: a.For + "-result"},
		}
	}}
}

// ownProgress expects the progress that a tool tells with this message to carry the token that the start of the call gave.
type ownProgress struct{ id, message string }

// Judge fails as a value at the first that carries another, or when there is none.
func (x ownProgress) Judge(h expect.History) expect.Judgement {
	started, ok := h.Find(eventOf("start", x.id))
	if !ok {
		return found(false, timeline.Event{At: h.End}, x.String(), "the call never started")
	}
	token := argument(started, "aura.tool_start ")["progress_token"]
	seen := timeline.Event{}
	for _, e := range h.Events {
		if clientStarted.Fits(e) && e.Seq != started.Seq && argument(e, "aura.tool_start ")["progress_token"] == token {
			return found(false, e, x.String(), fmt.Sprintf("token %v is another call's too", token))
		}
		if p := argument(e, "aura.progress "); clientProgress.Fits(e) && p["message"] == x.message {
			if seen = e; token == nil || p["progress_token"] != token {
				return found(false, e, x.String(), fmt.Sprintf("token %v, and the call's is %v", p["progress_token"], token))
			}
		}
	}
	if seen.Seq == 0 {
		return found(false, timeline.Event{At: h.End}, x.String(), "there was none")
	}
	return found(true, seen, x.String(), fmt.Sprintf("token %v", token))
}

func (x ownProgress) String() string {
	return fmt.Sprintf("progress %q under the token of call %s", x.message, x.id)
}

// toolsCorrelated: whoever tells of a call tells of the same call.
func toolsCorrelated() harness.Scenario {
	type call struct{ who, tool string }
	turn := func(t *harness.Trial, calls ...call) script.Program {
		steps := []script.Step{script.Role{}}
		for i, c := range calls {
			step := t.ToolCall("call_"+c.who, c.tool, fmt.Sprintf(`{"for":%q}`, c.who))
			step.Index = i
			steps = append(steps, step)
		}
		return calling(steps...)
	}
	variant := func(name string, tools harness.Tooling, played ...[]call) harness.Variant {
		check := func(name, noun string, x expect.Expectation) harness.Check {
			return harness.Check{Name: name, Guarantee: "tools.correlated", Noun: noun, Expect: shows(x)}
		}
		var checks []harness.Check
		for _, c := range slices.Concat(played...) {
			id := "call_" + c.who
			events := []harness.Check{
				check("asks-for-"+c.who, "tool-request", tellsOf{clientRequested, id, fmt.Sprintf(`"tool_name":%q,"arguments":{"for":%q`, c.tool, c.who)}),
				check("starts-"+c.who, "tool-start", tellsOf{clientStarted, id, fmt.Sprintf(`"tool_name":%q`, c.tool)}),
				check("completes-"+c.who, "tool-complete", tellsOf{clientCompleted, id, fmt.Sprintf(`"result":"%s-result"`, c.who)}),
				check("progress-of-"+c.who, "progress-token", ownProgress{id, c.who + "-progress"}),
			}
			for i := range events {
				events[i].Needs = []harness.Feature{harness.CustomEvents}
			}
			checks = append(checks, events...)
			checks = append(checks, check("tells-the-model-of-"+c.who, "tool-result", tellsOf{toldModel, id, c.who + "-result"}))
		}
		return harness.Variant{Name: name, Set: harness.Set{Tools: tools}, Checks: checks, Play: func(t *harness.Trial) {
			var programs []script.Program
			for _, calls := range played {
				programs = append(programs, turn(t, calls...))
			}
			t.Script(append(programs, turns())...)
			// The first call of a turn is the slowest where they run together.
			takes := t.Windows.Heartbeat / 7
			scripts := []mcp.Script{{Tools: []mcp.Tool{echoing("lookup", 4*takes), echoing("book", takes)}}, {Tools: []mcp.Tool{echoing("search", takes/2)}}}
			t.Tools(scripts[:len(t.Stage.Tools)]...)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		}}
	}
	// The cost of a turn is told of the calls whose results it reads, and of no earlier ones.
	overTwoTurns := variant("over-two-turns", harness.HTTPTools, []call{{"anna", "lookup"}, {"boris", "book"}}, []call{{"clara", "book"}, {"dora", "lookup"}})
	for i, ids := range []string{`["call_anna","call_boris"]`, `["call_clara","call_dora"]`} {
		overTwoTurns.Checks = append(overTwoTurns.Checks, harness.Check{Name: fmt.Sprintf("costs-of-turn-%d", i+2), Guarantee: "tools.correlated", Noun: "tool-usage", Needs: []harness.Feature{harness.CustomEvents},
			Expect: shows(expect.Times{What: saying(clientEvent, `aura.tool_usage {"tool_ids":`+ids+`,`), Min: 1, Max: 1})})
	}
	different := []call{{"anna", "lookup"}, {"boris", "book"}}
	return harness.Scenario{
		ID:    "tools/correlated",
		Claim: "the request, start, progress and completion of a tool call, and what the model is told of it, carry the call's own id",
		Needs: []harness.Feature{harness.Streaming},
		Variants: slices.Concat(overTransports(variant("", "", different)), []harness.Variant{
			variant("same-tool-twice", harness.HTTPTools, []call{{"anna", "lookup"}, {"boris", "lookup"}, {"clara", "book"}}),
			variant("across-servers", harness.HTTPTools+"+"+harness.SSETools, []call{{"anna", "lookup"}, {"boris", "search"}, {"clara", "book"}}),
			overTwoTurns,
		}),
		Reached: []expect.Event{toolProgress},
		Checks:  isWhole("tools.correlated", "done"),
	}
}
