// Package anthropic calls providers that speak the Anthropic Messages dialect, always streaming.
package anthropic

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

const (
	version          = "2023-06-01"
	defaultMaxTokens = 4096 // every model that is still served can write as many
)

// Client calls one provider. It implements [llm.Client] and is safe for concurrent use while its fields stay as they are.
//
// A call is one HTTP request: nothing is retried and no redirect is followed. After message_stop the body is closed unread.
type Client struct {
	BaseURL   string       // ends before /v1/messages: https://host; a /v1 at its end is taken for the same
	APIKey    string       // sent as x-api-key; empty sends none
	MaxTokens int          // the most tokens of an answer, which the API wants to be told; 4096 when 0
	HTTP      *http.Client // nil uses http.DefaultTransport; it should have no Timeout, which would cut long streams
}

var _ llm.Client = (*Client)(nil)

// Stream implements [llm.Client]. A complete answer ended with message_stop. A provider that ignores `stream` and sends a
// whole message as JSON is accepted too. Finish reasons come in the words of Chat Completions where those have one.
func (c *Client) Stream(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
	header := http.Header{"Accept": {"text/event-stream"}, "Anthropic-Version": {version}}
	if c.APIKey != "" {
		header.Set("X-Api-Key", c.APIKey)
	}
	request := wire.Call{
		URL:    strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/v1") + "/v1/messages",
		Header: header, Body: newRequest(r, cmp.Or(c.MaxTokens, defaultMaxTokens)), Secret: c.APIKey, HTTP: c.HTTP,
	}
	return request.Do(ctx, emit, func(resp *http.Response, emit func(llm.Item) error) error {
		d := decoder{secret: c.APIKey, calls: make(map[int64]*call), ids: wire.NewIDs(r.Messages), emit: emit}
		return d.decode(ctx, resp.Header.Get("Content-Type"), resp.Body)
	})
}
