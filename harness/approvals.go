package harness

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// ApproverLane is the lane of the fake approval webhook.
const ApproverLane = approver.Lane

// PersonLane is the lane of whoever decides about tool calls over the server's own endpoint: a client's other requests.
const PersonLane = "person"

// Approving says how decisions about tool calls come to the server under test. Where they do, calls of the tools in [Approved] wait for
// one. Empty is that no call waits.
type Approving string

// The ways of decisions.
const (
	NoApproval     Approving = ""
	Conversational Approving = "conversational" // whoever reads the stream decides, over POST /v1/approvals/{decision_id}
	Webhook        Approving = "webhook"        // the server asks a webhook, and both sign with [ApprovalSecret]
)

// Approved are the patterns of the tools whose calls wait.
func Approved() []string { return []string{"boo*", "cancel"} }

// ApprovalSecret signs the questions to the fake webhook and its answers, and the decisions of [Set.Signed]. It protects nothing.
const ApprovalSecret = "stallwright-approvals-are-played-with-this"

// ApprovalPath is where the fake webhook is asked.
const ApprovalPath = "/approve"

// Approver tells the fake webhook what to answer in this trial: once, before the first Ask.
func (t *Trial) Approver(programs ...approver.Program) {
	err := t.Stage.Approver.Open(t.toolMarker(), &approver.Session{Script: programs, Timeline: t.Stage.Timeline, Gates: t.gates})
	if err != nil {
		panic(err)
	}
	t.approver = programs
	t.approving = true
}

// releaseApprover ends the trial's session on the fake webhook, and returns what of its script was not played.
func (t *Trial) releaseApprover() []string {
	if !t.approving {
		return nil
	}
	return t.Stage.Approver.Release(t.toolMarker())
}

// Asked is the event that tells the client of a decision that can be given.
var Asked = expect.Event{Lane: caller.Lane, Kind: "event", Detail: "aura.approval_pending "}

// AwaitAsked waits until the client is told of the n-th decision that can be given, from 1, and returns its id. Play ends there when none
// comes, or when it has no id.
func (t *Trial) AwaitAsked(n int) string {
	what := Asked
	what.Nth = n
	e := t.Await(what)
	id := DecisionID(e)
	if id == "" {
		t.end("%s has no decision_id", what)
	}
	return id
}

// DecisionID is the id in an event that is [Asked], "" when it has none.
func DecisionID(e timeline.Event) string {
	_, data, _ := strings.Cut(e.Detail, " ")
	var told struct {
		ID string `json:"decision_id"`
	}
	_ = json.Unmarshal([]byte(data), &told) // what cannot be read has none
	return told.ID
}

// Decide gives a decision on the approval of this id, as a request of its own in the [PersonLane], and returns at once. The name is its Ref.
// It is signed where that is asked for.
func (t *Trial) Decide(name, id string, approved bool) *caller.Request {
	body := decision(name, approved)
	var header http.Header
	if t.Case.Variant.Set.Signed {
		header = approver.SignDecision(ApprovalSecret, id, body, time.Now())
	}
	return t.decide(name, id, body, header)
}

// DecideUnsigned gives one without a signature.
func (t *Trial) DecideUnsigned(name, id string, approved bool) *caller.Request {
	return t.decide(name, id, decision(name, approved), nil)
}

func decision(name string, approved bool) []byte {
	return fmt.Appendf(nil, `{"approved":%t,"reason":"as %s says"}`, approved, name)
}

func (t *Trial) decide(name, id string, body []byte, header http.Header) *caller.Request {
	person := caller.Caller{Dial: t.Stage.Dial, Address: t.Stage.Address, Base: t.Stage.Base, Timeline: t.Stage.Timeline, Lane: PersonLane}
	r := person.Ask(caller.Ask{Name: name, Path: "/v1/approvals/" + id, Header: header, Body: string(body)})
	t.decisions = append(t.decisions, r)
	return r
}

// DecideAll says yes, once more, to everything that the client was ever asked, and waits for the answers. Their Refs are late-1 and so on.
func (t *Trial) DecideAll() {
	var ids []string
	for _, e := range t.Stage.Timeline.Events() {
		if e.Lane == caller.Lane && e.Kind == "event" && strings.HasPrefix(e.Detail, "aura.approval_") {
			if id := DecisionID(e); id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	for n, id := range ids {
		t.AwaitEnd(t.Decide(fmt.Sprintf("late-%d", n+1), id, true))
	}
}

// leaveDecisions ends what is still under way of them.
func (t *Trial) leaveDecisions() {
	for _, r := range t.decisions {
		r.Abandon()
	}
}

// longApproval is above every clock of a run: for cases in which no approval is to expire.
const longApproval = time.Hour
