package tools

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

const (
	methodCall     = string(mcp.MethodToolsCall)
	methodDiscover = string(mcp.MethodServerDiscover)
)

// Ways in which a peer gives no answer.
var (
	errMalformed = errors.New("the answer cannot be read")
	errForeign   = errors.New("the answer has another request's id")
	errTooLarge  = errors.New("the answer is larger than 8 MiB")
	errCut       = errors.New("the stream ended before the answer")
	errGivenUp   = errors.New("the call was given up")
	errClosed    = errors.New("the connection is closed")
	errLegacy    = errors.New("the server does not offer the revision it was asked for")
)

// exchange is one request of ours. Its last four fields are its link's, under its mutex.
type exchange struct {
	rpc        mcp.RequestId
	id, method string // id is the key of rpc
	cancel     context.CancelCauseFunc
	sent       bool  // the server has the request, or is about to
	answered   bool  // its answer was read
	givenUp    bool  // it is being cancelled alone
	problem    error // why there will be none
}

// outcome is what a caller wants to know of its request beyond what mcp-go's client passes on. Only the requesting goroutine uses its first two
// fields; the others are its link's, under its mutex.
type outcome struct {
	answer  *transport.JSONRPCResponse
	problem error

	exchange *exchange // once it is registered
	givenUp  bool      // it is not to be registered
}

type (
	outcomeKey  struct{}
	exchangeKey struct{}
)

// exchangeOf is the request that an HTTP request belongs to, or nil.
func exchangeOf(ctx context.Context) *exchange {
	ex, _ := ctx.Value(exchangeKey{}).(*exchange)
	return ex
}

// link is mcp-go's transport as its client sees it, with a register of the requests in flight. It counts as an HTTP connection for every
// transport: then the client sends no cancellation of its own, which would have the wrong reason, and be a second one.
type link struct {
	inner  transport.Interface
	modern string // revision that needs no question to the server, or ""

	mu      sync.Mutex // never held while waiting
	version string
	pending map[string]*exchange // by id
	boxes   map[string]mailbox   // by progress token
	alone   []<-chan struct{}    // closed when the server was told of a call that was given up alone
	closing bool                 // no tools/call goes out any more
	broken  bool                 // an answer failed to come: not fit for another run
}

var (
	_ transport.HTTPConnection         = (*link)(nil)
	_ transport.BidirectionalInterface = (*link)(nil)
)

func newLink() *link {
	return &link{pending: make(map[string]*exchange), boxes: make(map[string]mailbox)}
}

func (l *link) Start(ctx context.Context) error { return l.inner.Start(ctx) }
func (l *link) Close() error                    { return l.inner.Close() }
func (l *link) GetSessionId() string            { return l.inner.GetSessionId() }

func (l *link) SetNotificationHandler(h func(mcp.JSONRPCNotification)) {
	l.inner.SetNotificationHandler(h)
}

func (l *link) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	return l.inner.SendNotification(ctx, n)
}

// SetRequestHandler passes the handler on to the transports that take requests. HTTP+SSE does not: the filter answers for it.
func (l *link) SetRequestHandler(h transport.RequestHandler) {
	if b, ok := l.inner.(transport.BidirectionalInterface); ok {
		b.SetRequestHandler(h)
	}
}

func (l *link) SetProtocolVersion(v string) {
	l.mu.Lock()
	l.version = v
	l.mu.Unlock()
	if h, ok := l.inner.(transport.HTTPConnection); ok {
		h.SetProtocolVersion(v)
	}
}

// isModern says whether the revision in force has no sessions and cancels over HTTP by closing the stream.
func (l *link) isModern() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return mcp.IsModernProtocol(l.version)
}

// SendRequest registers the request, sends it, and checks that the answer is its own.
func (l *link) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	if r.Method == methodDiscover && l.modern != "" {
		// The question would only be what the configuration answers.
		offer, err := json.Marshal(map[string]any{"resultType": "complete", "supportedVersions": []string{l.modern}, "capabilities": map[string]any{"tools": map[string]any{}}})
		return transport.NewJSONRPCResultResponse(r.ID, offer), err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ex := &exchange{rpc: r.ID, id: r.ID.String(), method: r.Method, cancel: cancel}
	o, _ := ctx.Value(outcomeKey{}).(*outcome)
	if err := l.register(ex, o); err != nil {
		return nil, err
	}
	answer, err := l.inner.SendRequest(context.WithValue(ctx, exchangeKey{}, ex), r)
	if err == nil {
		err = l.check(r, answer)
	}
	problem := l.settle(ex, err)
	if o != nil {
		o.problem = problem
		if err == nil {
			o.answer = answer
		}
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// check is what mcp-go's client leaves unchecked of an answer.
func (l *link) check(r transport.JSONRPCRequest, answer *transport.JSONRPCResponse) error {
	switch {
	case answer == nil:
		return errCut
	case answer.ID.IsNil() && answer.Error != nil: // a refusal from before the id was read
		return nil
	case answer.ID.String() != r.ID.String():
		return errForeign
	case answer.Error == nil && len(answer.Result) == 0:
		return errMalformed
	case r.Method == methodDiscover && answer.Error == nil:
		var offer struct {
			Versions []string `json:"supportedVersions"`
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if json.Unmarshal(answer.Result, &offer) != nil || !slices.Contains(offer.Versions, l.version) {
			return errLegacy
		}
	}
	return nil
}

// register counts a request in. The outcome may be nil.
func (l *link) register(ex *exchange, o *outcome) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closing && ex.method == methodCall:
		return errClosed
	case o != nil && o.givenUp:
		return errGivenUp
	case o != nil:
		o.exchange = ex
	}
	l.pending[ex.id] = ex
	return nil
}

// giveUp takes a request out of those in flight. When its server has it, the channel is to be closed once it was told. The request is nil
// when there is nothing to do: it was answered, is not sent and will not be, or the connection is being closed and sees to it.
func (l *link) giveUp(o *outcome) (ex *exchange, told chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.givenUp = true
	if ex = o.exchange; ex == nil || ex.answered || l.closing {
		return nil, nil
	}
	ex.givenUp = true
	if ex.sent {
		told = make(chan struct{})
		l.alone = append(l.alone, told)
	}
	return ex, told
}

// settle takes a finished request out and returns why it failed, if it is known better than err knows.
func (l *link) settle(ex *exchange, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, ex.id)
	if err != nil && ex.method == methodCall {
		l.broken = true
	}
	return ex.problem
}

// sent notes that the server has a request.
func (l *link) sent(ex *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ex.sent = true
}

// find is the request of this id, or nil.
func (l *link) find(id mcp.RequestId) *exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[id.String()]
}

// answered notes that a request's answer was read, and says whether it is the first.
func (l *link) answered(ex *exchange) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !ex.answered
	ex.answered = true
	return first
}

// spoil says why a request will get no answer. The first reason stays.
func (l *link) spoil(ex *exchange, problem error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ex.problem == nil {
		ex.problem = problem
	}
	return ex.problem
}

// abort spoils a request whose answer came and is none, and ends the wait for it.
func (l *link) abort(ex *exchange, problem error) {
	l.answered(ex)
	ex.cancel(l.spoil(ex, problem))
}

// givenUp is what is closed when the server was told of the calls that were given up alone, all of them once the link is shut.
func (l *link) givenUp() []<-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.alone
}

// shut lets no further call out, gives up those that wait for a connection, and returns those that the server has and did not answer, but
// those that were given up alone.
func (l *link) shut() []*exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closing = true
	var flying []*exchange
	for ex := range maps.Values(l.pending) {
		switch {
		case ex.method != methodCall || ex.answered || ex.givenUp:
		case ex.sent:
			flying = append(flying, ex)
		default: // the cancellations free connections, on which it would still go out
			ex.cancel(errClosed)
		}
	}
	return flying
}

// idle says whether nothing is in flight and every answer came so far.
func (l *link) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) == 0 && !l.broken
}

// watch makes a mailbox for the progress of a token. It is nil when there is no token or another call has it.
func (l *link) watch(token string) mailbox {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, taken := l.boxes[token]; taken || token == "" {
		return nil
	}
	box := make(mailbox, kept)
	l.boxes[token] = box
	return box
}

func (l *link) unwatch(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.boxes, token)
}

// notified takes progress. It runs on the goroutine that reads the connection.
func (l *link) notified(n mcp.JSONRPCNotification) {
	if n.Method != string(mcp.MethodNotificationProgress) {
		return
	}
	fields := n.Params.AdditionalFields
	token, _ := fields["progressToken"].(string)
	l.mu.Lock()
	box := l.boxes[token]
	l.mu.Unlock()
	if box == nil {
		return
	}
	var p Progress
	p.Progress, _ = fields["progress"].(float64)
	p.Total, _ = fields["total"].(float64)
	p.Message, _ = fields["message"].(string)
	p.Message = clip(p.Message, maxMessage)
	box.put(p)
}

// cancellation is the notification that gives up a request, with the request's own id.
func cancellation(id mcp.RequestId, reason string) mcp.JSONRPCNotification {
	return mcp.JSONRPCNotification{
		JSONRPC: mcp.JSONRPC_VERSION,
		Notification: mcp.Notification{
			Method: string(mcp.MethodNotificationCancelled),
			Params: mcp.NotificationParams{AdditionalFields: map[string]any{"requestId": id, "reason": reason}},
		},
	}
}
