package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseMCP(t *testing.T) {
	f, err := Parse("c.toml", []byte(minimal+`
[mcp]
connect_timeout_secs = 3
sanitize_schemas = false
[mcp.servers.web]
transport = "http_streamable"
url = "http://127.0.0.1:9102/mcp?x=1"
headers = { X-Static = "{{ env.TOKEN }}" }
[mcp.servers.web.headers_from_request]
Authorization = "authorization"
[mcp.servers.child]
transport = "stdio"
cmd = ["server", "--stdio"]
args = ["{{ env.TOKEN }}"]
env = { MODE = "test" }
[mcp.servers.old]
transport = "sse"
url = "https://tools.example/sse"
protocol_version = "2024-11-05"
`), from(map[string]string{"TOKEN": "t"}))
	require.NoError(t, err)
	require.Equal(t, MCP{ConnectTimeout: 3 * time.Second, Servers: []MCPServer{
		{Name: "child", Transport: Stdio, Command: []string{"server", "--stdio", "t"}, Env: map[string]string{"MODE": "test"}},
		{Name: "old", Transport: SSE, URL: "https://tools.example/sse", ProtocolVersion: "2024-11-05"},
		{Name: "web", Transport: StreamableHTTP, URL: "http://127.0.0.1:9102/mcp?x=1", Headers: map[string]string{"X-Static": "t"},
			HeadersFromRequest: map[string]string{"Authorization": "authorization"}},
	}}, f.MCP)
}

func TestParseMCPErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"an unknown key of a server", "[mcp.servers.a]\ntransprt = 'sse'\n", `c.toml:8:1: unknown key "mcp.servers.a.transprt": did you mean "mcp.servers.a.transport"?`},
		{"a server without its transport", "[mcp.servers.a]\nurl = 'http://x'\n", "c.toml:7:14: mcp.servers.a.transport is missing"},
		{"a transport that there is not", "[mcp.servers.a]\ntransport = 'http'\n", `c.toml:8:1: mcp.servers.a.transport: "http": want one of http_streamable, sse, stdio`},
		{"a server without its address", "[mcp.servers.a]\ntransport = 'sse'\n", "c.toml:7:14: mcp.servers.a.url is missing"},
		{"credentials in an address are not shown", "[mcp.servers.a]\ntransport = 'sse'\nurl = 'http://k:s@h/'\n", "c.toml:9:1: mcp.servers.a.url: must not hold credentials: they belong into headers"},
		{"a child without its program", "[mcp.servers.a]\ntransport = 'stdio'\n", "c.toml:7:14: mcp.servers.a.cmd is missing: the program, as an array of strings"},
		{"a child with an address", "[mcp.servers.a]\ntransport = 'stdio'\ncmd = ['x']\nurl = 'http://h/'\n", "c.toml:10:1: mcp.servers.a.url: a server over stdio has none"},
		{"a program over HTTP", "[mcp.servers.a]\ntransport = 'sse'\nurl = 'http://h/'\nargs = ['x']\n", "c.toml:10:1: mcp.servers.a.args: only a server over stdio has it"},
		{"a header with a line end", "[mcp.servers.a]\ntransport = 'sse'\nurl = 'http://h/'\nheaders = { A = \"x\\ny\" }\n", "c.toml:10:13: mcp.servers.a.headers.A: holds a control character, such as a line end"},
		{"no time to connect", "[mcp]\nconnect_timeout_secs = 0\n", "c.toml:8:1: mcp.connect_timeout_secs: 0 is not from 1 to 2592000"},
		{"a revision that there is not", "[mcp.servers.a]\ntransport = 'sse'\nurl = 'http://h/'\nprotocol_version = '2025-01-01'\n", `c.toml:10:1: mcp.servers.a.protocol_version: "2025-01-01": want one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("c.toml", []byte(minimal+tt.text), from(nil))
			require.EqualError(t, err, tt.want)
		})
	}
}
