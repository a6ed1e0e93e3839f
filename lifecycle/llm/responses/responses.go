// Package responses calls providers that speak the OpenAI Responses dialect, always streaming.
package responses

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
// The whole conversation goes with each call and the provider is told to keep none of it. After the terminal event the
// body is closed unread, which ends the connection unless its end was read with it.
type Client struct {
	BaseURL string       // ends before /responses: https://host/v1
	APIKey  string       // sent as a bearer token; empty sends none
	Summary string       // how to summarise reasoning: auto, concise, detailed. Empty asks for none, which all models accept
	HTTP    *http.Client // nil uses http.DefaultTransport; it should have no Timeout, which would cut long streams
}

var _ llm.Client = (*Client)(nil)

// Stream implements [llm.Client]. A complete answer ended with response.completed or response.incomplete. A provider
// that ignores `stream` and sends a whole response as JSON is accepted too. Finish reasons come in the words of Chat
// Completions where those have one.
func (c *Client) Stream(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
	header := http.Header{"Accept": {"text/event-stream"}}
	if c.APIKey != "" {
		header.Set("Authorization", "Bearer "+c.APIKey)
	}
	call := wire.Call{
		URL: strings.TrimRight(c.BaseURL, "/") + "/responses", Header: header, Body: newRequest(r, c.Summary), Secret: c.APIKey, HTTP: c.HTTP,
	}
	return call.Do(ctx, emit, func(resp *http.Response, emit func(llm.Item) error) error {
		d := newDecoder(c.APIKey, wire.NewIDs(r.Messages), emit)
		return d.decode(ctx, resp.Header.Get("Content-Type"), resp.Body)
	})
}
