package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

const (
	dialWindow     = 10 * time.Second // for one connection, and again for its TLS
	keepWindow     = 90 * time.Second // for a kept connection: servers close theirs after a minute or two
	maxRefusal     = 64 << 10         // bytes of an answer that is only going to be quoted
	maxHeaderBytes = 64 << 10
	maxPings       = 100 // requests of a server that are answered in one stream: pings beyond are a flood
	maxRedirects   = 3
)

// web is a server's HTTP side: mcp-go's transport over a filter, over sockets that can all be closed at once.
type web struct {
	link    *link
	header  http.Header // configured and forwarded
	base    *http.Transport
	sockets *sockets
	lost    func(error)     // for HTTP+SSE: the stream, and so the connection, is gone
	sse     *transport.SSE  // nil for Streamable HTTP
	closing context.Context // bounds the DELETE; set before the transport is closed

	mu     sync.Mutex
	closed bool           // no further reply is begun
	wg     sync.WaitGroup // replies to a server's requests over HTTP+SSE
}

func newWeb(s Server, header http.Header, dial func(context.Context, string, string) (net.Conn, error), l *link, lost func(error)) (*web, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the URL is none of HTTP") // net/url's error would quote it
	}
	w := &web{link: l, header: header, lost: lost, sockets: &sockets{dial: dial, open: make(map[*socket]struct{})}}
	w.base = &http.Transport{
		DialContext:            w.sockets.dialContext,
		TLSHandshakeTimeout:    dialWindow,
		IdleConnTimeout:        keepWindow,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true, // a decompressor holds progress back, and hides how large an answer is
	}
	if dial == nil {
		w.sockets.dial = (&net.Dialer{Timeout: dialWindow}).DialContext
		w.base.Proxy = http.ProxyFromEnvironment
	}
	client := &http.Client{Transport: w, CheckRedirect: sameHost}
	silent := slog.New(slog.DiscardHandler) // mcp-go logs what a server says, unbounded
	if s.Transport == SSE {
		w.sse, err = transport.NewSSE(s.URL, transport.WithHTTPClient(client), transport.WithSSELogger(silent),
			transport.WithEndpointTimeout(math.MaxInt64), transport.WithResponseTimeout(math.MaxInt64)) // our own clocks bound both
		l.inner = w.sse
	} else {
		l.inner, err = transport.NewStreamableHTTP(s.URL, transport.WithHTTPBasicClient(client), transport.WithHTTPLogger(silent))
	}
	if err != nil {
		return nil, errors.New("the URL is none of HTTP")
	}
	return w, nil
}

// sameHost keeps credentials and tool arguments with the server that was configured.
func sameHost(r *http.Request, via []*http.Request) error {
	if first := via[0].URL; len(via) > maxRedirects || r.URL.Host != first.Host || r.URL.Scheme != first.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// close ends the session and then whatever is left of the connection. It is bounded by ctx.
func (w *web) close(ctx context.Context) {
	w.closing = ctx
	_ = w.link.Close() // a DELETE that is refused or lost changes nothing here
	w.base.CloseIdleConnections()
	w.sockets.close()
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wg.Wait()
}

// RoundTrip sends a request of mcp-go's transport and makes of the response what that transport can take.
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	ex := exchangeOf(ctx)
	if r.Method == http.MethodDelete && w.closing != nil {
		ctx = w.closing
	}
	if ex != nil && r.Method == http.MethodPost {
		// Before the body is on its way: the server may act on it sooner than anything later here is told.
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { w.link.sent(ex) }})
	}
	out := r.Clone(ctx)
	for name, values := range w.header {
		if _, set := out.Header[name]; !set || name == "Authorization" { // net/http sets that one from the URL
			out.Header[name] = values
		}
	}
	resp, err := w.base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	switch {
	case w.sse != nil && r.Method == http.MethodGet:
		w.stream(resp)
	case ex == nil || w.sse != nil:
		resp.Body = limited{io.LimitReader(resp.Body, maxRefusal), resp.Body}
	default:
		if err := w.answer(resp, r, ex); err != nil {
			resp.Body.Close()
			if r.Context().Err() != nil {
				return nil, err // the request was given up; that is the reason
			}
			return nil, w.link.spoil(ex, err)
		}
	}
	return resp, nil
}

// limited is a body of which no more than so much is read.
type limited struct {
	io.Reader
	io.Closer
}

// answer filters the response to a request of Streamable HTTP. An error is why there is no answer in it.
func (w *web) answer(resp *http.Response, r *http.Request, ex *exchange) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch status := resp.StatusCode; {
	case status == http.StatusNotFound && r.Header.Get(transport.HeaderKeySessionID) != "":
		resp.Body.Close()
		resp.Body = http.NoBody // the session is over: mcp-go knows
		return nil
	case status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect:
		if to, err := resp.Location(); err == nil && to.Scheme == r.URL.Scheme && to.Host == r.URL.Host {
			resp.Body = limited{io.LimitReader(resp.Body, maxRefusal), resp.Body}
			return nil // the client follows
		}
		return w.refusal(resp, ex)
	case status != http.StatusOK && status != http.StatusAccepted:
		return w.refusal(resp, ex)
	case kind == "application/json":
		return w.whole(resp, ex)
	case kind == "text/event-stream":
		events := newEventReader(resp.Body, w.own(r.Context(), ex))
		events.hasty = true
		resp.Body = events
		return nil
	case resp.Header.Get("Content-Type") == "":
		return fmt.Errorf("status %d without an answer", status)
	default:
		return fmt.Errorf("answered with content type %.100q", kind)
	}
}

// refusal lets a JSON-RPC error through whatever the status, and makes an error of every other body.
func (w *web) refusal(resp *http.Response, ex *exchange) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what arrived is worth quoting even if the rest did not
	resp.Body.Close()
	var said struct {
		Error *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	is, id, _ := classify(body)
	if is != response || json.Unmarshal(body, &said) != nil || said.Error == nil {
		return fmt.Errorf("status %d: %s", resp.StatusCode, body)
	}
	if !id.IsNil() && id.String() != ex.id {
		return errForeign
	}
	if ex.method == string(mcp.MethodInitialize) { // mcp-go would take any 4xx for an old server
		return fmt.Errorf("status %d: %s", resp.StatusCode, said.Error.Message)
	}
	w.link.answered(ex)
	resp.StatusCode = http.StatusBadRequest // 404 and 401 would be read as something else
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// whole reads an answer that comes as one JSON object.
func (w *web) whole(resp *http.Response, ex *exchange) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBytes+1))
	if err != nil {
		return err
	}
	if len(body) > maxBytes {
		return errTooLarge
	}
	switch is, id, _ := classify(body); {
	case is != response || id.IsNil():
		return errMalformed
	case id.String() != ex.id:
		return errForeign
	}
	w.link.answered(ex)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// own takes the events of a stream that belongs to one request: what is about it, up to the answer, and nothing after.
func (w *web) own(ctx context.Context, ex *exchange) func(*event, error) (bool, error) {
	pings := 0
	return func(ev *event, err error) (bool, error) {
		switch {
		case err != nil && ctx.Err() != nil:
			return false, err // the request was given up; that is the reason
		case errors.Is(err, io.EOF):
			_ = w.link.spoil(ex, errCut)
			return false, io.EOF // mcp-go asks for the rest if the server gave a place to go on from
		case err != nil:
			return false, w.link.spoil(ex, fmt.Errorf("the stream broke: %w", err))
		case ev.large != nil:
			return false, w.link.spoil(ex, errTooLarge)
		case len(ev.data) == 0:
			return true, nil
		}
		switch is, id, _ := classify(ev.data); is {
		case notification:
			return true, nil
		case request:
			pings++
			return pings <= maxPings, nil
		case response:
			if id.String() != ex.id {
				return false, nil
			}
			w.link.answered(ex)
			return true, io.EOF
		}
		return false, nil
	}
}

// stream filters the one stream of HTTP+SSE.
func (w *web) stream(resp *http.Response) {
	if resp.StatusCode != http.StatusOK {
		return // mcp-go says so and reads no more
	}
	pings := 0
	resp.Body = newEventReader(resp.Body, func(ev *event, err error) (bool, error) {
		switch {
		case err != nil:
			w.lost(errors.New("the event stream ended"))
			return false, err
		case ev.large != nil:
			if id, ok := ev.large.response(); ok {
				w.reject(id, errTooLarge)
			}
			return false, nil
		case ev.name == "endpoint":
			return true, nil
		case ev.name != "" && ev.name != "message":
			return false, nil
		}
		switch is, id, method := classify(ev.data); is {
		case notification:
			return true, nil
		case request: // mcp-go would take it for the answer to a request of ours with this id
			if pings++; pings <= maxPings {
				w.mu.Lock()
				if !w.closed {
					w.wg.Go(func() { w.reply(resp.Request.Context(), id, method) })
				}
				w.mu.Unlock()
			}
		case response:
			ex := w.link.find(id)
			return ex != nil && w.link.answered(ex), nil
		}
		return false, nil
	})
}

func (w *web) reject(id mcp.RequestId, problem error) {
	if ex := w.link.find(id); ex != nil {
		w.link.abort(ex, problem)
	}
}

// reply answers a request of the server over HTTP+SSE. ctx is the stream's.
func (w *web) reply(ctx context.Context, id mcp.RequestId, method string) {
	endpoint := w.sse.GetEndpoint()
	if endpoint == nil {
		return
	}
	answer := transport.NewJSONRPCResultResponse(id, json.RawMessage("{}"))
	if method != string(mcp.MethodPing) {
		answer = transport.NewJSONRPCErrorResponse(id, mcp.METHOD_NOT_FOUND, "not supported", nil)
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	if resp, err := w.RoundTrip(r); err == nil {
		resp.Body.Close()
	}
}

// sockets are the connections of one server, so that none of them is left at the end.
type sockets struct {
	dial func(context.Context, string, string) (net.Conn, error)

	mu     sync.Mutex
	open   map[*socket]struct{}
	closed bool
}

type socket struct {
	net.Conn
	of *sockets
}

func (s *sockets) dialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := s.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	own := &socket{conn, s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	s.open[own] = struct{}{}
	return own, nil
}

// Close closes the connection and forgets it.
func (c *socket) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.open {
		c.Conn.Close()
	}
	clear(s.open)
}

// forwarded are the headers for a server: its own and the client's that it asks for.
func forwarded(s Server, from http.Header) http.Header {
	header := make(http.Header)
	for name, value := range s.Headers {
		header.Set(name, value)
	}
	for name, source := range s.HeadersFromRequest {
		if values := from.Values(source); len(values) > 0 {
			header[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
		}
	}
	for _, name := range []string{"Host", "Content-Length", "Transfer-Encoding", "Connection"} {
		header.Del(name) // net/http's own
	}
	return header
}

// plain is an error's text without what net/http and mcp-go put in front of it: the URL may hold credentials.
func plain(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	text := err.Error()
	for _, prefix := range []string{"transport error: ", "failed to send request: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
