package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/wire"
)

// Process is how the child process behaves that is a server over stdio. Where pipes stand for the process, StartsAfter
// and Dies alone have a meaning.
type Process struct {
	StartsAfter time.Duration `yaml:"starts-after,omitempty"` // it does nothing before
	Floods      int           `yaml:"floods,omitempty"`       // bytes on standard error before the first message; at most 1 GiB
	Dies        Exit          `yaml:"dies,omitempty"`         // at its start, unless zero
	IgnoresEOF  bool          `yaml:"ignores-eof,omitempty"`
	IgnoresTERM bool          `yaml:"ignores-term,omitempty"`
	Grandchild  Grandchild    `yaml:"grandchild,omitempty"`
}

// Grandchild says what a child process starts for itself: a process that holds its output, outlives it, and ends by a
// signal or with the fake.
type Grandchild string

// The kinds of grandchildren.
const (
	NoGrandchild     Grandchild = ""
	GrandchildStays  Grandchild = "stays"  // in the process group of the child
	GrandchildLeaves Grandchild = "leaves" // for a session of its own
)

// Exit ends the process that a server over stdio is. Where pipes stand for it, they end.
type Exit struct {
	Code   int    `yaml:"code,omitempty"`   // from 0 to 255
	Signal string `yaml:"signal,omitempty"` // that it dies of, in place of a code: SIGKILL or SIGTERM
	Stderr string `yaml:"stderr,omitempty"` // what it says before; at most 16 KiB
}

// Kind is the step's word.
func (Exit) Kind() string { return "exit" }

// String is the signal, or the code.
func (e Exit) String() string {
	if e.Signal != "" {
		return e.Signal
	}
	return fmt.Sprint(e.Code)
}

// Bounds of what a process is told.
const (
	saidLimit  = 16 << 10
	floodLimit = 1 << 30
)

func (e Exit) validate() error {
	switch {
	case e.Code < 0 || e.Code > 255:
		return fmt.Errorf("code %d: want 0 to 255", e.Code)
	case e.Signal != "" && e.Code != 0:
		return fmt.Errorf("signal %s and code %d: want one of them", e.Signal, e.Code)
	case len(e.Stderr) > saidLimit:
		return fmt.Errorf("stderr of %d bytes: want at most %d", len(e.Stderr), saidLimit)
	}
	return nil
}

func (p Process) validate() error {
	if p.Floods < 0 || p.Floods > floodLimit {
		return fmt.Errorf("floods %d: want 0 to %d bytes", p.Floods, floodLimit)
	}
	if err := notBefore("starts-after", p.StartsAfter); err != nil {
		return err
	}
	return p.Dies.validate()
}

// exit ends the process, or the pipes, of a call.
func (c *call) exit(how Exit) error {
	if c.out == nil || c.out.pipe == nil {
		c.record("violation", how.Kind()+" needs a pipe")
		return nil
	}
	if p, ok := c.out.pipe.w.(*childOutput); ok {
		order(p.link, how)
		return c.rest()
	}
	c.f.record(c.owner, c.f.Name, how.Kind(), how.String())
	c.f.bury(c.p, c)
	return errStopped
}

// born is the start of a process that pipes stand for. Its error is that it ended there.
func (f *Fake) born(ctx context.Context, owner *session, out *pipe) error {
	if _, real := out.w.(*childOutput); real { // it does all that itself
		return nil
	}
	m := owner.Script.Manners.Process
	if m.StartsAfter > 0 && !sleep(m.StartsAfter, ctx.Done()) {
		return context.Cause(ctx)
	}
	if m.Dies != (Exit{}) {
		f.record(owner, f.Name, m.Dies.Kind(), m.Dies.String())
		return errStopped
	}
	return nil
}

// order has a process end.
func order(link *control, how Exit) {
	body, err := json.Marshal(how)
	if err != nil {
		panic(err) // numbers and texts
	}
	link.send(frameEnd, body) // one that is gone needs no order
}

// bury ends the calls of a peer, but for one, and then its pipes.
func (f *Fake) bury(p *peer, spared *call) {
	f.mu.Lock()
	var running []*call
	for _, s := range f.sessions {
		for c := range s.current {
			if c.p == p && c != spared {
				running = append(running, c)
			}
		}
	}
	var stop context.CancelFunc
	if p.listen != nil {
		stop = f.pipes[p.listen.pipe]
	}
	f.mu.Unlock()
	for _, c := range running {
		c.halt()
	}
	if stop != nil {
		stop()
	}
}

// childInput is the standard input of a process: it is asked for.
type childInput struct {
	link   *control
	chunks chan []byte
	ended  chan struct{} // closed at its end, and when there is no process any more
	once   sync.Once
	wanted bool // some is on its way; the reader's
	rest   []byte
}

func (in *childInput) Read(b []byte) (int, error) {
	if len(in.rest) == 0 {
		if !in.wanted && in.link.send(frameRead, nil) != nil {
			return 0, io.EOF
		}
		in.wanted = true
		select {
		case in.rest = <-in.chunks:
			in.wanted = false
		case <-in.ended:
			return 0, io.EOF
		}
	}
	n := copy(b, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

func (in *childInput) end() { in.once.Do(func() { close(in.ended) }) }

// Close is the end of the pipes by the fake: that of a process that has not been told to end otherwise.
func (in *childInput) Close() error {
	select {
	case <-in.ended:
	default:
		in.end()
		order(in.link, Exit{Signal: "SIGKILL"})
	}
	return nil
}

// childOutput is the standard output of a process: a write returns when the process has written.
type childOutput struct {
	link    *control
	written chan bool     // or broken
	gone    chan struct{} // closed when there is no process any more
}

func (out *childOutput) Write(b []byte) (int, error) {
	for piece := range slices.Chunk(b, frameLimit) {
		if err := out.link.send(frameOutput, piece); err != nil {
			return 0, wire.ErrLeft
		}
		select {
		case ok := <-out.written:
			if !ok {
				return 0, wire.ErrLeft
			}
		case <-out.gone:
			return 0, wire.ErrLeft
		}
	}
	return len(b), nil
}

// Close has the process close its output.
func (out *childOutput) Close() error { return out.link.send(frameClose, nil) }

// ServeChild plays the server over stdio that the process at the other end of conn is: see [Child]. It returns when the
// process has ended, when ctx does, or at Close, which end the process; and closes conn. It is an error when what is there
// is no such process.
func (f *Fake) ServeChild(ctx context.Context, conn net.Conn) error {
	defer conn.Close()
	f.mu.Lock()
	owner := f.owner()
	if f.closed || owner == nil {
		f.mu.Unlock()
		return errClosed
	}
	over := f.over()
	f.serving.Add(1)
	f.mu.Unlock()
	defer f.serving.Done()

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan struct{})
	defer func() { stop(); <-ended }()
	go func() { // ends what is blocked, when the fake or ctx does
		defer close(ended)
		select {
		case <-ctx.Done():
		case <-over:
		}
		conn.Close()
	}()
	link := newControl(conn)
	what, err := link.first(frameHello, f.headerTime())
	if err != nil {
		return err
	}
	manners, err := json.Marshal(owner.Script.Manners.Process)
	if err != nil {
		panic(err) // numbers and texts
	}
	f.mu.Lock()
	f.children++
	name := fmt.Sprintf("%.20s %d", what, f.children)
	f.mu.Unlock()
	p := &process{f: f, owner: owner, name: name, link: link}
	p.note("start", "")
	if err := link.send(frameManners, manners); err != nil {
		return err
	}
	p.in = &childInput{link: link, chunks: make(chan []byte, 1), ended: make(chan struct{})}
	p.out = &childOutput{link: link, written: make(chan bool, 1), gone: make(chan struct{})}
	if string(what) == grandchild {
		p.listen(func() {})
		return nil
	}
	var listening sync.WaitGroup
	defer listening.Wait()
	// Its own context: what ends the pipes must not cut the connection, by which the process tells how it ends.
	piped, dead := context.WithCancel(context.Background())
	defer dead()
	client := newPeer("", true)
	listening.Go(func() { p.listen(func() { f.bury(client, nil); dead() }) })
	err = f.serveStdio(piped, p.in, p.out, client, func() { p.in.Close() })
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// process is a child process as its fake knows it.
type process struct {
	f     *Fake
	owner *session
	name  string
	link  *control
	in    *childInput
	out   *childOutput
}

func (p *process) note(kind, what string) {
	if what != "" {
		what += " "
	}
	p.f.record(p.owner, p.f.Name, kind, what+p.name)
}

// listen takes what the process tells, to its end; then it says so to dead, first of all.
func (p *process) listen(dead func()) {
	told := false
	for {
		f, err := p.link.receive()
		if err != nil {
			if !told && !errors.Is(err, net.ErrClosed) {
				p.note(Exit{}.Kind(), "unannounced")
			}
			break
		}
		switch f.kind {
		case frameInput:
			select {
			case p.in.chunks <- f.body:
			case <-p.in.ended:
			}
		case frameEOF:
			p.note("eof", "")
			p.in.end()
		case frameSignal:
			p.note("signal", string(bytes.ToValidUTF8(f.body[:min(len(f.body), 20)], nil)))
		case frameWritten, frameBroken:
			select {
			case p.out.written <- f.kind == frameWritten:
			default: // nothing was to be written
			}
		case frameFarewell:
			told = true
			p.note(Exit{}.Kind(), string(bytes.ToValidUTF8(f.body[:min(len(f.body), 20)], nil)))
			p.link.send(frameBye, nil)
		}
	}
	dead()
	close(p.out.gone)
	p.in.end()
}

// ServeChildren accepts the control connections of child processes on l until Close, when it returns nil, or until l
// fails, and plays the server that each is. It closes l.
func (f *Fake) ServeChildren(l net.Listener) error {
	defer l.Close()
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return errClosed
	}
	over := f.over()
	f.serving.Add(1)
	f.mu.Unlock()
	defer f.serving.Done()
	var running sync.WaitGroup
	defer running.Wait()
	returned := make(chan struct{})
	defer close(returned)
	running.Go(func() {
		select {
		case <-over:
		case <-returned:
		}
		l.Close()
	})
	places := make(chan struct{}, f.maxConns())
	for {
		conn, err := l.Accept()
		if err != nil {
			if closed(over) {
				return nil
			}
			return err
		}
		select {
		case places <- struct{}{}:
			running.Go(func() {
				defer func() { <-places }()
				f.ServeChild(context.Background(), conn) // what is no child of ours is let go
			})
		default:
			conn.Close()
		}
	}
}
