package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// discoverWindow bounds the question for the newest revision, which old servers do not always answer: mcp-go's own bound.
const discoverWindow = 5 * time.Second

// errExpired is a call whose server has forgotten the session.
var errExpired = errors.New("the session expired")

// conn is one connection to one server: a session over HTTP, an event stream, or a child.
type conn struct {
	server  Server
	secrets []string
	link    *link
	client  *client.Client
	web     *web   // of the HTTP transports
	child   *child // of Stdio

	ctx  context.Context // the connection's life; its cause is why it ended
	fail context.CancelCauseFunc
	wg   sync.WaitGroup // calls
}

// newConn prepares a connection. Nothing is sent, but a child is started.
func newConn(s Server, header http.Header, dial func(context.Context, string, string) (net.Conn, error), pipe func(string) (net.Conn, error)) (*conn, error) {
	c := &conn{server: s, secrets: secrets(s, header), link: newLink()}
	c.ctx, c.fail = context.WithCancelCause(context.Background())
	if s.Transport == SSE && (s.Revision == "" || mcp.IsModernProtocol(s.Revision)) {
		c.server.Revision = mcp.LATEST_LEGACY_PROTOCOL_VERSION // the transport is older than the question for a newer one
	}
	if mcp.IsModernProtocol(c.server.Revision) {
		c.link.modern = c.server.Revision
	}
	var err error
	switch s.Transport {
	case HTTPStreamable, SSE:
		c.web, err = newWeb(s, header, dial, c.link, c.fail)
	case Stdio:
		c.child, err = c.start(pipe)
	default:
		err = fmt.Errorf("there is no transport %q", s.Transport)
	}
	if err != nil {
		c.fail(err)
		return nil, errors.New(clean(plain(err), c.secrets))
	}
	return c, nil
}

// start starts the child, or asks for what stands for it.
func (c *conn) start(pipe func(string) (net.Conn, error)) (*child, error) {
	if pipe == nil {
		return start(c.server, c.link, c.fail)
	}
	nc, err := pipe(c.server.Name)
	if err != nil {
		return nil, err
	}
	return attach(nc, c.link, c.fail), nil
}

// open makes the connection ready for calls. When ctx ends before, the connection is failed with the cause. The caller closes it either way.
func (c *conn) open(ctx context.Context, window time.Duration, version string) error {
	defer context.AfterFunc(ctx, func() { c.fail(context.Cause(ctx)) })()
	c.client = client.NewClient(c.link, client.WithDiscoverTimeout(min(discoverWindow, window/2)))
	c.client.OnNotification(c.link.notified)
	if err := c.client.Start(c.ctx); err != nil {
		return c.explain(err, nil)
	}
	var r mcp.InitializeRequest
	r.Params.ProtocolVersion = c.server.Revision
	r.Params.ClientInfo = mcp.Implementation{Name: "stallwright", Version: version}
	o := &outcome{}
	if _, err := c.client.Initialize(context.WithValue(c.ctx, outcomeKey{}, o), r); err != nil {
		return c.explain(err, o.problem)
	}
	return nil
}

// list reads the server's tools to the end.
func (c *conn) list(ctx context.Context) (*list, error) {
	defer context.AfterFunc(ctx, func() { c.fail(context.Cause(ctx)) })()
	l := &list{}
	for r := (mcp.ListToolsRequest{}); ; {
		o := &outcome{}
		_, err := c.client.ListToolsByPage(context.WithValue(c.ctx, outcomeKey{}, o), r)
		switch {
		case o.answer == nil:
			return nil, c.explain(err, o.problem)
		case o.answer.Error != nil && c.client.GetServerCapabilities().Tools == nil:
			return l, nil // it never said that it had any
		case o.answer.Error != nil:
			return nil, c.explain(errors.New(o.answer.Error.Message), nil)
		}
		next, err := l.add(o.answer.Result)
		if err != nil {
			return nil, c.explain(err, nil)
		}
		if next == "" && c.ctx.Err() != nil {
			return nil, c.explain(nil, nil)
		}
		if next == "" {
			return l, nil
		}
		r.Params.Cursor = mcp.Cursor(next)
	}
}

// call makes a tools/call and waits for its answer or the connection's end, whatever becomes of the caller.
// The outcome is filled in.
func (c *conn) call(name string, arguments json.RawMessage, token string, o *outcome) (Result, error) {
	var r mcp.CallToolRequest
	r.Params.Name = name
	r.Params.Arguments = arguments
	if token != "" {
		r.Params.Meta = &mcp.Meta{ProgressToken: token}
	}
	_, err := c.client.CallTool(context.WithValue(c.ctx, outcomeKey{}, o), r)
	switch {
	case o.answer == nil && errors.Is(err, transport.ErrSessionTerminated) && !c.link.isModern():
		return Result{}, errExpired
	case o.answer == nil:
		return Result{}, c.failure(err, o.problem)
	case o.answer.Error != nil:
		return Result{Text: fmt.Sprintf("%s (code %d)", bounded(o.answer.Error.Message), o.answer.Error.Code), IsError: true}, nil
	}
	got, err := result(o.answer.Result)
	if err != nil {
		return Result{}, c.failure(err, nil)
	}
	return got, nil
}

func (c *conn) failure(err, problem error) error {
	return &TransportError{Server: c.server.Name, Message: c.explain(err, problem).Error()}
}

// explain is why something failed, in words fit to be shown: what was found wrong with the answer, else why the connection ended, else err.
func (c *conn) explain(err, problem error) error {
	switch {
	case problem != nil:
		err = problem
	case c.ctx.Err() != nil:
		err = context.Cause(c.ctx)
	case err == nil:
		err = errCut
	}
	return errors.New(clean(plain(err), c.secrets))
}

// sound says whether the connection can serve another run.
func (c *conn) sound() bool { return c.ctx.Err() == nil && c.link.idle() }

// close cancels what is in flight and takes the connection down. It returns when nothing of it is left. The cancellations get at most
// half of the time, so that the session or the child can still end well; when ctx ends, everything is cut.
func (c *conn) close(ctx context.Context, bound time.Duration, reason string) {
	ctx, stop := context.WithTimeout(ctx, bound)
	defer stop()
	flying := c.link.shut()
	if c.ctx.Err() == nil && (c.child != nil || !c.link.isModern()) {
		half := time.Now().Add(bound / 2)
		c.cancel(ctx, bound/2, flying, reason)
		heard(ctx, half, c.link.givenUp())
	}
	c.fail(errClosed) // over HTTP this closes the response streams
	if c.web != nil {
		c.web.close(ctx)
	} else {
		c.child.close(ctx)
	}
	c.wg.Wait()
}

// cancel sends a cancellation for each and waits until they are with the server.
func (c *conn) cancel(ctx context.Context, bound time.Duration, flying []*exchange, reason string) {
	ctx, stop := context.WithTimeout(ctx, bound)
	defer stop()
	var all sync.WaitGroup
	for _, ex := range flying {
		all.Go(func() {
			n := cancellation(ex.rpc, reason)
			if c.child != nil {
				c.child.cancel(ctx, n)
			} else {
				_ = c.link.SendNotification(ctx, n) // best effort: the session is closed next
			}
		})
	}
	all.Wait()
}

// heard waits until cancellations that were sent before are with the server too.
func heard(ctx context.Context, until time.Time, cancellations []<-chan struct{}) {
	ctx, stop := context.WithDeadline(ctx, until)
	defer stop()
	for _, told := range cancellations {
		select {
		case <-told:
		case <-ctx.Done():
		}
	}
}

// giveUp cancels one call, if its server has it, and ends the wait for its answer. What the connection's end cuts short, it cuts short too.
func (c *conn) giveUp(ex *exchange, told chan<- struct{}, bound time.Duration, reason string) {
	if told != nil {
		if c.child != nil || !c.link.isModern() {
			c.cancel(c.ctx, bound, []*exchange{ex}, reason)
		}
		close(told)
	}
	ex.cancel(errGivenUp) // over HTTP this closes the response stream
}
