// Package caller is the client of the server under test: it asks, reads at a pace, and leaves in every way. What it
// sees goes to a timeline, frame by frame; it never judges.
package caller

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/timeline"
)

// Lane is the caller's lane in a timeline.
const Lane = "client"

// Caller asks one server. It is safe for concurrent use.
type Caller struct {
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	Address  string // host:port of the server
	Host     string // the Host header; Address when empty
	Base     string // path before /v1, usually empty
	Lane     string // of what it records; [Lane] when empty
	Timeline *timeline.Timeline

	mu    sync.Mutex
	asked []*Request
}

// Ask is one request. The zero value of a field is the usual case.
type Ask struct {
	Name   string // its Ref in the timeline; #1, #2 and so on when empty
	Method string // POST
	Path   string // /v1/chat/completions
	Prompt string
	Stream bool
	Header http.Header // besides the usual: credentials
	Body   string      // sent as it is, in place of the prompt
	// Hold keeps the answer unread until [Request.Read]: a reader that has stopped.
	Hold bool
}

// Leaving is a way to go away before the end.
type Leaving string

// The ways to leave. A close with unread bytes is a reset on the wire, as TCP has it.
const (
	Close Leaving = "close" // FIN
	Reset Leaving = "reset" // RST
)

// Request is one request under way.
type Request struct {
	Name string

	caller *Caller
	ask    Ask
	cancel context.CancelFunc
	read   chan struct{} // closed when the answer may be read
	reads  sync.Once
	ended  chan struct{} // closed when nothing of the request is left
	named  bool          // the answer's id was recorded; the reading goroutine's

	mu   sync.Mutex
	conn net.Conn
	left bool
}

// Ask sends a and returns at once; the answer is read by a goroutine that ends with the request.
func (c *Caller) Ask(a Ask) *Request {
	c.mu.Lock()
	if a.Name == "" {
		a.Name = fmt.Sprintf("#%d", len(c.asked)+1)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Request{Name: a.Name, caller: c, ask: a, cancel: cancel, read: make(chan struct{}), ended: make(chan struct{})}
	if !a.Hold {
		r.Read()
	}
	c.asked = append(c.asked, r)
	c.mu.Unlock()
	go r.run(ctx)
	return r
}

// LeaveAll closes every request that is still under way and waits for all.
func (c *Caller) LeaveAll() {
	c.mu.Lock()
	asked := c.asked
	c.mu.Unlock()
	for _, r := range asked {
		select {
		case <-r.ended:
		default:
			r.close(Close)
		}
	}
	for _, r := range asked {
		<-r.ended
	}
}

// ReadAll lets every held answer be read, and returns the requests whose answers were held until then.
func (c *Caller) ReadAll() []*Request {
	c.mu.Lock()
	asked := c.asked
	c.mu.Unlock()
	var held []*Request
	for _, r := range asked {
		select {
		case <-r.read:
		default:
			held = append(held, r)
			r.Read()
		}
	}
	return held
}

// Read lets a held answer be read.
func (r *Request) Read() { r.reads.Do(func() { close(r.read) }) }

// Ended is closed when nothing of the request is left.
func (r *Request) Ended() <-chan struct{} { return r.ended }

// Leave goes away as told, records it, and returns when nothing of the request is left.
func (r *Request) Leave(how Leaving) {
	// Recorded before it is done: what the server does about it can then not seem to come first.
	r.note("left", string(how))
	r.close(how)
	<-r.ended
}

// Abandon ends the request if it is still under way, without a word of it, and returns when nothing of it is left.
func (r *Request) Abandon() {
	select {
	case <-r.ended:
	default:
		r.close(Close)
	}
	<-r.ended
}

func (r *Request) close(how Leaving) {
	r.mu.Lock()
	r.left = true
	conn := r.conn
	r.mu.Unlock()
	r.cancel()
	if conn == nil {
		return
	}
	if how == Reset {
		reset(conn)
		return
	}
	conn.Close()
}

// reset closes a connection with a RST, on any network that can.
func reset(conn net.Conn) {
	switch c := conn.(type) {
	case interface{ Reset() error }:
		c.Reset()
	case *net.TCPConn:
		c.SetLinger(0)
		c.Close()
	default:
		conn.Close()
	}
}

// gone says whether the caller itself ended the request.
func (r *Request) gone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left
}

func (r *Request) note(kind, detail string) {
	r.caller.Timeline.Add(cmp.Or(r.caller.Lane, Lane), r.Name, kind, detail)
}

// dialBound is how long a connection may take to open: longer than any loopback takes, shorter than a case.
const dialBound = 10 * time.Second

// run dials, sends, and reads the answer to its end.
func (r *Request) run(ctx context.Context) {
	defer close(r.ended)
	defer r.cancel()
	dialing, done := context.WithTimeout(ctx, dialBound)
	conn, err := r.caller.Dial(dialing, "tcp", r.caller.Address)
	done()
	if err != nil {
		if !r.gone() {
			r.note("refused", err.Error())
		}
		return
	}
	r.mu.Lock()
	r.conn = conn
	left := r.left
	r.mu.Unlock()
	defer conn.Close()
	if left {
		return
	}
	r.note("ask", r.summary())
	if _, err := conn.Write(r.bytes()); err != nil {
		r.over("the request was not taken", err)
		return
	}
	select {
	case <-r.read:
	case <-ctx.Done():
		return
	}
	r.receive(conn)
}

func (r *Request) summary() string {
	if r.ask.Body != "" {
		return fmt.Sprintf("%s %s, %d bytes", r.method(), r.path(), len(r.ask.Body))
	}
	if r.method() != "POST" {
		return r.method() + " " + r.path()
	}
	return fmt.Sprintf("%s %s, stream %t", r.method(), r.path(), r.ask.Stream)
}

func (r *Request) method() string {
	if r.ask.Method == "" {
		return "POST"
	}
	return r.ask.Method
}

func (r *Request) path() string {
	if r.ask.Path == "" {
		return "/v1/chat/completions"
	}
	return r.ask.Path
}

// bytes is the request as it goes on the wire.
func (r *Request) bytes() []byte {
	body := r.ask.Body
	if body == "" && r.method() == "POST" {
		b, _ := json.Marshal(map[string]any{ // a map of strings cannot fail
			"model": "stallwright", "stream": r.ask.Stream,
			"messages": []map[string]string{{"role": "user", "content": r.ask.Prompt}},
		})
		body = string(b)
	}
	host := r.caller.Host
	if host == "" {
		host = r.caller.Address
	}
	head := fmt.Sprintf("%s %s%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: stallwright\r\nAccept: text/event-stream, application/json\r\n", r.method(), r.caller.Base, r.path(), host)
	for _, name := range slices.Sorted(maps.Keys(r.ask.Header)) {
		for _, value := range r.ask.Header[name] {
			head += name + ": " + value + "\r\n"
		}
	}
	if body != "" {
		head += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return []byte(head + "\r\n" + body)
}
