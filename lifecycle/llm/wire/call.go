// Package wire is what the dialects share below their JSON: one HTTP call, the failures it ends in, and the reading of
// server-sent events.
package wire

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

// Call is one HTTP request to a provider: nothing is retried and no redirect is followed, so that no output is ever
// asked for twice. A retry policy belongs to the caller, who knows what was already passed on.
type Call struct {
	URL    string
	Header http.Header  // beside Content-Type and Accept-Encoding
	Body   any          // sent as JSON
	Secret string       // never shown in an error, wherever a provider repeats it
	HTTP   *http.Client // nil uses http.DefaultTransport; it should have no Timeout, which would cut long streams
}

// Do makes the call and has decode read an answer with status 200. It returns what [llm.Client] promises: the error of
// emit as it is, the cause of ctx when that ended the call, else what decode says, its message made fit to be shown. The
// body is closed when decode returns; what it left unread ends the connection.
func (c Call) Do(ctx context.Context, emit func(llm.Item) error, decode func(*http.Response, func(llm.Item) error) error) error {
	var unwanted error
	err := c.exchange(ctx, func(resp *http.Response) error {
		return decode(resp, func(i llm.Item) error {
			unwanted = emit(i)
			return unwanted
		})
	})
	var failure *llm.Error
	switch {
	case unwanted != nil:
		return unwanted
	case !errors.As(err, &failure):
		return err
	case ctx.Err() != nil: // the network fails in many words when the call is cancelled
		return context.Cause(ctx)
	}
	failure.Message = clean(redact(failure.Message, c.Secret), maxMessage)
	return failure
}

func (c Call) exchange(ctx context.Context, decode func(*http.Response) error) error {
	resp, err := c.send(ctx)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	return decode(resp)
}

func (c Call) send(ctx context.Context) (*http.Response, error) {
	body, err := json.Marshal(c.Body)
	if err != nil {
		return nil, &llm.Error{Code: llm.ProviderError, Message: "encode request: " + err.Error(), Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, noAnswer(err)
	}
	for name, values := range c.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept-Encoding", "identity") // a decompressor holds items back
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
	body, _ := io.ReadAll(io.LimitReader(resp.Body, MaxErrorBody)) // what arrived is worth quoting even if the rest did not
	message := errorMessage(body)
	if message == "" {
		message = strings.TrimSpace(string(body))
	}
	if message == "" {
		message = "no message"
	}
	return &llm.Error{Code: llm.ProviderError, Status: resp.StatusCode, Message: message}
}
