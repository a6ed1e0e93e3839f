package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// What scenarios about MCP servers share.

// modelTold is what a request tells the model of a tool's result: the call's id, and the text.
var modelTold = expect.Event{Lane: harness.ProviderLane, Kind: "told"}

// onCall is a server that does these steps for its first tool call.
func onCall(steps ...script.Step) mcp.Script {
	return mcp.Script{Programs: []mcp.Program{{Steps: steps}}}
}

// onMethod is a server that does these steps whenever it is asked for a method.
func onMethod(method string, steps ...script.Step) mcp.Script {
	return mcp.Script{Programs: []mcp.Program{{When: mcp.When{Method: method}, Times: script.Any, Steps: steps}}}
}

// lookingUp is a model that has something looked up in each of these calls, a turn for each, and then ends its answer.
func lookingUp(t *harness.Trial, ids ...string) []script.Program {
	var out []script.Program
	for _, id := range ids {
		out = append(out, calling(script.Role{}, t.ToolCall(id, "lookup", fmt.Sprintf(`{"city":"Oslo","for":%q}`, id))))
	}
	return append(out, proper(script.Role{}, script.Text{Chunks: []string{"done"}}))
}

// looksUp has one run make these calls, and waits for its end.
func looksUp(t *harness.Trial, ids ...string) {
	t.Script(lookingUp(t, ids...)...)
	t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
}

// looksUpInTurn has two runs make these calls, one after the other.
func looksUpInTurn(t *harness.Trial, first, second []string) {
	t.Script(slices.Concat(lookingUp(t, first...), lookingUp(t, second...))...)
	t.AwaitEnd(t.Ask(caller.Ask{Name: "first", Prompt: "hello", Stream: true}))
	t.AwaitEnd(t.Ask(caller.Ask{Name: "second", Prompt: "hello again", Stream: true}))
}

// isTold is the check that the model is told this of a call.
func isTold(guarantee, call, text string) harness.Check {
	return harness.Check{Name: "tells-of-" + strings.ReplaceAll(call, "_", "-"), Guarantee: guarantee, Noun: "tool-result", Expect: shows(toldOf{call, text})}
}

// toldOf expects the model to be told of a call, first of all, a result with this text in it. Some dialects put results in JSON.
type toldOf struct{ call, text string }

// Judge fails as a value, also when the model is told nothing.
func (x toldOf) Judge(h expect.History) expect.Judgement {
	if _, ok := h.Find(saying(modelTold, x.call+" ")); ok {
		return expect.Says{What: saying(modelTold, x.call+" "), Text: x.text}.Judge(h)
	}
	ev := verdict.Evidence{Kind: verdict.Value, At: h.End, Expected: x.String(), Found: "the model was told nothing of it"}
	return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
}

func (x toldOf) String() string { return fmt.Sprintf("the model told %q of %s", x.text, x.call) }

// endWell is the check that so many runs end as a success.
func endWell(guarantee string, runs int) harness.Check {
	return harness.Check{Name: "ends-well", Guarantee: guarantee, Noun: "end", Expect: shows(expect.Times{What: clientFinish, Min: runs, Max: runs})}
}

// happens is the check that something happens between two instants after the anchor.
func happens(name, guarantee, noun string, what, after expect.Event, from, to func(harness.At) time.Duration) harness.Check {
	return harness.Check{Name: name, Guarantee: guarantee, Noun: noun, Expect: func(at harness.At) expect.Expectation {
		return expect.Happens{What: what, After: after, From: from(at), To: to(at)}
	}}
}

func connectWindow(at harness.At) time.Duration { return at.Connect }

func once(at harness.At) time.Duration { return at.Once }

// reported expects aura.mcp_status to say of a server that it is in this state.
type reported struct{ server, status string }

// Judge fails as a value when the first status says something else of it, and without one.
func (x reported) Judge(h expect.History) expect.Judgement {
	ev := verdict.Evidence{Kind: verdict.Value, At: h.End, Expected: x.String(), Found: "no aura.mcp_status"}
	e, ok := h.Find(saying(clientEvent, "aura.mcp_status "))
	if !ok {
		return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
	}
	ev.At, ev.Because, ev.Found = e.At, []int{e.Seq}, "it is not there"
	var told struct {
		Servers []struct {
			Name   string `json:"server_name"`
			Status string
		}
	}
	_, data, _ := strings.Cut(e.Detail, " ")
	_ = json.Unmarshal([]byte(data), &told) // what cannot be read names nobody
	for _, s := range told.Servers {
		if s.Name == x.server {
			ev.Found = s.Status
		}
	}
	if ev.Found != x.status {
		return expect.Judgement{Verdict: verdict.Fail, Evidence: ev}
	}
	return expect.Judgement{Verdict: verdict.Pass, Evidence: ev}
}

func (x reported) String() string { return "aura.mcp_status with " + x.server + " " + x.status }

// goneAt expects the first call of this kind to be over for its server, or the peer to have left it, between two instants after the client asked.
type goneAt struct {
	call     expect.Event
	from, to time.Duration
}

// Judge fails as a deadline or as early, and is inconclusive when there was no call.
func (x goneAt) Judge(h expect.History) expect.Judgement {
	call, ok := h.Find(x.call)
	if !ok {
		return expect.Happens{What: toolEnded, After: x.call}.Judge(h) // says so
	}
	over := of(toolEnded, call.Ref)
	if left, ok := h.Find(of(toolLeft, call.Ref)); ok {
		if ended, ok := h.Find(over); !ok || left.Seq < ended.Seq {
			over = of(toolLeft, call.Ref) // what a server goes on with that nobody listens to is its own affair
		}
	}
	return expect.Happens{What: over, After: clientAsk, From: x.from, To: x.to}.Judge(h)
}

func (x goneAt) String() string {
	return fmt.Sprintf("the call over %s to %s after client ask", x.from, x.to)
}
