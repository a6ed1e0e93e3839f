package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	"github.com/stallwright/stallwright/harness"
)

const (
	// stopWait is how long a child may take to end after SIGTERM: above all its short windows together.
	stopWait = 5 * time.Second
	// logWait is how long the log is read after the child's end: only a process that left its group can still write.
	logWait = time.Second
	// logKept is how much of the end of a log is kept for messages.
	logKept = 64 << 10
)

// child is a server under test that was started as a process.
type child struct {
	cmd       *exec.Cmd
	folder    string
	address   string
	log       *journal
	done      chan struct{}  // closed when it was reaped
	read      chan struct{}  // closed when its log was read to the end
	signalled atomic.Bool    // by a trial
	peers     *harness.Peers // nil when it has none
}

var _ harness.Server = (*child)(nil)

// startChild starts a server and waits until its log names its address. It fails when that takes longer than wait,
// when the child ends before, and when ctx does, with the cause of ctx; then nothing of it is left.
func startChild(ctx context.Context, c harness.Command, wait time.Duration) (*child, error) {
	if len(c.Args) == 0 || c.Ready == nil {
		return nil, errors.New("its command has no executable, or no way to find its address")
	}
	// The child has another working folder than this process, which a relative path is meant for.
	path, err := exec.LookPath(c.Args[0])
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "stallwright-")
	if err != nil {
		return nil, err
	}
	ch := &child{
		folder: folder, log: &journal{ready: c.Ready, found: make(chan string, 1)},
		done: make(chan struct{}), read: make(chan struct{}),
		cmd: &exec.Cmd{
			Path: path, Args: c.Args, Dir: folder, Env: append(environment(os.Environ()), c.Env...),
			// A group of its own: Ctrl-C at the terminal is not for it, and its children end with it.
			SysProcAttr: ofItsOwn(),
		},
	}
	if err := ch.launch(c.Files); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	if err := ch.awaitReady(ctx, wait); err != nil {
		ch.stop()
		return nil, err
	}
	return ch, nil
}

// environment is what a child gets of this process's environment. The rest of it would make results depend on the
// machine, and may hold keys.
func environment(all []string) []string {
	passed := []string{"PATH", "HOME", "TMPDIR", "LANG", "GORACE", "GOCOVERDIR", "STALLWRIGHT_MUTANT"}
	// A server built with the race detector would sleep for a second when it exits, and be judged for that. The last
	// of two settings counts.
	out := []string{"GORACE=atexit_sleep_ms=0"}
	for _, v := range all {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(passed, name) {
			out = append(out, v)
		}
	}
	return out
}

// launch writes the files, starts the process, and starts to read its log and to wait for its end.
func (c *child) launch(files map[string]string) error {
	for name, text := range files {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("file %q lies outside of the server's folder", name)
		}
		path := filepath.Join(c.folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	// A pipe of our own: the one of os/exec is closed at the process's end with what is still unread.
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	c.cmd.Stdout, c.cmd.Stderr = in, in
	err = c.cmd.Start()
	in.Close()
	if err != nil {
		out.Close()
		return err
	}
	go func() { // ends with the pipe, or logWait after the process
		defer close(c.read)
		defer out.Close()
		c.log.readAll(out)
	}()
	go func() { // ends with the process; stop waits for it
		c.cmd.Wait()
		// What the server left behind. Its group's number is not given out again so soon.
		syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		out.SetReadDeadline(time.Now().Add(logWait))
		close(c.done)
	}()
	return nil
}

func (c *child) awaitReady(ctx context.Context, wait time.Duration) error {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case c.address = <-c.log.found:
		return nil
	case <-c.done:
		return errors.New("it " + c.ending() + " before it was ready" + c.lastLines())
	case <-limit.C:
		return fmt.Errorf("it was not ready within %s%s", wait, c.lastLines())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Signal sends SIGTERM or SIGINT, and panics when asked for another. A child that has ended gets none.
func (c *child) Signal(name string) {
	signals := map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT}
	s, ok := signals[name]
	if !ok {
		panic("process: no signal " + name)
	}
	c.signalled.Store(true)
	c.cmd.Process.Signal(s)
}

// Done is closed when the child has ended and was reaped.
func (c *child) Done() <-chan struct{} { return c.done }

// Exit is the exit code, -1 after a signal. It is valid once Done is closed.
func (c *child) Exit() int { return c.cmd.ProcessState.ExitCode() }

func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// code is the exit in the words of a timeline: 0, or "signal: killed".
func (c *child) code() string {
	if c.Exit() >= 0 {
		return strconv.Itoa(c.Exit())
	}
	return c.cmd.ProcessState.String()
}

// ending is how the child ended in words that follow a subject.
func (c *child) ending() string {
	if c.Exit() >= 0 {
		return fmt.Sprintf("exited with status %d", c.Exit())
	}
	return "was ended by a " + c.cmd.ProcessState.String()
}

// lastLines are the last of its log, as the end of a sentence. Those of a child that has ended are complete.
func (c *child) lastLines() string {
	if c.ended() {
		<-c.read
	}
	if lines := c.log.last(); lines != "" {
		return "; its last log lines:\n" + lines
	}
	return "; it logged nothing"
}

// stop ends the child and waits until nothing of it is left.
func (c *child) stop() {
	// The second signal skips the grace. It comes later: two pending signals of one kind are one.
	for _, step := range []struct {
		signal func()
		wait   time.Duration
	}{
		{func() { c.cmd.Process.Signal(syscall.SIGTERM) }, slack},
		{func() { c.cmd.Process.Signal(syscall.SIGTERM) }, stopWait},
	} {
		step.signal()
		timer := time.NewTimer(step.wait)
		select {
		case <-c.done:
		case <-timer.C:
		}
		timer.Stop()
	}
	if !c.ended() {
		syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		<-c.done
	}
	<-c.read
	os.RemoveAll(c.folder)
	if c.peers != nil {
		c.peers.Close()
	}
}

// journal takes a server's log: it keeps the end of it, finds the address, and passes lines on. It is safe for
// concurrent use.
type journal struct {
	ready func(line string) string
	found chan string // gets the address once

	mu    sync.Mutex
	kept  []byte
	sink  io.Writer
	named bool
}

// tell passes the lines from now on to w as well.
func (j *journal) tell(w io.Writer) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sink = w
}

// readAll reads until the end of the log. A line longer than the buffer comes in parts.
func (j *journal) readAll(log io.Reader) {
	in := bufio.NewReaderSize(log, logKept)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			if len(line) > 0 {
				j.add(append(line, '\n'))
			}
			return
		}
		j.add(line)
	}
}

func (j *journal) add(line []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept = append(j.kept, line...)
	if over := len(j.kept) - logKept; over > 0 {
		j.kept = append(j.kept[:0], j.kept[over:]...)
	}
	if !j.named {
		if address := j.ready(strings.TrimRight(string(line), "\r\n")); address != "" {
			j.named = true
			j.found <- address
		}
	}
	if j.sink != nil {
		j.sink.Write(line)
	}
}

// What a message shows of a log.
const (
	linesShown = 10
	bytesShown = 2 << 10
)

// last are the last lines of the log, with nothing in them that a terminal would obey.
func (j *journal) last() string {
	j.mu.Lock()
	text := string(j.kept)
	j.mu.Unlock()
	text = strings.TrimSpace(text[max(0, len(text)-bytesShown):])
	lines := strings.Split(text, "\n")
	text = strings.Join(lines[max(0, len(lines)-linesShown):], "\n")
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		return unicode.ReplacementChar
	}, text)
}
