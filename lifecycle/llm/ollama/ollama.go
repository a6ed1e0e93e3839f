// Package ollama calls providers that speak the native chat dialect of Ollama, always streaming.
package ollama

import (
	"context"
	"net/http"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

// Client calls one provider. It implements [llm.Client] and is safe for concurrent use while its fields stay as they are.
// A call is one HTTP request: see [wire.Call].
type Client struct {
	BaseURL string       // ends before /api/chat: http://host:11434
	APIKey  string       // sent as a bearer token, for servers behind a gateway; empty sends none
	HTTP    *http.Client // nil uses http.DefaultTransport; it should have no Timeout, which would cut long streams
}

var _ llm.Client = (*Client)(nil)

// Stream implements [llm.Client]. A complete answer ended with a line that says it is done; whatever follows is not read.
// Finish reasons are passed on in the words of Chat Completions: a turn that asked for calls finishes with tool_calls.
func (c *Client) Stream(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
	header := http.Header{"Accept": {"application/x-ndjson"}}
	if c.APIKey != "" {
		header.Set("Authorization", "Bearer "+c.APIKey)
	}
	request := wire.Call{
		URL: strings.TrimRight(c.BaseURL, "/") + "/api/chat", Header: header, Body: newRequest(r), Secret: c.APIKey, HTTP: c.HTTP,
	}
	return request.Do(ctx, emit, func(resp *http.Response, emit func(llm.Item) error) error {
		d := decoder{secret: c.APIKey, ids: wire.NewIDs(r.Messages), emit: emit}
		return d.decode(ctx, resp.Body)
	})
}
