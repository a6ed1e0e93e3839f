package scenarios

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// What is expected of tool calls.

// runsTool is a call of a tool that reached its server.
func runsTool(name string) expect.Event {
	return expect.Event{Lane: harness.ToolsLane, Kind: "request", Detail: fmt.Sprintf(`tool="%s" `, name)}
}

// ranTool is the end of its work: tools that say so have their effect right before they answer.
func ranTool(name string) expect.Event {
	return expect.Event{Lane: harness.ToolsLane, Kind: "effect", Detail: fmt.Sprintf(`tool="%s" `, name)}
}

// eventOf is an event of a call, by the call's id.
func eventOf(kind, id string) expect.Event {
	return saying(clientEvent, fmt.Sprintf(`aura.tool_%s {"tool_id":%q,`, kind, id))
}

// argument is the JSON behind a name in the detail of an event.
func argument(e timeline.Event, name string) (v map[string]any) {
	_, text, _ := strings.Cut(e.Detail, name)
	_ = json.Unmarshal([]byte(text), &v) // nil when it is none
	return v
}

// found makes a judgement of a value.
func found(good bool, e timeline.Event, expected, found string) expect.Judgement {
	j := expect.Judgement{Verdict: verdict.Fail, Evidence: verdict.Evidence{Kind: verdict.Value, At: e.At, Expected: expected, Found: found}}
	if e.Seq > 0 {
		j.Evidence.Because = []int{e.Seq}
	}
	if good {
		j.Verdict = verdict.Pass
	}
	return j
}

// missed is the judgement when what it is about never happened.
func missed(x expect.Expectation, what string) expect.Judgement {
	ev := verdict.Evidence{Expected: x.String(), Found: "the situation was not reached: no " + what}
	return expect.Judgement{Verdict: verdict.Inconclusive, Evidence: ev}
}

// getsArguments expects a call to reach a tool with these arguments, in any order and beside the trial's marker.
type getsArguments struct{ tool, object string }

// Judge fails as a value when none of the tool's calls has them.
func (x getsArguments) Judge(h expect.History) expect.Judgement {
	var want map[string]any
	_ = json.Unmarshal([]byte(x.object), &want)
	last := timeline.Event{At: h.End}
	seen := "it was not called"
	for _, e := range h.Events {
		if !runsTool(x.tool).Fits(e) {
			continue
		}
		got := argument(e, " args=")
		delete(got, "trial")
		if reflect.DeepEqual(got, want) {
			return found(true, e, x.String(), "it was")
		}
		last, seen = e, e.Detail
	}
	return found(false, last, x.String(), seen)
}

func (x getsArguments) String() string {
	return fmt.Sprintf("tool %s called with %s", x.tool, x.object)
}

// callEnds expects that nothing is done any more for the first call of a tool, between two instants after the anchor.
type callEnds struct {
	tool     string
	after    expect.Event
	from, to time.Duration
}

// Judge is that of the call's end; it is inconclusive when the tool was not called.
func (x callEnds) Judge(h expect.History) expect.Judgement {
	e, ok := h.Find(runsTool(x.tool))
	if !ok {
		return missed(x, runsTool(x.tool).String())
	}
	return expect.Happens{What: of(toolEnded, e.Ref), After: x.after, From: x.from, To: x.to}.Judge(h)
}

func (x callEnds) String() string {
	return expect.Happens{What: saying(toolEnded, x.tool), After: x.after, From: x.from, To: x.to}.String()
}

// tellsOf expects one of these events to be about a call and to hold a text.
type tellsOf struct {
	among    expect.Event
	id, text string
}

// Judge fails as a value when those about the call do not hold it, or all are about others; it is inconclusive without any.
func (x tellsOf) Judge(h expect.History) expect.Judgement {
	last, seen := timeline.Event{At: h.End}, ""
	for _, e := range h.Events {
		if !x.among.Fits(e) {
			continue
		}
		about := strings.Contains(e.Detail, x.id+" ") || strings.Contains(e.Detail, fmt.Sprintf("%q", x.id))
		if about && strings.Contains(e.Detail, x.text) {
			return found(true, e, x.String(), "it does")
		}
		if about || last.Seq == 0 {
			last, seen = e, e.Detail
		}
	}
	if last.Seq == 0 {
		return missed(x, x.among.String())
	}
	return found(false, last, x.String(), fmt.Sprintf("%.120q", seen))
}

func (x tellsOf) String() string { return fmt.Sprintf("%s of %s saying %s", x.among, x.id, x.text) }

// toldModel is what requests tell the model of calls.
var toldModel = expect.Event{Lane: harness.ProviderLane, Kind: "told"}

// tells is what they tell of one.
func tells(id string) expect.Event { return saying(toldModel, id+" ") }
