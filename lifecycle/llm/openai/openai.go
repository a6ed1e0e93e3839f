// Package openai calls providers that speak the OpenAI Chat Completions dialect, always streaming.
package openai

import (
	"context"
	"net/http"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

// Client calls one provider. It implements [llm.Client] and is safe for concurrent use while its fields stay as they are.
//
// A call is one HTTP request: nothing is retried and no redirect is followed, so that no output is ever asked for twice.
// A retry policy belongs to the caller, who knows what was already passed on. After `data: [DONE]` the body is closed
// unread, which ends the connection unless the last chunk was read with it.
type Client struct {
	BaseURL string       // ends before /chat/completions: https://host/v1
	APIKey  string       // sent as a bearer token; empty sends none
	HTTP    *http.Client // nil uses http.DefaultTransport; it should have no Timeout, which would cut long streams
}

var _ llm.Client = (*Client)(nil)

// Stream implements [llm.Client]. A complete answer ended with [DONE], or had a finish reason and then a clean end of
// the body. A provider that ignores `stream` and sends a whole chat.completion as JSON is accepted too.
func (c *Client) Stream(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
	header := http.Header{"Accept": {"text/event-stream"}}
	if c.APIKey != "" {
		header.Set("Authorization", "Bearer "+c.APIKey)
	}
	request := wire.Call{
		URL: strings.TrimRight(c.BaseURL, "/") + "/chat/completions", Header: header, Body: newRequest(r), Secret: c.APIKey, HTTP: c.HTTP,
	}
	return request.Do(ctx, emit, func(resp *http.Response, emit func(llm.Item) error) error {
		d := decoder{secret: c.APIKey, calls: make(map[int64]*call), ids: wire.NewIDs(r.Messages), emit: emit}
		return d.decode(ctx, resp.Header.Get("Content-Type"), resp.Body)
	})
}
