package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// writeWindow is how long a child may leave its input unread. A server that works may be slow to read, but the pipe holds 64 KiB.
	writeWindow = 10 * time.Second
	maxFrames   = 256                    // messages that wait to be written: far more than calls of one run
	lastWords   = 2 << 10                // bytes of its standard error that are kept of a child
	exitWindow  = 500 * time.Millisecond // from a child's last output to its exit, or back: to tell how it died
)

// child is an MCP server that was started: a process group, three pipes, and the goroutines that serve them. A connection may stand
// for all that: what it reads is the child's input, and its end the child's exit.
type child struct {
	link *link
	lost func(error)
	cmd  *exec.Cmd // nil when a connection stands for it
	out  io.ReadCloser
	errs io.Closer
	box  *outbox

	quit   chan struct{} // closed when nobody waits for output any more
	exited chan struct{} // closed when the process is gone and reaped
	read   chan struct{} // closed when its output is at an end
	status error         // how it exited; read after exited
	said   tail
	lines  *lines
	wg     sync.WaitGroup

	mu     sync.Mutex
	reaped bool
}

// start runs the server's command in a process group of its own, so that what it starts ends with it.
func start(s Server, l *link, lost func(error)) (*child, error) {
	if s.Command == "" {
		return nil, errors.New("there is no command")
	}
	c := &child{link: l, lost: lost, quit: make(chan struct{}), exited: make(chan struct{}), read: make(chan struct{}), cmd: exec.Command(s.Command, s.Args...)}
	c.cmd.Env = environment(s.Env)
	ownGroup(c.cmd)
	var files [6]*os.File
	for i := 0; i < len(files); i += 2 {
		var err error
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			closeAll(files[:])
			return nil, err
		}
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = files[0], files[3], files[5]
	if err := c.cmd.Start(); err != nil {
		closeAll(files[:])
		return nil, err
	}
	closeAll([]*os.File{files[0], files[3], files[5]})
	c.out, c.errs = files[2], files[4]
	c.wg.Go(func() { _, _ = io.Copy(&c.said, files[4]) })
	c.wg.Go(c.wait)
	c.serve(files[1])
	return c, nil
}

// attach takes a connection for a child that was started.
func attach(conn net.Conn, l *link, lost func(error)) *child {
	c := &child{link: l, lost: lost, quit: make(chan struct{}), exited: make(chan struct{}), read: make(chan struct{}), out: conn, errs: conn}
	c.wg.Go(func() {
		defer close(c.exited)
		select {
		case <-c.read:
		case <-c.quit:
		}
	})
	c.serve(halfCloser{conn})
	return c
}

// halfCloser closes the writing side of a connection alone, where it has two.
type halfCloser struct{ net.Conn }

func (h halfCloser) Close() error {
	if half, ok := h.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return h.Conn.Close()
}

// serve begins to write the child's input and to read its output.
func (c *child) serve(in io.WriteCloser) {
	c.box = &outbox{link: c.link, file: in, frames: make(chan frame, maxFrames), done: make(chan struct{}), window: writeWindow, stuck: c.stuck}
	c.wg.Go(c.box.write)
	c.lines = &lines{child: c, in: bufio.NewReader(c.out), turn: make(chan struct{}, 1)}
	c.link.inner = transport.NewIO(c.lines, c.box, nil)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// environment is what a child gets to see. The names are those that a program, or the shell or package runner in front of it, needs.
func environment(own map[string]string) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TERM", "TZ", "TMPDIR",
		"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PROGRAMFILES"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for name, v := range own {
		env = append(env, name+"="+v)
	}
	return env
}

// wait reaps the process when it exits, ends what it left behind in its group, and lets its last output be read.
func (c *child) wait() {
	c.status = c.cmd.Wait()
	c.mu.Lock()
	c.reaped = true
	signalGroup(c.cmd, syscall.SIGKILL)
	c.mu.Unlock()
	close(c.exited)
	c.within(c.read) // a process that left the group may hold the pipe open
	c.lost(c.death())
}

// death is how the child is gone.
func (c *child) death() error {
	select {
	case <-c.exited:
		if c.status != nil {
			return fmt.Errorf("the server exited: %w", c.status)
		}
		return errors.New("the server exited")
	default:
		return errors.New("the server closed its output")
	}
}

func (c *child) stuck() {
	c.lost(fmt.Errorf("the server reads nothing for %v", writeWindow))
	c.signal(syscall.SIGKILL)
}

// signal is for the whole group, and for nobody once the process is reaped: its id may be another's.
func (c *child) signal(s syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.cmd == nil:
		if s == syscall.SIGKILL {
			c.out.Close()
		}
	case !c.reaped:
		signalGroup(c.cmd, s)
	}
}

// cancel writes a cancellation and waits until it is written.
func (c *child) cancel(ctx context.Context, n mcp.JSONRPCNotification) {
	line, err := json.Marshal(n)
	if err != nil {
		return
	}
	written := make(chan struct{})
	if c.box.post(frame{append(line, '\n'), written}) {
		select {
		case <-written:
		case <-c.box.done:
		case <-ctx.Done():
		}
	}
}

// close ends the child: its input is closed, then it is asked, then killed, each within a third of the time that ctx leaves.
func (c *child) close(ctx context.Context) {
	left := writeWindow
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	_ = c.link.Close()
	c.wg.Go(c.lines.drain)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-c.exited:
		case <-ctx.Done():
			s = syscall.SIGKILL
		case <-time.After(left / 3):
		}
		c.signal(s)
	}
	select {
	case <-c.exited:
	case <-ctx.Done():
	}
	close(c.quit)
	c.out.Close()
	c.errs.Close()
	c.wg.Wait()
}

// within waits for something, but not long, and not when the child is being closed.
func (c *child) within(done <-chan struct{}) {
	t := time.NewTimer(exitWindow)
	defer t.Stop()
	select {
	case <-done:
	case <-c.quit:
	case <-t.C:
	}
}

// tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p[max(0, len(p)-lastWords):]...)
	t.last = append([]byte(nil), t.last[max(0, len(t.last)-lastWords):]...)
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}

// frame is a message for the child.
type frame struct {
	line    []byte
	written chan struct{} // closed when the pipe has it; nil when nobody waits
}

// outbox is the child's input. Writing to it never waits: mcp-go writes under a lock and without a context, so that one full pipe would
// hold every call beyond its end.
type outbox struct {
	link   *link
	file   io.WriteCloser
	frames chan frame
	done   chan struct{} // closed when nothing is written any more
	once   sync.Once
	window time.Duration // for one message
	stuck  func()        // told once a message waits longer, or too many wait
}

// Write takes one message of mcp-go's. What comes after Close, or too much, is lost: the connection is, too.
func (b *outbox) Write(p []byte) (int, error) {
	b.note(p)
	b.post(frame{line: bytes.Clone(p)})
	return len(p), nil
}

func (b *outbox) post(f frame) bool {
	select {
	case <-b.done:
		return false
	default:
	}
	select {
	case b.frames <- f:
		return true
	default:
		b.stuck()
		return false
	}
}

// Close closes the child's input, also under a write that waits.
func (b *outbox) Close() error {
	b.once.Do(func() {
		close(b.done)
		b.file.Close()
	})
	return nil
}

// write passes the messages on until the input is closed or the child reads no more.
func (b *outbox) write() {
	defer b.Close()
	for {
		select {
		case <-b.done:
			return
		case f := <-b.frames:
			watchdog := time.AfterFunc(b.window, b.stuck)
			_, err := b.file.Write(f.line)
			watchdog.Stop()
			if err != nil {
				return // the exit, or the end of the output, says why
			}
			if f.written != nil {
				close(f.written)
			}
		}
	}
}

// note tells the link which request the child is about to have. A cancellation comes behind it.
func (b *outbox) note(line []byte) {
	if is, id, _ := classify(line); is == request {
		if ex := b.link.find(id); ex != nil {
			b.link.sent(ex)
		}
	}
}

// lines is the child's output as mcp-go is to see it: whole messages of a bounded size. mcp-go's own goroutine reads it, until its transport
// is closed at the latest, and from then on the child itself.
type lines struct {
	child *child
	turn  chan struct{} // held by who reads
	in    *bufio.Reader
	out   []byte
	ended sync.Once
}

func (r *lines) Read(p []byte) (int, error) {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	for len(r.out) == 0 {
		line, scan, err := r.line()
		switch {
		case err != nil:
			r.ended.Do(r.end)
			return 0, io.EOF // any other error mcp-go would log
		case r.pass(line, scan):
			r.out = append(line, '\n')
		}
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// drain reads to the end, so that the end is seen when mcp-go reads no more, and a child that still writes is not held up.
func (r *lines) drain() {
	p := make([]byte, 4<<10)
	for {
		if _, err := r.Read(p); err != nil {
			return
		}
	}
}

// end lets the exit be known before mcp-go fails the calls.
func (r *lines) end() {
	close(r.child.read)
	r.child.within(r.child.exited)
	r.child.lost(r.child.death())
}

// pass says whether a line is for mcp-go. An answer that cannot be read ends the wait for it.
func (r *lines) pass(line []byte, scan *idScanner) bool {
	l, problem := r.child.link, errTooLarge
	if scan == nil {
		switch is, id, _ := classify(line); is {
		case notification, request:
			return true
		case response:
			ex := l.find(id)
			return ex != nil && l.answered(ex)
		}
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
			return false
		}
		scan, problem = &idScanner{}, errMalformed
		scan.feed(line)
	}
	if id, ok := scan.response(); ok {
		if ex := l.find(id); ex != nil {
			l.abort(ex, problem)
		}
	}
	return false
}

// line reads a line, without its end. Of one that is too large it returns only the scanner that went over it.
func (r *lines) line() ([]byte, *idScanner, error) {
	var line []byte
	var scan *idScanner
	for {
		part, err := r.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, nil, err // also of a line that the end cuts
		}
		if scan == nil {
			line = append(line, part...)
			if len(line) > maxBytes {
				scan = &idScanner{}
				scan.feed(line)
				line = nil
			}
		} else {
			scan.feed(part)
		}
		if err == nil {
			return bytes.TrimRight(line, "\r\n"), scan, nil
		}
	}
}
