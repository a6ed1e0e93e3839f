package scenarios

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// mapped expects every progress that the client is shown to have the token under which the call was started whose server told it:
// messages begin with the call's id.
type mapped struct {
	call  string
	shown int // how many it is shown of the call
}

// Judge fails as a value at the first progress with another call's token, and as a count.
func (x mapped) Judge(h expect.History) expect.Judgement {
	ev := verdict.Evidence{Kind: verdict.Value, At: h.End, Expected: x.String(), Found: "no start of the call"}
	var token string
	n := 0
	for _, e := range h.Events {
		switch data := fieldsOf(e); {
		case clientStarted.Fits(e) && data["tool_id"] == x.call:
			token = fmt.Sprint(data["progress_token"])
			ev.Because = append(ev.Because, e.Seq)
		case clientProgress.Fits(e) && strings.HasPrefix(fmt.Sprint(data["message"]), x.call+" "):
			n++
			ev.At, ev.Because = e.At, append(ev.Because[:min(1, len(ev.Because))], e.Seq)
			if got := fmt.Sprint(data["progress_token"]); got != token {
				ev.Found = fmt.Sprintf("progress with token %s of a call started with %q", got, token)
				return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
			}
		}
	}
	if token == "" {
		return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
	}
	if ev.Found = fmt.Sprintf("%d shown", n); n != x.shown {
		ev.Kind = verdict.Count
		return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
	}
	return expect.Judgement{Verdict: verdict.Pass, Evidence: ev}
}

func (x mapped) String() string {
	return fmt.Sprintf("%d of aura.progress with the token of %s", x.shown, x.call)
}

// fieldsOf are the members of an aura event, none of another.
func fieldsOf(e timeline.Event) (fields map[string]any) {
	if _, data, ok := strings.Cut(e.Detail, " "); ok && e.Lane == caller.Lane && e.Kind == "event" {
		_ = json.Unmarshal([]byte(data), &fields) // what is no object has none
	}
	return fields
}

// mcpProgressMapped: what a server tells of a call's progress is shown with the token of that call, and nothing else is.
func mcpProgressMapped() harness.Scenario {
	const id = "mcp.progress-mapped"
	events := []harness.Feature{harness.CustomEvents}
	step := func(w harness.Windows) time.Duration { return w.Heartbeat / 7 }
	tells := func(t *harness.Trial, call string, before, after []script.Step) mcp.Program {
		steps := append(before, mcp.Progress{Every: step(t.Windows), Count: 3, Total: 4, Text: call + " goes on"})
		steps = append(steps, script.Pause{For: step(t.Windows)}, mcp.Result{Text: call + " is over"})
		return mcp.Program{When: mcp.When{Contains: `"` + call + `"`}, Steps: append(steps, after...)}
	}
	shown := func(n int) (checks []harness.Check) {
		for _, call := range []string{"call_1", "call_2"} {
			checks = append(checks, harness.Check{Name: "shows-" + strings.ReplaceAll(call, "_", "-"), Guarantee: id, Noun: "progress", Needs: events, Expect: shows(mapped{call, n})})
		}
		return checks
	}
	instants := harness.Check{Name: "shows-it-at-once", Guarantee: id, Noun: "progress", Needs: events, Expect: func(at harness.At) expect.Expectation {
		return expect.Beats{What: clientProgress, After: clientStarted, Every: step(at.Windows), Until: step(at.Windows) * 7 / 2}
	}}
	none := func(text string) harness.Check {
		return harness.Check{Name: "shows-no-other", Guarantee: id, Noun: "foreign-progress", Needs: events, Expect: shows(expect.Never{What: saying(clientProgress, text)})}
	}
	plays := func(before []script.Step, late bool) func(*harness.Trial) {
		return func(t *harness.Trial) {
			var after []script.Step
			if late { // a little: a client may take what comes together with the answer for what came before
				after = []script.Step{script.Pause{For: t.Stage.Tick}, mcp.Progress{Text: "stray"}, script.Pause{For: t.Stage.Tick}, mcp.Progress{Text: "stray"}}
			}
			t.Tools(mcp.Script{Programs: []mcp.Program{tells(t, "call_1", before, after), tells(t, "call_2", nil, nil)}})
			looksUp(t, "call_1", "call_2")
		}
	}
	stray := func(params string) script.Step {
		return mcp.Notify{Method: "notifications/progress", Params: params}
	}
	strays := []script.Step{
		mcp.Progress{Token: mcp.UnknownToken, Text: "stray"}, stray(`{"progress":1,"message":"stray"}`), stray(`{"progressToken":null,"progress":1,"message":"stray"}`),
		stray(`{"progressToken":{"a":1},"progress":1,"message":"stray"}`), stray(`{"progressToken":"1e0","progress":1,"message":"stray"}`),
	}
	var variants []harness.Variant
	for _, v := range []harness.Variant{
		{Name: "own", Play: plays(nil, false), Checks: []harness.Check{instants}},
		{Name: "unknown-tokens", Play: plays(strays, false), Checks: []harness.Check{instants, none("stray")}},
		{Name: "after-the-answer", Play: plays(nil, true), Checks: []harness.Check{none("stray")}},
	} {
		v.Checks = append(v.Checks, shown(3)...)
		variants = append(variants, overTransports(v)...)
	}
	const burst = 20 // fewer than any client would leave out for being too many
	for _, v := range overTransports(harness.Variant{Name: "right-before-the-answer", Play: func(t *harness.Trial) {
		ends := func(call string) mcp.Program {
			steps := []script.Step{mcp.Progress{Count: burst, Total: burst, Text: call + " goes on"}, mcp.Result{Text: call + " is over"}}
			return mcp.Program{When: mcp.When{Contains: `"` + call + `"`}, Steps: steps}
		}
		t.Tools(mcp.Script{Programs: []mcp.Program{ends("call_1"), ends("call_2")}})
		looksUp(t, "call_1", "call_2")
	}, Checks: append(shown(burst), harness.Check{Name: "before-the-end", Guarantee: id, Noun: "progress", Needs: events,
		Expect: shows(expect.Never{What: clientProgress, After: eventOf("complete", "call_2")})})}) {
		v.Dialects = chat()[:1]
		variants = append(variants, v)
	}
	variants = append(variants, overTransports(harness.Variant{Name: "two-runs", Play: func(t *harness.Trial) {
		t.Script(twoRuns(t, "")...)
		t.Tools(mcp.Script{Programs: []mcp.Program{tells(t, "call_1", nil, nil), tells(t, "call_2", nil, nil)}})
		anna := t.Ask(askFor("anna", true))
		boris := t.Ask(askFor("boris", true))
		t.AwaitEnd(anna)
		t.AwaitEnd(boris)
	}, Checks: append(shown(3), []harness.Check{
		{Name: "keeps-them-apart", Guarantee: id, Noun: "foreign-progress", Needs: events, Expect: shows(expect.Never{What: of(saying(clientProgress, "call_2 "), "anna")})},
		{Name: "mixes-none", Guarantee: id, Noun: "foreign-progress", Needs: events, Expect: shows(expect.Never{What: of(saying(clientProgress, "call_1 "), "boris")})},
	}...)})...)
	return harness.Scenario{
		ID:       "mcp/progress-mapped",
		Claim:    "each call asks for progress, and what its server tells is shown at once with the call's token, but nothing under another token or after the answer",
		Needs:    []harness.Feature{harness.Streaming},
		Variants: variants,
		Checks: []harness.Check{
			// Servers send progress only to those who gave a token.
			{Name: "asks-for-it", Guarantee: id, Noun: "progress-token", Expect: shows(expect.InOrder{toolRequest, saying(toolProgress, "3 token=")})},
			isTold(id, "call_1", "call_1 is over"), isTold(id, "call_2", "call_2 is over"),
		},
	}
}

// twoRuns is a model that has two callers' runs look something up each, one of whom may leave in the call.
func twoRuns(t *harness.Trial, leaver string) []script.Program {
	var out []script.Program
	for _, r := range []struct{ name, call string }{{"anna", "call_1"}, {"boris", "call_2"}} {
		programs := lookingUp(t, r.call)
		if r.name == leaver {
			programs = programs[:1]
		}
		out = append(out, forOnly(r.name, programs...)...)
	}
	return out
}
