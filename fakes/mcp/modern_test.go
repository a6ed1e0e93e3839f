package mcp_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
)

func TestTheModernRevision(t *testing.T) {
	tool := slow
	tool.Progress = mcp.Progress{Every: 4 * time.Second}
	inBubble(t, withTools(tool), func(w *world) {
		ctx := context.Background()
		status, body := w.all(w.modern(ctx, "1", "server/discover", ""))
		require.Equal(t, 200, status)
		require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],
			"capabilities":{"logging":{},"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"stallwright","version":"1.0.0"}}}}`, body)
		_, body = w.all(w.modern(ctx, "1", "tools/list", ""))
		require.Contains(t, body, `"tools":[{"name":"slow"`)
		require.Contains(t, body, `"ttlMs":0,"cacheScope":"private"`)
		r := w.modern(ctx, `"a"`, "tools/call", `"name":"slow"`)
		status, body = w.all(r)
		require.Equal(t, 200, status)
		require.Equal(t, []string{`{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}}`}, datas(body))
		require.Empty(t, w.at("violation"), "ids may be used again, and there is no session")
		require.Empty(t, w.at("session"))
		r = w.request(ctx, "")
		r.Method, r.Body, r.ContentLength = "GET", nil, 0
		r.Header.Set("MCP-Protocol-Version", mcp.Modern)
		status, _ = w.all(r)
		require.Equal(t, 405, status)
	})
}

func TestWhatModernClientsOwe(t *testing.T) {
	tests := []struct {
		name, header, value string
		from, to            string // of the body
		status              int
		want                string // of the body
	}{
		{"the revision in a header", "MCP-Protocol-Version", "", "none", "none", 400, `"code":-32020`},
		{"the same revision", "MCP-Protocol-Version", "2025-11-25", "none", "none", 400, `"code":-32020`},
		{"the method in a header", "Mcp-Method", "", "none", "none", 400, `"code":-32020`},
		{"the tool in a header", "Mcp-Name", "fast", "none", "none", 400, `"code":-32020`},
		{"a revision that is spoken", "MCP-Protocol-Version", "2027-01-01", "2026-07-28", "2027-01-01", 400, `"code":-32022`},
		{"its capabilities", "Mcp-Method", "tools/call", "clientCapabilities", "else", 400, `"code":-32602`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, withTools(slow), func(w *world) {
				old := w.modern(context.Background(), "1", "tools/call", `"name":"slow"`)
				body, err := old.GetBody()
				require.NoError(t, err)
				text, err := io.ReadAll(body)
				require.NoError(t, err)
				r := w.request(context.Background(), strings.ReplaceAll(string(text), test.from, test.to))
				r.Header = old.Header
				r.Header.Set(test.header, test.value)
				status, answer := w.all(r)
				require.Equal(t, test.status, status)
				require.Contains(t, answer, test.want)
				require.NotEmpty(t, w.at("refused"))
			})
		})
	}
}

func TestErasOfServers(t *testing.T) {
	discover := func(w *world) (int, string) {
		return w.all(w.modern(context.Background(), "1", "server/discover", ""))
	}
	list := func(w *world) (int, string) {
		return w.all(w.modern(context.Background(), "1", "tools/list", ""))
	}
	begin := func(w *world) (int, string) { return w.ask(initialize) }
	old := []string{mcp.V20250618, mcp.V20250326}
	tests := []struct {
		name      string
		revisions []string
		ask       func(*world) (int, string)
		status    int
		want      string
	}{
		{"an old server knows no discover", old, discover, 200, `"code":-32601`},
		{"an old server refuses the revision", old, list, 400, `"supported":["2025-06-18","2025-03-26"],"requested":"2026-07-28"`},
		{"an old server offers its newest revision", old, begin, 200, `"protocolVersion":"2025-06-18"`},
		{"a modern server knows no initialize", []string{mcp.Modern}, begin, 400, `"supported":["2026-07-28"],"requested":"2025-11-25"`},
		{"a modern server has no unknown method", []string{mcp.Modern}, func(w *world) (int, string) {
			return w.all(w.modern(context.Background(), "1", "ping", ""))
		}, 404, `"code":-32601`},
		{"a server of both speaks the modern one", nil, list, 200, `"tools":[]`},
		{"a server of both speaks the old one", nil, begin, 200, `"protocolVersion":"2025-11-25"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, mcp.Script{Revisions: test.revisions}, func(w *world) {
				status, body := test.ask(w)
				require.Equal(t, test.status, status)
				require.Contains(t, body, test.want)
			})
		})
	}
}

func TestANotificationCancelsNothingInTheModernRevisionOverHTTP(t *testing.T) {
	inBubble(t, withTools(slow), func(w *world) {
		time.AfterFunc(time.Second, func() {
			r := w.request(context.Background(), cancel("1"))
			r.Header.Set("MCP-Protocol-Version", mcp.Modern)
			w.all(r)
		})
		w.all(w.modern(context.Background(), "1", "tools/call", `"name":"slow"`))
		require.Equal(t, seconds(10), w.at("result"))
		require.Equal(t, seconds(1), w.at("cancelled"))
		require.Equal(t, seconds(1), w.at("violation"))
	})
}
