package config

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseHITL(t *testing.T) {
	f, err := Parse("c.toml", []byte(minimal+`
[hitl]
require_approval = ["book*", "cancel"]
[hitl.route]
mode = "webhook"
url = "https://decide.example/ask?team=1"
headers = { Authorization = "{{ env.TOKEN }}" }
headers_from_request = { X-User = "x-openwebui-user" }
tool_headers_from_response = { X-Grant = "x-grant" }
`), from(map[string]string{"TOKEN": "t"}))
	require.NoError(t, err)
	require.Equal(t, HITL{On: true, RequireApproval: []string{"book*", "cancel"}, Route: HITLRoute{
		Mode: WebhookMode, Timeout: 5 * time.Minute, URL: "https://decide.example/ask?team=1", Headers: map[string]string{"Authorization": "t"},
		HeadersFromRequest: map[string]string{"X-User": "x-openwebui-user"},
	}}, f.HITL)

	f, err = Parse("c.toml", []byte(minimal+"[hitl.route]\nmode = 'conversational'\n"), from(nil))
	require.NoError(t, err)
	require.Equal(t, HITL{On: true, Route: HITLRoute{Mode: Conversational, Timeout: time.Minute}}, f.HITL)
	require.Equal(t, time.Minute, f.HITL.Window(Windows{}))
	require.Equal(t, time.Second, f.HITL.Window(Windows{Approval: time.Second}))
}

func TestParseHITLErrors(t *testing.T) {
	route := "[hitl.route]\nmode = 'webhook'\nurl = 'https://h/'\n"
	for _, tt := range []struct{ name, text, want string }{
		{"an unknown key", "[hitl]\nrequire_aproval = []\n", `c.toml:8:1: unknown key "hitl.require_aproval": did you mean "hitl.require_approval"?`},
		{"no route", "[hitl]\nrequire_approval = ['*']\n", "c.toml:7:2: hitl.route.mode is missing: want one of conversational, webhook"},
		{"a mode that there is not", "[hitl.route]\nmode = 'email'\n", `c.toml:8:1: hitl.route.mode: "email": want one of conversational, webhook`},
		{"a webhook without its address", "[hitl.route]\nmode = 'webhook'\n", "c.toml:7:7: hitl.route.url is missing"},
		{"an address in a conversation", "[hitl.route]\nmode = 'conversational'\nurl = 'https://h/'\n", "c.toml:9:1: hitl.route.url: only a webhook has it"},
		{"a pattern that other globs have", "[hitl]\nrequire_approval = ['a[bc]']\n[hitl.route]\nmode = 'conversational'\n", `c.toml:8:1: hitl.require_approval: "a[bc]": only * and ? have a meaning in a pattern; []{}!\ cannot stand in it`},
		{"no time", route + "timeout_secs = 0\n", "c.toml:10:1: hitl.route.timeout_secs: 0 is not from 1 to 2592000"},
		{"a header of the server's own", route + "headers = { x-aura-timestamp = '1' }\n", "c.toml:10:13: hitl.route.headers: x-aura-timestamp is set by the server itself"},
		{"a source that is no header", route + "headers_from_request = { A = 'b c' }\n", `c.toml:10:26: hitl.route.headers_from_request.A: "b c" is no name of a header`},
		{"AURA's unused headers are checked too", route + "tool_headers_from_response = { A = 'b c' }\n", `c.toml:10:32: hitl.route.tool_headers_from_response.A: "b c" is no name of a header`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("c.toml", []byte(minimal+tt.text), from(nil))
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestSecretsAreLongAndNotShown(t *testing.T) {
	short := "hush" + strings.Repeat("x", 27)
	_, err := FromEnv(from(map[string]string{"AURA_HITL_WEBHOOK_SECRET": short, "AURA_HITL_WEBHOOK_TOLERANCE_SECS": "86401"}))
	require.EqualError(t, err, "AURA_HITL_WEBHOOK_SECRET: 31 bytes, want at least 32\nAURA_HITL_WEBHOOK_TOLERANCE_SECS=\"86401\": want at most a day")
	_, err = FromEnv(from(map[string]string{"AURA_HITL_WEBHOOK_SECRET_SECONDARY": short + "x"}))
	require.EqualError(t, err, "AURA_HITL_WEBHOOK_SECRET_SECONDARY is set without AURA_HITL_WEBHOOK_SECRET")
}

func TestASignedWebhookIsNotExposed(t *testing.T) {
	signed := Signing{Secret: Secret(strings.Repeat("x", 32))}
	for url, exposed := range map[string]bool{
		"https://decide.example/": false, "http://127.0.0.1:9/": false, "http://[::1]:9/": false, "http://localhost:9/": false,
		"http://decide.example/": true, "http://10.0.0.1/": true, "http://localhost.example/": true, "http://127.0.0.1.example/": true,
	} {
		r := HITLRoute{Mode: WebhookMode, URL: url}
		require.Equal(t, exposed, r.Exposed(signed) != "", url)
		require.Empty(t, r.Exposed(Signing{}), url)
	}
}

func TestWarningsAboutApprovals(t *testing.T) {
	s := Defaults()
	s.Inactivity = 30 * time.Second
	f := File{Agent: Agent{Name: "a"}, HITL: HITL{On: true, RequireApproval: []string{"*"}, Route: HITLRoute{Mode: Conversational, Timeout: time.Minute}}}
	require.Equal(t, []string{`agent "a": approval window (1m0s) is not below the inactivity window (30s): clients that have the same limit give up before a decision comes`}, f.Warnings(s))
	s.Inactivity = 0
	require.Empty(t, f.Warnings(s))
	s.Stream = time.Minute
	s.FirstChunk, s.Heartbeat = 0, 0
	require.Equal(t, []string{`agent "a": approval window (1m0s) is not below the stream window (1m0s): it can never fire`}, f.Warnings(s))
	f.HITL.RequireApproval = nil
	require.Equal(t, []string{`agent "a": [hitl] has no require_approval: no call waits for approval`}, f.Warnings(s))
	s = Defaults()
	f.HITL.RequireApproval = []string{"book"}
	f.Orchestration = Orchestration{Enabled: true, Timeouts: OrchestrationTimeouts{PerCall: time.Minute}}
	require.Equal(t, []string{`agent "a": approval window (1m0s) is not below the orchestration per-call window (1m0s): a worker is given up before its approval expires`}, f.Warnings(s))
}
