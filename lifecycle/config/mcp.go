package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	defaultConnectTimeout = 10 * time.Second
	maxServers            = 64
)

// revisions are those of MCP that can be pinned.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// rawMCP has the types of the table [mcp].
type rawMCP struct {
	ConnectTimeout *int64                  `toml:"connect_timeout_secs"`
	Sanitize       *bool                   `toml:"sanitize_schemas"` // AURA's; schemas are passed on as they are, either way
	Servers        map[string]rawMCPServer `toml:"servers"`
}

type rawMCPServer struct {
	Transport          *string           `toml:"transport"`
	URL                *string           `toml:"url"`
	Headers            map[string]string `toml:"headers"`
	HeadersFromRequest map[string]string `toml:"headers_from_request"`
	Cmd                []string          `toml:"cmd"`
	Args               []string          `toml:"args"`
	Env                map[string]string `toml:"env"`
	ProtocolVersion    *string           `toml:"protocol_version"`
}

// mcp checks the table [mcp]. Its servers come in the order of their names.
func (d *document) mcp(raw *rawMCP) MCP {
	out := MCP{ConnectTimeout: d.seconds("mcp.connect_timeout_secs", raw.ConnectTimeout, defaultConnectTimeout, 1)}
	names := slices.Sorted(maps.Keys(raw.Servers))
	if len(names) > maxServers {
		d.fail(d.at["mcp.servers"], "mcp.servers: %d servers, want at most %d", len(names), maxServers)
		return out
	}
	for _, name := range names {
		s := raw.Servers[name]
		out.Servers = append(out.Servers, d.mcpServer(name, &s))
	}
	return out
}

func (d *document) mcpServer(name string, raw *rawMCPServer) MCPServer {
	key := "mcp.servers." + name
	s := MCPServer{
		Name: name, Transport: d.under(key, "transport", raw.Transport, required, among([]string{StreamableHTTP, SSE, Stdio})),
		ProtocolVersion: d.under(key, "protocol_version", raw.ProtocolVersion, "", among(revisions)),
	}
	switch s.Transport {
	case Stdio:
		d.stdio(key, raw, &s)
	case StreamableHTTP, SSE:
		d.http(key, raw, &s)
	}
	return s
}

// under is the value of a key in a table whose name the schema does not know. What is missing is told where the table stands.
func (d *document) under(table, word string, value *string, otherwise string, check func(string) string) string {
	if value == nil && otherwise == required {
		d.fail(d.at[table], "%s.%s is missing", table, word)
		return ""
	}
	return d.text(table+"."+word, value, otherwise, check)
}

func (d *document) stdio(key string, raw *rawMCPServer, s *MCPServer) {
	for word, given := range map[string]bool{"url": raw.URL != nil, "headers": raw.Headers != nil, "headers_from_request": raw.HeadersFromRequest != nil} {
		if given {
			d.fail(d.at[key+"."+word], "%s.%s: a server over stdio has none", key, word)
		}
	}
	if len(raw.Cmd) == 0 || strings.TrimSpace(raw.Cmd[0]) == "" {
		d.fail(d.at[key], "%s.cmd is missing: the program, as an array of strings", key)
		return
	}
	for _, word := range append(slices.Clone(raw.Cmd), raw.Args...) {
		text, _ := d.fill(key+".cmd", word)
		s.Command = append(s.Command, text)
	}
	s.Env = d.filled(key+".env", raw.Env, nil)
}

func (d *document) http(key string, raw *rawMCPServer, s *MCPServer) {
	for word, given := range map[string]bool{"cmd": raw.Cmd != nil, "args": raw.Args != nil, "env": raw.Env != nil} {
		if given {
			d.fail(d.at[key+"."+word], "%s.%s: only a server over stdio has it", key, word)
		}
	}
	s.URL = d.under(key, "url", raw.URL, required, endpoint)
	s.Headers = d.filled(key+".headers", raw.Headers, headerSafe)
	s.HeadersFromRequest = d.filled(key+".headers_from_request", raw.HeadersFromRequest, headerSafe)
}

// filled are the values of a table of strings, its templates filled in.
func (d *document) filled(table string, values map[string]string, check func(string) string) map[string]string {
	if len(values) == 0 {
		return nil
	}
	out := make(map[string]string, len(values))
	for word, value := range values {
		out[word] = d.text(table+"."+word, &value, "", check)
	}
	return out
}

// endpoint shows nothing of a wrong URL: what is in it may be a credential.
func endpoint(s string) string {
	u := webURL(s)
	switch {
	case u == nil:
		return noWebURL
	case u.User != nil:
		return "must not hold credentials: they belong into headers"
	case u.Fragment != "":
		return fmt.Sprintf("must have no fragment: %d bytes behind the #", len(u.Fragment))
	}
	return ""
}
