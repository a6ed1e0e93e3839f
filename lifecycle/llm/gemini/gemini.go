// Package gemini calls providers that speak the generateContent dialect of Google's Gemini API, always streaming as
// server-sent events.
package gemini

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/llm/wire"
)

// Client calls one provider. It implements [llm.Client] and is safe for concurrent use while its fields stay as they are.
// A call is one HTTP request: see [wire.Call].
type Client struct {
	BaseURL      string       // ends before /models: https://host/v1beta
	APIKey       string       // sent as x-goog-api-key; empty sends none
	HTTP         *http.Client // nil uses http.DefaultTransport; it should have no Timeout, which would cut long streams
	HideThoughts bool         // do not ask for summaries of the thoughts, as models that do not think refuse it
}

var _ llm.Client = (*Client)(nil)

// Stream implements [llm.Client]. A complete answer had a finish reason, or a reason why the prompt was blocked, and then
// a clean end of the body, since the dialect has no terminator and may go on after a finish reason. Finish reasons are
// passed on in the words of Chat Completions where it has one. Usage is passed on once, at the end. A provider that
// ignores alt=sse and sends its chunks as a JSON array is accepted too.
func (c *Client) Stream(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
	header := http.Header{"Accept": {"text/event-stream"}}
	if c.APIKey != "" {
		header.Set("X-Goog-Api-Key", c.APIKey)
	}
	request := wire.Call{
		URL:    strings.TrimRight(c.BaseURL, "/") + "/" + resource(r.Model) + ":streamGenerateContent?alt=sse",
		Header: header, Body: newRequest(r, !c.HideThoughts), Secret: c.APIKey, HTTP: c.HTTP,
	}
	return request.Do(ctx, emit, func(resp *http.Response, emit func(llm.Item) error) error {
		d := decoder{secret: c.APIKey, ids: wire.NewIDs(r.Messages), emit: emit}
		return d.decode(ctx, resp.Header.Get("Content-Type"), resp.Body)
	})
}

// resource is the path of a model. A name with its collection, such as tunedModels/x, is one already.
func resource(model string) string {
	if !strings.HasPrefix(model, "models/") && !strings.HasPrefix(model, "tunedModels/") {
		model = "models/" + model
	}
	segments := strings.Split(model, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}
