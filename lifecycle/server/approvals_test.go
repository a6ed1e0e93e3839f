package server

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/llm"
)

// asksFirst makes the tool of the stubborn server wait for approval.
func asksFirst(t *testing.T, c *Config) {
	withStubborn(t, c)
	c.File.HITL = config.HITL{On: true, RequireApproval: []string{"sl*"}, Route: config.HITLRoute{Mode: config.Conversational, Timeout: time.Minute}}
}

// callsOnce calls the tool, and is content with what becomes of it.
func callsOnce(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
	if last := r.Messages[len(r.Messages)-1]; last.Role == "tool" {
		return items(says("told: "+last.Content), llm.Item{Kind: llm.Finished, Text: "stop"})(ctx, r, emit)
	}
	return calls(ctx, r, emit)
}

// until reads a stream up to the event of this name, and returns its data.
func until(t *testing.T, in *bufio.Reader, name string) map[string]any {
	t.Helper()
	for {
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		if strings.TrimSpace(line) != "event: "+name {
			continue
		}
		data, err := in.ReadString('\n')
		require.NoError(t, err)
		var out map[string]any
		require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &out))
		return out
	}
}

func (f *fixture) decide(id, kind, body string, header ...string) (int, string) {
	f.t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://server.test"+approvalsPath+id, strings.NewReader(body))
	require.NoError(f.t, err)
	r.Header.Set("Content-Type", kind)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := f.client.Do(r)
	require.NoError(f.t, err)
	return resp.StatusCode, text(f.t, resp)
}

const jsonKind = "application/json"

func TestADecisionIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, model(callsOnce), func(c *Config) { asksFirst(t, c) })
		resp := f.ask(streaming)
		in := bufio.NewReader(resp.Body)
		requested := until(t, in, "aura.approval_requested")
		require.Equal(t, map[string]any{"kind": "config_gate", "matched_pattern": "sl*"}, requested["origin"])
		pending := until(t, in, "aura.approval_pending")
		id, _ := pending["decision_id"].(string)
		require.Equal(t, requested["decision_id"], id)
		require.Equal(t, map[string]any{"kind": "single", "session_id": resp.Header.Get("X-Chat-Session-Id")}, pending["scope"])
		require.Equal(t, map[string]any{}, pending["arguments"])
		expires, err := time.Parse(time.RFC3339Nano, pending["expires_at"].(string))
		require.NoError(t, err)
		require.True(t, expires.Equal(time.Now().Add(time.Minute)))
		for _, tt := range []struct {
			name, id, kind, body string
			status               int
			says                 string
		}{
			{"words", id, "text/plain", `{"approved":true}`, 415, "application/json"},
			{"no JSON", id, jsonKind, `{"approved":`, 400, "not valid JSON"},
			{"more", id, jsonKind, `{"approved":true,"x":1}`, 422, "nothing else"},
			{"much", id, jsonKind, strings.Repeat(" ", 10<<20), 413, "at most 65536 bytes"},
			{"a path", "../" + id, jsonKind, `{"approved":true}`, 400, "invalid decision id: ../"},
			{"an escaped path", "..%2f" + id, jsonKind, `{"approved":true}`, 400, "invalid decision id: ..%2f"},
			{"a long id", strings.Repeat("x", 32<<10), jsonKind, `{"approved":true}`, 400, "invalid decision id: " + strings.Repeat("x", 64) + `"`},
			{"another", strings.Repeat("0", 8) + id[8:], jsonKind, `{"approved":true}`, 404, "no pending approval"},
		} {
			status, said := f.decide(tt.id, tt.kind, tt.body)
			require.Equal(t, tt.status, status, tt.name)
			require.Contains(t, said, tt.says, tt.name)
			require.Less(t, len(said), 400, tt.name)
		}
		got := f.do(http.MethodGet, approvalsPath+id, "")
		require.Equal(t, 405, got.StatusCode)
		require.NotEmpty(t, text(t, got))
		status, said := f.decide(id, jsonKind, `{"approved":false,"reason":"not today"}`)
		require.Equal(t, 204, status)
		require.Empty(t, said)
		status, _ = f.decide(id, jsonKind, `{"approved":true}`)
		require.Equal(t, 404, status)
		require.Equal(t, map[string]any{"kind": "denied", "reason": "not today"}, until(t, in, "aura.approval_completed")["outcome"])
		rest, err := io.ReadAll(in)
		require.NoError(t, err)
		require.Contains(t, string(rest), "told: Tool call blocked by human approval denial: not today.")
		require.NotContains(t, string(rest), "aura.tool_start")
		require.NoError(t, resp.Body.Close())
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}

func TestADecisionIsTakenWhileTheServerDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, model(callsOnce), func(c *Config) { asksFirst(t, c) })
		resp := f.ask(streaming)
		in := bufio.NewReader(resp.Body)
		id, _ := until(t, in, "aura.approval_pending")["decision_id"].(string)
		f.server.Signal("SIGTERM")
		time.Sleep(time.Second)
		refused := f.do(http.MethodGet, "/health", "")
		require.Equal(t, 503, refused.StatusCode)
		require.NotEmpty(t, text(t, refused))
		status, _ := f.decide(id, jsonKind, `{"approved":false}`)
		require.Equal(t, 204, status)
		until(t, in, "aura.approval_completed")
		_, err := io.ReadAll(in)
		require.NoError(t, err)
		require.Equal(t, Exit{Clean: true}, <-f.exited)
		require.NoError(t, resp.Body.Close())
		f.client.CloseIdleConnections()
	})
}

func TestAnEndingTellsOfTheApprovalsItTook(t *testing.T) {
	for reason, edit := range map[string]func(c *Config){
		"timeout": func(c *Config) { c.Settings.Stream = 10 * time.Second },
		"run_failed": func(c *Config) {
			c.Hooks.Approval = func(context.Context, llm.ToolCall) {
				time.Sleep(10 * time.Second)
				panic("a fault")
			}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := serve(t, model(callsOnce), func(c *Config) { asksFirst(t, c); edit(c) })
			resp := f.ask(streaming)
			in := bufio.NewReader(resp.Body)
			id, _ := until(t, in, "aura.approval_pending")["decision_id"].(string)
			told := until(t, in, "aura.approval_completed")
			require.Equal(t, map[string]any{"kind": "cancelled", "reason": reason}, told["outcome"])
			require.EqualValues(t, 10_000, told["duration_ms"])
			status, _ := f.decide(id, jsonKind, `{"approved":true}`)
			require.Equal(t, 404, status)
			rest, _ := io.ReadAll(in) // the end of the body comes after the cleanup, which here takes all its time
			require.Contains(t, string(rest), "[DONE]")
			require.NoError(t, resp.Body.Close())
			f.end()
		})
	}
}

func TestAConversationNeedsAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serve(t, model(callsOnce), func(c *Config) { asksFirst(t, c) })
		resp := f.ask(plain)
		require.Equal(t, 400, resp.StatusCode)
		require.Contains(t, text(t, resp), "conversational HITL requires streaming responses")
		f.end()
	})
}

func TestSignedDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secret := strings.Repeat("s", 32)
		f := serve(t, model(callsOnce), func(c *Config) { asksFirst(t, c); c.Settings.Secret = config.Secret(secret) })
		resp := f.ask(streaming)
		in := bufio.NewReader(resp.Body)
		id, _ := until(t, in, "aura.approval_pending")["decision_id"].(string)
		const body = `{"approved":false}`
		sign := func(of, body string) []string {
			stamp := strconv.FormatInt(time.Now().Unix(), 10)
			m := hmac.New(sha256.New, []byte(secret))
			m.Write([]byte(stamp + ".approval-decision:" + of + "." + body))
			return []string{"X-Aura-Timestamp", stamp, "X-Aura-Signature-256", fmt.Sprintf("sha256=%x", m.Sum(nil))}
		}
		const uniform = `{"error":{"message":"invalid or missing webhook signature","type":"unauthorized","param":null,"code":null}}`
		for _, tt := range []struct {
			id, body string
			header   []string
		}{{id, body, nil}, {id, `{"approved":true}`, sign(id, body)}, {id, body, sign("another", body)}, {"x", "", nil}, {id, strings.Repeat("x", 1<<20), nil}} {
			status, said := f.decide(tt.id, jsonKind, tt.body, tt.header...)
			require.Equal(t, 401, status)
			require.Equal(t, uniform, said)
		}
		status, _ := f.decide(id, jsonKind, body, sign(id, body)...)
		require.Equal(t, 204, status)
		_, err := io.ReadAll(in)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		f.end()
	})
}

func TestNewRefusesAnExposedWebhook(t *testing.T) {
	c := valid()
	c.Settings.Secret = config.Secret(strings.Repeat("s", 32))
	c.File.HITL = config.HITL{On: true, Route: config.HITLRoute{Mode: config.WebhookMode, URL: "http://decide.example/"}}
	_, err := New(c)
	require.EqualError(t, err, "hitl.route.url: a signed webhook needs https, except on this machine")
}

func TestAWebhookIsToldWhatTheClientSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newPipes()
		hook := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"approved":false,"reason":%q}`, r.Header.Get("X-User")+" "+r.Header.Get("X-Team")+r.Header.Get("X-Caller")+r.Header.Get("Authorization"))
		})}
		go hook.Serve(at) //nolint:errcheck // it says that it was closed
		t.Cleanup(func() { hook.Close() })
		f := serve(t, model(callsOnce), func(c *Config) {
			asksFirst(t, c)
			c.File.HITL.Route = config.HITLRoute{
				Mode: config.WebhookMode, URL: "http://decide.test/", Timeout: time.Minute,
				Headers: map[string]string{"X-Team": "blue"}, HeadersFromRequest: map[string]string{"X-User": "x-caller"},
			}
			mcp := c.Dial
			c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if addr == "decide.test:80" {
					return at.dial(ctx, network, addr)
				}
				return mcp(ctx, network, addr)
			}
		})
		r, err := http.NewRequest(http.MethodPost, "http://server.test/v1/chat/completions", strings.NewReader(plain))
		require.NoError(t, err)
		r.Header.Set("X-Caller", "ann")
		r.Header.Set("Authorization", "Bearer of-the-client") // nobody said that it goes on
		resp, err := f.client.Do(r)
		require.NoError(t, err)
		require.Contains(t, text(t, resp), "human approval denial: ann blue.", "a run that does not stream can be asked about too")
		f.end()
	})
}
