package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// StopReading has the fake read nothing more of a pipe, so that its client cannot write for long. A message that is being
// read when it begins is held until it is over.
type StopReading struct {
	For time.Duration `yaml:"for,omitempty"` // until the end when 0
}

// Kind is the step's word.
func (StopReading) Kind() string { return "stop-reading" }

// deafness is when a pipe is read again.
type deafness struct {
	mu    sync.Mutex
	until time.Time
	ever  bool
}

func (d *deafness) set(f time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.until, d.ever = time.Now().Add(f), f == 0
}

// wait returns when the pipe may be read, false when it never is.
func (d *deafness) wait(done <-chan struct{}) bool {
	d.mu.Lock()
	until, ever := d.until, d.ever
	d.mu.Unlock()
	if ever {
		<-done
		return false
	}
	if left := time.Until(until); left > 0 {
		return sleep(left, done)
	}
	return true
}

// close ends the writing side, and says whether it can.
func (p *pipe) close() bool {
	c, ok := p.w.(io.Closer)
	if ok {
		c.Close()
	}
	return ok
}

// ServeStdio answers one client, whose messages are the lines of r, with lines on w. It returns when r ends, when ctx
// does or at Close, and closes both where they can be closed: without that a read or a write that is under way holds it.
func (f *Fake) ServeStdio(ctx context.Context, r io.Reader, w io.Writer) error {
	return f.serveStdio(ctx, r, w, newPeer("", true), func() {
		for _, end := range []any{r, w} {
			if c, ok := end.(io.Closer); ok {
				c.Close()
			}
		}
	})
}

// serveStdio answers one client. When that is over, end is called, which unblocks what reads and writes.
func (f *Fake) serveStdio(ctx context.Context, r io.Reader, w io.Writer, p *peer, end func()) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.mu.Lock()
	owner := f.owner()
	if f.closed || owner == nil {
		f.mu.Unlock()
		end()
		return errClosed
	}
	over := f.over()
	f.serving.Add(1)
	f.piped++
	f.record(owner, f.Name, "connect", fmt.Sprintf("pipe %d", f.piped))
	note := func(kind, detail string) { f.record(owner, f.Name, kind, detail) }
	out := &pipe{w: w, done: ctx.Done(), note: note}
	p.listen = &stream{framing: lines, pipe: out, jobs: make(chan job), gone: ctx.Done(), note: note}
	if f.pipes == nil {
		f.pipes = map[*pipe]context.CancelFunc{}
	}
	f.pipes[out] = stop
	f.mu.Unlock()
	defer f.serving.Done()

	var working sync.WaitGroup
	working.Go(p.listen.serve)
	working.Go(func() {
		select {
		case <-ctx.Done():
		case <-over:
		}
		stop()
		end()
	})
	err := f.born(ctx, owner, out)
	if err == nil {
		if banner := owner.Script.Manners.Banner; banner != "" {
			p.listen.do(ctx.Done(), func() error { return out.write([]byte(banner)) })
		}
		err = f.lines(ctx, r, p, owner)
		if ctx.Err() == nil {
			f.record(owner, f.Name, "left", "fin")
		}
	}
	stop()
	f.mu.Lock()
	delete(f.pipes, out)
	f.mu.Unlock()
	p.running.Wait()
	working.Wait()
	return err
}

// lines reads messages until there are no more.
func (f *Fake) lines(ctx context.Context, r io.Reader, p *peer, owner *session) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, int(f.maxBody()))
	for in.Scan() && p.deaf.wait(ctx.Done()) {
		if len(in.Bytes()) == 0 {
			continue
		}
		m, no := parse(in.Bytes())
		if no != nil {
			f.complain(nil, p, owner, no)
			continue
		}
		f.dispatch(m, p, owner, nil)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		f.record(owner, f.Name, "violation", fmt.Sprintf("a message above %d bytes", f.maxBody()))
	}
	return in.Err()
}
