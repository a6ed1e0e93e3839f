package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/verdict"
)

// Pool plays jobs in worker processes, one process after another: a new one goes on where one died.
type Pool struct {
	Command []string      // what to execute
	Bubbles int           // trials at once in a process
	Silence time.Duration // a worker that reports nothing for so long of wall time is killed
	// Package is the import path below which the code under test lies: a death with it on the stack is the server's.
	Package string
	Find    func(id string) (harness.Case, bool)
}

var _ harness.Player = (*Pool)(nil)

// Run plays all jobs. Its error is stallwright's own trouble, such as a worker that cannot be started.
func (p *Pool) Run(ctx context.Context, jobs []harness.Job, w harness.Watch) error {
	for len(jobs) > 0 && ctx.Err() == nil {
		played, fallen, death, err := p.life(ctx, jobs, p.Bubbles, w)
		if err != nil {
			return err
		}
		jobs = without(jobs, played)
		if death == "" {
			return nil // all played, or stopped between trials
		}
		if len(fallen) == 0 && len(played) == 0 {
			return fmt.Errorf("worker: it died before its first trial: %s", head(death))
		}
		if len(fallen) == 1 {
			w.Played(fallen[0], p.fell(fallen[0], death))
		} else if err := p.alone(ctx, fallen, w); err != nil {
			return err
		}
		jobs = without(jobs, fallen)
	}
	return nil
}

// alone plays each of the jobs that were under way when a worker died by itself, so that the one that killed it is
// known.
func (p *Pool) alone(ctx context.Context, jobs []harness.Job, w harness.Watch) error {
	for _, j := range jobs {
		_, fallen, death, err := p.life(ctx, []harness.Job{j}, 1, w)
		if err != nil {
			return err
		}
		if len(fallen) > 0 {
			w.Played(j, p.fell(j, death))
		}
	}
	return nil
}

// fell is the result of a job that a worker did not survive.
func (p *Pool) fell(j harness.Job, death string) verdict.Result {
	c, _ := p.Find(j.Case)
	kind, noun := verdict.Crash, "panic"
	if strings.HasPrefix(death, hung) {
		kind, noun = verdict.Hang, "no-progress"
	}
	v := verdict.Error
	if p.Package != "" && strings.Contains(culprit(death, kind), p.Package) {
		v = verdict.Fail
	}
	r := harness.Fell(c, j.Seed, v, kind, noun, head(death))
	r.Attempt = j.Attempt
	return r
}

// hung begins the death of a worker that was killed for its silence.
const hung = "no progress for "

// life runs one worker process over jobs. It returns those with a result, those under way when it died, and how it
// died, "" when it ended by itself.
func (p *Pool) life(ctx context.Context, jobs []harness.Job, bubbles int, w harness.Watch) (played, fallen []harness.Job, death string, err error) {
	cmd := exec.Command(p.Command[0], p.Command[1:]...)
	cmd.Env = append(os.Environ(), "GOTRACEBACK=crash")
	// A group of its own: Ctrl-C at the terminal is for the parent, who stops the worker between trials.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr := &head1M{}
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, "", err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, "", fmt.Errorf("worker: %w", err)
	}
	stopping := context.AfterFunc(ctx, func() { stdin.Close() })
	defer stopping()
	line, _ := json.Marshal(order{Bubbles: bubbles, Jobs: jobs}) // plain values cannot fail
	if _, err := stdin.Write(append(line, '\n')); err != nil {
		stderr.Write([]byte("the order was not taken: " + err.Error()))
	}
	var silent atomic.Bool
	watchdog := time.AfterFunc(p.Silence, func() {
		silent.Store(true)
		cmd.Process.Signal(syscall.SIGQUIT) // the stacks, then death
	})
	last := time.AfterFunc(p.Silence+5*time.Second, func() { cmd.Process.Kill() })
	under := map[harness.Job]bool{}
	in := bufio.NewReaderSize(stdout, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		watchdog.Reset(p.Silence)
		last.Reset(p.Silence + 5*time.Second)
		var r report
		if json.Unmarshal(line, &r) != nil {
			stderr.Write(line) // not ours: something printed on stdout
			continue
		}
		switch {
		case r.Started != nil:
			under[*r.Started] = true
			w.Started(*r.Started)
		case r.Job != nil && r.Result != nil:
			delete(under, *r.Job)
			played = append(played, *r.Job)
			w.Played(*r.Job, *r.Result)
		}
	}
	failed := cmd.Wait()
	watchdog.Stop()
	last.Stop()
	stdin.Close()
	for _, j := range jobs {
		if under[j] {
			fallen = append(fallen, j)
		}
	}
	switch {
	case silent.Load():
		return played, fallen, hung + p.Silence.String() + "\n" + stderr.String(), nil
	case failed != nil:
		return played, fallen, failed.Error() + "\n" + stderr.String(), nil
	}
	return played, fallen, "", nil
}

func without(jobs, gone []harness.Job) []harness.Job {
	out := map[harness.Job]bool{}
	for _, j := range gone {
		out[j] = true
	}
	var rest []harness.Job
	for _, j := range jobs {
		if !out[j] {
			rest = append(rest, j)
		}
	}
	return rest
}

// culprit is the part of a death's stacks that says who was at fault: of a crash the first goroutine, of a hang all
// that were running or waited for a lock.
func culprit(death string, kind verdict.Kind) string {
	_, stacks, _ := strings.Cut(death, "\ngoroutine ")
	blocks := strings.Split(stacks, "\ngoroutine ")
	if kind == verdict.Crash {
		return blocks[0]
	}
	var out []string
	for _, b := range blocks {
		state, _, _ := strings.Cut(b, "\n")
		if strings.Contains(state, "running") || strings.Contains(state, "runnable") || strings.Contains(state, "Mutex") {
			out = append(out, b)
		}
	}
	return strings.Join(out, "\n")
}

// head is the first lines of a death: what was said, and the top of the first stack.
func head(death string) string {
	lines := strings.Split(strings.TrimSpace(death), "\n")
	return strings.Join(lines[:min(len(lines), 12)], "\n")
}

// head1M keeps the first MiB of what is written to it.
type head1M struct {
	mu sync.Mutex
	b  []byte
}

var _ io.Writer = (*head1M)(nil)

func (h *head1M) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.b = append(h.b, p[:min(len(p), 1<<20-len(h.b))]...)
	return len(p), nil
}

func (h *head1M) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.b)
}
