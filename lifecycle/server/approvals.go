package server

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/approval"
	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/run"
)

const approvalsPath = "/v1/approvals/"

// approvals is what a server has for its runs' approvals.
type approvals struct {
	desk    approval.Desk
	keys    approval.Keys
	webhook *http.Client
}

func newApprovals(c Config) *approvals {
	keys := approval.Keys{Primary: string(c.Settings.Secret), Secondary: string(c.Settings.Secondary), Tolerance: c.Settings.Tolerance}
	return &approvals{keys: keys, webhook: approval.NewClient(c.Dial)}
}

// gate is what the calls of one run, or of one task of it, pass; nil lets all through.
func (x *exchange) gate(scope run.ApprovalScope) agent.Gate {
	s := x.server
	hitl := s.file.HITL
	if len(hitl.RequireApproval) == 0 {
		return nil
	}
	window := hitl.Window(s.settings.Windows)
	var route approval.Route = approval.Conversation{Timeout: window}
	if hitl.Route.Mode == config.WebhookMode {
		route = &approval.Webhook{
			URL: hitl.Route.URL, Headers: webhookHeaders(hitl.Route, x.r.Header), Timeout: window, Keys: s.approvals.keys, Client: s.approvals.webhook,
		}
	}
	return approval.Gate{
		Rules: hitl.RequireApproval, Route: route, Desk: &s.approvals.desk, Scope: scope, RequestID: x.run.ID(), Asked: s.asked,
	}
}

// webhookHeaders are the configured ones and those of the client's request that go on.
func webhookHeaders(r config.HITLRoute, from http.Header) http.Header {
	h := http.Header{}
	for name, value := range r.Headers {
		h.Set(name, value)
	}
	for name, source := range r.HeadersFromRequest {
		if values := from.Values(source); len(values) > 0 {
			h[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
		}
	}
	return h
}

// mustStream is the problem of a request whose approvals would reach nobody.
func (s *Server) mustStream() *problem {
	if len(s.file.HITL.RequireApproval) == 0 || s.file.HITL.Route.Mode != config.Conversational {
		return nil
	}
	return newProblem(http.StatusBadRequest, invalidRequest,
		"conversational HITL requires streaming responses; set `stream: true` so approval prompts can be delivered over SSE")
}

// decide takes a decision on a pending approval.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(r.URL.EscapedPath(), approvalsPath)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, approval.MaxDecision))
	if err != nil {
		w.Header().Set("Connection", "close") // the rest of the body may still come
	}
	if s.approvals.keys.On() && (err != nil || s.approvals.keys.Verify(r.Header, id, body) != nil) {
		newProblem(http.StatusUnauthorized, "unauthorized", "invalid or missing webhook signature").write(w)
		return
	}
	if p := s.decided(r, id, body, err); p != nil {
		p.write(w)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// decided gives the decision in a body to the approval that waits for it. The order of the checks is AURA's.
func (s *Server) decided(r *http.Request, id string, body []byte, broken error) *problem {
	var tooLarge *http.MaxBytesError
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind != "application/json":
		return newProblem(http.StatusUnsupportedMediaType, invalidRequest, "a decision is application/json")
	case errors.As(broken, &tooLarge):
		return newProblem(http.StatusRequestEntityTooLarge, invalidRequest, fmt.Sprintf("a decision is at most %d bytes", approval.MaxDecision))
	case broken != nil:
		return newProblem(http.StatusBadRequest, invalidRequest, "the request body cannot be read")
	}
	d, err := approval.ParseDecision(body)
	switch {
	case errors.Is(err, approval.ErrForm):
		return newProblem(http.StatusUnprocessableEntity, invalidRequest, err.Error())
	case err != nil:
		return newProblem(http.StatusBadRequest, invalidRequest, "the request body is "+err.Error())
	case !approval.ValidID(id):
		return newProblem(http.StatusBadRequest, invalidRequest, "invalid decision id: "+id[:min(len(id), 64)])
	case !s.approvals.desk.Decide(id, d):
		return newProblem(http.StatusNotFound, "not_found", "no pending approval for decision id "+id)
	}
	return nil
}

type approvalRequested struct {
	ID     string             `json:"decision_id"`
	Tool   string             `json:"tool_name"`
	Origin run.ApprovalOrigin `json:"origin"`
	Scope  run.ApprovalScope  `json:"scope"`
}

type approvalPending struct {
	ID        string             `json:"decision_id"`
	Tool      string             `json:"tool_name"`
	Arguments any                `json:"arguments"`
	Origin    run.ApprovalOrigin `json:"origin"`
	Scope     run.ApprovalScope  `json:"scope"`
	Expires   string             `json:"expires_at"` // RFC 3339
}

type approvalCompleted struct {
	ID       string              `json:"decision_id"`
	Outcome  run.ApprovalOutcome `json:"outcome"`
	Duration int64               `json:"duration_ms"`
	Scope    run.ApprovalScope   `json:"scope"`
}

// asking is an approval that the client was told of, and of whose end it was not.
type asking struct {
	id    string
	since time.Time
	scope run.ApprovalScope
}

// approvalEvent writes an event about an approval, also when custom events are off: without it nobody could decide.
func (o *stream) approvalEvent(e run.Event) {
	switch e := e.(type) {
	case run.ApprovalRequested:
		o.asking = append(o.asking, asking{e.ID, time.Now(), e.Scope})
		o.write(eventFrame("aura.approval_requested", approvalRequested{e.ID, e.Tool, e.Origin, e.Scope}))
	case run.ApprovalPending:
		expires := e.Expires.UTC().Format(time.RFC3339Nano)
		o.write(eventFrame("aura.approval_pending", approvalPending{e.ID, e.Tool, e.Arguments, e.Origin, e.Scope, expires}))
	case run.ApprovalCompleted:
		o.asking = slices.DeleteFunc(o.asking, func(a asking) bool { return a.id == e.ID })
		o.write(eventFrame("aura.approval_completed", approvalCompleted{e.ID, e.Outcome, e.Duration.Milliseconds(), e.Scope}))
	}
}

// cancelAsking tells the client of the approvals that the run's ending took along. The calls that waited cannot any more: an ended run
// takes no event.
func (o *stream) cancelAsking(ending run.Ending) {
	for _, a := range o.asking {
		outcome := run.ApprovalOutcome{Kind: "cancelled", Reason: ending.Cancelled()}
		o.write(eventFrame("aura.approval_completed", approvalCompleted{a.id, outcome, time.Since(a.since).Milliseconds(), a.scope}))
	}
	o.asking = nil
}
