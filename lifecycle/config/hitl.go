package config

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// The modes of approvals.
const (
	Conversational = "conversational" // whoever reads the stream decides, over POST /v1/approvals
	WebhookMode    = "webhook"        // another server is asked
)

const (
	conversationalTimeout = time.Minute
	webhookTimeout        = 5 * time.Minute
	maxRules              = 1000
	minSecret             = 32 // bytes, as many as HMAC-SHA256 gives
	maxTolerance          = 24 * time.Hour
)

// HITL is the table [hitl]: which tool calls wait for a person's decision, and how it comes. It is on when the table is there.
type HITL struct {
	On              bool
	RequireApproval []string // require_approval, patterns of tool names; none asks for nothing
	Route           HITLRoute
}

// HITLRoute is the table [hitl.route].
type HITLRoute struct {
	Mode               string            // mode: conversational or webhook
	Timeout            time.Duration     // timeout_secs, how long a decision is waited for; 60 s and 300 s when not given
	URL                string            // url; of webhook
	Headers            map[string]string // headers sent with every question; of webhook
	HeadersFromRequest map[string]string // headers_from_request: the header sent, by the header of the client's request that it is copied from; of webhook
}

// Signing is how decisions are signed, and the questions of webhooks.
type Signing struct {
	Secret    Secret        // AURA_HITL_WEBHOOK_SECRET, at least 32 bytes; nothing is signed when empty
	Secondary Secret        // AURA_HITL_WEBHOOK_SECRET_SECONDARY, verifies as well, so that secrets can be changed; may be empty
	Tolerance time.Duration // AURA_HITL_WEBHOOK_TOLERANCE_SECS, how far a timestamp may be off, at most a day
}

// rawHITL has the types of the table [hitl].
type rawHITL struct {
	RequireApproval []string `toml:"require_approval"`
	Route           struct {
		Mode               *string           `toml:"mode"`
		Timeout            *int64            `toml:"timeout_secs"`
		URL                *string           `toml:"url"`
		Headers            map[string]string `toml:"headers"`
		HeadersFromRequest map[string]string `toml:"headers_from_request"`
		ToolHeaders        map[string]string `toml:"tool_headers_from_response"` // AURA's, and unused there too
	} `toml:"route"`
}

// hitl checks the table [hitl].
func (d *document) hitl(raw *rawHITL) HITL {
	if raw == nil {
		return HITL{}
	}
	out := HITL{On: true, RequireApproval: raw.RequireApproval}
	if len(raw.RequireApproval) > maxRules {
		d.fail(d.at["hitl.require_approval"], "hitl.require_approval: %d patterns, want at most %d", len(raw.RequireApproval), maxRules)
		return out
	}
	for _, pattern := range raw.RequireApproval {
		if wrong := rule(pattern); wrong != "" {
			d.fail(d.at["hitl.require_approval"], "hitl.require_approval: %s: %s", quote(pattern), wrong)
		}
	}
	const key = "hitl.route"
	r := &raw.Route
	at := d.at["hitl"]
	if r.Mode == nil {
		d.fail(at, "%s.mode is missing: %s", key, choices([]string{Conversational, WebhookMode}))
		return out
	}
	out.Route = HITLRoute{Mode: d.text(key+".mode", r.Mode, "", among([]string{Conversational, WebhookMode})), Timeout: webhookTimeout}
	switch out.Route.Mode {
	case Conversational:
		out.Route.Timeout = conversationalTimeout
		for word, given := range map[string]bool{"url": r.URL != nil, "headers": r.Headers != nil, "headers_from_request": r.HeadersFromRequest != nil, "tool_headers_from_response": r.ToolHeaders != nil} {
			if given {
				d.fail(d.at[key+"."+word], "%s.%s: only a webhook has it", key, word)
			}
		}
	case WebhookMode:
		out.Route.URL = d.under(key, "url", r.URL, required, endpoint)
		out.Route.Headers = d.headers(key+".headers", r.Headers, headerSafe)
		out.Route.HeadersFromRequest = d.headers(key+".headers_from_request", r.HeadersFromRequest, headerName)
		d.headers(key+".tool_headers_from_response", r.ToolHeaders, headerName)
	}
	out.Route.Timeout = d.seconds(key+".timeout_secs", r.Timeout, out.Route.Timeout, 1)
	return out
}

// rule says what is wrong with a pattern, or "". Signs that other globs give a meaning are refused, so that nobody relies on a rule that
// never matches.
func rule(pattern string) string {
	switch {
	case pattern == "":
		return "must not be empty"
	case strings.ContainsAny(pattern, `[]{}!\`):
		return `only * and ? have a meaning in a pattern; []{}!\ cannot stand in it`
	}
	return ""
}

// headers are the values of a table whose words are names of headers.
func (d *document) headers(table string, values map[string]string, check func(string) string) map[string]string {
	for name := range values {
		if wrong := headerName(name); wrong != "" {
			d.fail(d.at[table+"."+name], "%s: %s", table, wrong)
		}
	}
	return d.filled(table, values, check)
}

func headerName(s string) string {
	if !httpguts.ValidHeaderFieldName(s) {
		return quote(s) + " is no name of a header"
	}
	switch http.CanonicalHeaderKey(s) {
	case "Host", "Content-Length", "Transfer-Encoding", "Connection", "X-Aura-Signature-256", "X-Aura-Timestamp":
		return s + " is set by the server itself"
	}
	return ""
}

// secret takes a secret; what it wants instead shows nothing of a wrong one.
func secret(to *Secret) func(string) string {
	return func(v string) string {
		if len(v) < minSecret {
			return fmt.Sprintf("%d bytes, want at least %d", len(v), minSecret)
		}
		*to = Secret(v)
		return ""
	}
}

// readSigning reads the secrets of webhooks.
func (e *env) readSigning(s *Signing) {
	e.secretly("AURA_HITL_WEBHOOK_SECRET", secret(&s.Secret))
	e.secretly("AURA_HITL_WEBHOOK_SECRET_SECONDARY", secret(&s.Secondary))
	e.read("AURA_HITL_WEBHOOK_TOLERANCE_SECS", func(v string) string {
		var d time.Duration
		if wanted := positive(&d)(v); wanted != "" {
			return wanted
		}
		if d > maxTolerance {
			return "want at most a day"
		}
		s.Tolerance = d
		return ""
	})
	if s.Secondary != "" && s.Secret == "" && len(e.errs) == 0 {
		e.errs = append(e.errs, fmt.Errorf("AURA_HITL_WEBHOOK_SECRET_SECONDARY is set without AURA_HITL_WEBHOOK_SECRET"))
	}
}

// Exposed says what is wrong with sending signed questions to this webhook, or "". Whoever can read a question can see which calls wait;
// plain HTTP is taken only to this machine itself, where nobody is between: a proxy beside the server, or a test.
func (r HITLRoute) Exposed(s Signing) string {
	u, err := url.Parse(r.URL)
	if r.Mode != WebhookMode || s.Secret == "" || err != nil || u.Scheme != "http" {
		return ""
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost") {
		return ""
	}
	return "hitl.route.url: a signed webhook needs https, except on this machine"
}

// Window is how long a decision is waited for: HITL_TIMEOUT_SECS, or the file's.
func (h HITL) Window(w Windows) time.Duration {
	return cmp.Or(w.Approval, h.Route.Timeout)
}

// warnings are the contradictions between the route and the server's windows.
func (h HITL) warnings(s Settings, o Orchestration, warn func(format string, args ...any)) {
	if !h.On {
		return
	}
	if len(h.RequireApproval) == 0 {
		warn("[hitl] has no require_approval: no call waits for approval")
		return
	}
	window := h.Window(s.Windows)
	if s.Inactivity > 0 && window >= s.Inactivity {
		warn("approval window (%v) is not below the inactivity window (%v): clients that have the same limit give up before a decision comes", window, s.Inactivity)
	}
	if s.Stream > 0 && window >= s.Stream {
		warn("approval window (%v) is not below the stream window (%v): it can never fire", window, s.Stream)
	}
	if t := o.Timeouts.Within(s.Windows); o.Enabled && t.PerCall > 0 && window >= t.PerCall {
		warn("approval window (%v) is not below the orchestration per-call window (%v): a worker is given up before its approval expires", window, t.PerCall)
	}
	if h.Route.Mode == Conversational && s.Secret != "" {
		warn("AURA_HITL_WEBHOOK_SECRET is set: decisions on /v1/approvals must be signed")
	}
}
