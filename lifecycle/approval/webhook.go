package approval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/stallwright/stallwright/lifecycle/run"
)

// Webhook is the route that asks another server, with one POST whose answer is the decision. It follows no redirect: the address that
// was configured decides, and no other.
type Webhook struct {
	URL     string
	Headers http.Header // besides the usual; of one run, so they may hold its caller's credentials
	Timeout time.Duration
	Keys    Keys
	Client  *http.Client // from [NewClient]
}

var _ Route = (*Webhook)(nil)

const (
	dialWindow = 10 * time.Second // for the connection, and again for TLS
	maxHeaders = 64 << 10
)

// NewClient makes the client of webhooks. A nil dial is the network, through the environment's proxy if there is one. Connections are not
// kept: decisions are rare, and a POST on a kept connection may be sent twice.
func NewClient(dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Client {
	t := &http.Transport{
		DialContext: dial, TLSHandshakeTimeout: dialWindow, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeaders,
	}
	if dial == nil {
		t.DialContext = (&net.Dialer{Timeout: dialWindow}).DialContext
		t.Proxy = http.ProxyFromEnvironment
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Window implements [Route].
func (w *Webhook) Window() time.Duration { return w.Timeout }

// Posted implements [Route].
func (w *Webhook) Posted() bool { return false }

type webhookBody struct {
	Version    int                `json:"version"`
	DecisionID string             `json:"decision_id"`
	RequestID  string             `json:"request_id"`
	Scope      run.ApprovalScope  `json:"scope"`
	Origin     run.ApprovalOrigin `json:"origin"`
	Items      []webhookItem      `json:"items"`
}

type webhookItem struct {
	Tool      string          `json:"tool_name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Await implements [Route].
func (w *Webhook) Await(ctx context.Context, q Question, _ <-chan Decision) (Decision, error) {
	d, err := w.ask(ctx, q)
	if ctx.Err() != nil {
		return Decision{}, context.Cause(ctx)
	}
	return d, err
}

func (w *Webhook) ask(ctx context.Context, q Question) (Decision, error) {
	body, err := json.Marshal(webhookBody{1, q.ID, q.RequestID, q.Scope, q.Origin, []webhookItem{{q.Tool, q.Arguments}}})
	if err != nil {
		return Decision{}, errors.New("the request cannot be encoded")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return Decision{}, errors.New("the webhook's address cannot be used")
	}
	for name, values := range w.Headers {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/json")
	if w.Keys.On() {
		w.Keys.sign(r.Header, "approval-request:"+q.ID, body)
	}
	resp, err := w.Client.Do(r)
	if err != nil {
		return Decision{}, errors.New("the webhook cannot be reached") // the error names the address, which may be secret
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return Decision{}, fmt.Errorf("the webhook answered %d", resp.StatusCode)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, MaxDecision+1))
	switch {
	case err != nil:
		return Decision{}, errors.New("the webhook's answer broke off")
	case len(answer) > MaxDecision:
		return Decision{}, fmt.Errorf("the webhook's answer is longer than %d bytes", MaxDecision)
	}
	if w.Keys.On() {
		if err := w.Keys.Verify(resp.Header, q.ID, answer); err != nil {
			return Decision{}, err
		}
	}
	d, err := ParseDecision(answer)
	if err != nil {
		return Decision{}, fmt.Errorf("the webhook's answer: %w", err)
	}
	return d, nil
}
