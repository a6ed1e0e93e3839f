// Package openai calls providers that speak the OpenAI Chat Completions dialect, always streaming.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

// maxErrorBody bounds what is read of an answer that is only going to be quoted: its message comes first.
const maxErrorBody = 64 << 10

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
	var unwanted error // of emit, passed on as it is
	d := decoder{secret: c.APIKey, calls: make(map[int64]*call), emit: func(i llm.Item) error {
		unwanted = emit(i)
		return unwanted
	}}
	err := c.exchange(ctx, r, &d)
	var failure *llm.Error
	switch {
	case unwanted != nil:
		return unwanted
	case !errors.As(err, &failure):
		return err
	case ctx.Err() != nil: // the network fails in many words when the call is cancelled
		return context.Cause(ctx)
	}
	failure.Message = clean(redact(failure.Message, c.APIKey), maxMessage)
	return failure
}

func (c *Client) exchange(ctx context.Context, r llm.Request, d *decoder) error {
	resp, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	return d.decode(ctx, resp.Header.Get("Content-Type"), resp.Body)
}

func (c *Client) send(ctx context.Context, r llm.Request) (*http.Response, error) {
	body, err := json.Marshal(newRequest(r))
	if err != nil {
		return nil, &llm.Error{Code: llm.ProviderError, Message: "encode request: " + err.Error(), Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.BaseURL, "/")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, noAnswer(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Accept-Encoding", "identity") // a decompressor holds items back
	if c.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.APIKey)
	}
	h := http.Client{}
	if c.HTTP != nil {
		h = *c.HTTP
	}
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := h.Do(req)
	if err != nil {
		return nil, noAnswer(err)
	}
	return resp, nil
}

// noAnswer drops the URL that net/http puts into its errors, since it may hold credentials.
func noAnswer(err error) *llm.Error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return &llm.Error{Code: llm.ProviderError, Message: err.Error(), Err: err}
}

// refusal is the error of an answer whose status is not 200.
func refusal(resp *http.Response) *llm.Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what arrived is worth quoting even if the rest did not
	message := errorMessage(body)
	if message == "" {
		message = strings.TrimSpace(string(body))
	}
	if message == "" {
		message = "no message"
	}
	return &llm.Error{Code: llm.ProviderError, Status: resp.StatusCode, Message: message}
}

// errorMessage is the provider's own words in a JSON body that holds an error, else empty.
func errorMessage(body []byte) string {
	var b struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	_ = json.Unmarshal(body, &b) // not JSON, or an odd field: what could be read counts
	if message, ok := errorIn(b.Error); ok {
		return message
	}
	return b.Message
}
