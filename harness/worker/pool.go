package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/verdict"
)

// Pool plays jobs in worker processes, one process after another: a new one goes on where one died.
type Pool struct {
	Command []string      // what to execute
	Bubbles int           // trials at once in a process; 1 when 0
	Silence time.Duration // a worker that reports nothing for so long of wall time is killed; a minute when 0
	// Package is the import path below which the code under test lies: a death with it on the stack is the server's.
	Package string
	Find    func(id string) (harness.Case, bool)
}

var _ harness.Player = (*Pool)(nil)

const (
	// lastWords is how long a worker may take to print its stacks when it is killed: the runtime gives its threads
	// up to ten seconds.
	lastWords = 15 * time.Second
	// longestLine bounds one report: a result with the excerpts of all its findings is some hundred KiB at most.
	longestLine = 32 << 20
)

// Run plays all jobs. Its error is stallwright's own trouble, such as a worker that cannot be started, or died and
// did not die again when each of its trials was played by itself.
func (p *Pool) Run(ctx context.Context, jobs []harness.Job, w harness.Watch) error {
	var unexplained []error
	for deaths := 0; len(jobs) > 0 && ctx.Err() == nil; deaths++ {
		if deaths == mostDeaths {
			p.giveUp(jobs, w)
			break
		}
		l, err := p.life(ctx, jobs, p.Bubbles, w)
		if err != nil {
			return err
		}
		if l.death == "" {
			break // all played, or stopped between trials
		}
		switch len(l.fallen) {
		case 0:
			if len(l.played) == 0 {
				return fmt.Errorf("worker: it died before its first trial: %s", head(l.death))
			}
		case 1:
			w.Played(l.fallen[0], p.fell(l.fallen[0], l.death))
		default:
			again, err := p.alone(ctx, l.fallen, w)
			if err != nil {
				return err
			}
			if !again && ctx.Err() == nil {
				unexplained = append(unexplained, p.unexplained(len(l.fallen), l.death))
			}
		}
		jobs = without(without(jobs, l.played), l.fallen)
	}
	return errors.Join(unexplained...)
}

// mostDeaths is how many workers a run may lose. A server that hangs in every case costs a watchdog's time each.
const mostDeaths = 8

// giveUp says of the jobs that are left that they were not played.
func (p *Pool) giveUp(jobs []harness.Job, w harness.Watch) {
	for _, j := range jobs {
		c, _ := p.Find(j.Case)
		w.Started(j)
		r := harness.Fell(c, j.Seed, verdict.Inconclusive, verdict.Crash, "", fmt.Sprintf("not played: cases before it have ended the process %d times", mostDeaths))
		r.Attempt = j.Attempt
		w.Played(j, r)
	}
}

// unexplained is the error for a death that no trial brings about by itself.
func (p *Pool) unexplained(trials int, death string) error {
	first, _, _ := strings.Cut(head(death), "\n")
	if !p.atFault(death, verdict.Crash) {
		return fmt.Errorf("worker: it died among %d trials, and none of them did that by itself: %s", trials, head(death))
	}
	return &harness.TargetError{
		Subject: "the server under test", Hint: "play the whole run again, with -j 1 too; what it needs to die is more than one case",
		Err: fmt.Errorf("it died among %d trials, and of none of them alone: %s", trials, first),
	}
}

// atFault says whether a death is the doing of the code under test: it is on the stack, or the process was ended in an
// orderly way, which only that code does while a trial is under way.
func (p *Pool) atFault(death string, kind verdict.Kind) bool {
	if kind == verdict.Crash && exited(death) {
		return true
	}
	return p.Package != "" && strings.Contains(culprit(death, kind), p.Package)
}

// exited says whether a process ended by os.Exit. A worker's own codes, and the race detector's, are none of that.
func exited(death string) bool {
	if strings.Contains(death, "\ngoroutine ") || strings.HasPrefix(death, "exit status 70\n") || strings.HasPrefix(death, "exit status 66\n") {
		return false
	}
	return strings.HasPrefix(death, "exit status ") || strings.HasPrefix(death, exitedWell)
}

// exitedWell is the death of a worker that ended as if it had played all.
const exitedWell = "it exited with status 0 before its end"

// alone plays each of the jobs that were under way when a worker died by itself, so that the one that killed it is
// known. It says whether one did.
func (p *Pool) alone(ctx context.Context, jobs []harness.Job, w harness.Watch) (died bool, err error) {
	w.Started = func(harness.Job) {} // they were
	for _, j := range jobs {
		l, err := p.life(ctx, []harness.Job{j}, 1, w)
		switch {
		case err != nil:
			return died, err
		case len(l.fallen) > 0:
			died = true
			w.Played(j, p.fell(j, l.death))
		case len(l.played) == 0 && ctx.Err() == nil:
			return died, fmt.Errorf("worker: it died before its first trial: %s", head(l.death))
		}
	}
	return died, nil
}

// fell is the result of a job that a worker did not survive.
func (p *Pool) fell(j harness.Job, death string) verdict.Result {
	c, _ := p.Find(j.Case)
	kind, noun := verdict.Crash, "panic"
	if strings.HasPrefix(death, hung) {
		kind, noun = verdict.Hang, "no-progress"
	}
	if kind == verdict.Crash && exited(death) {
		noun = "exit"
	}
	blame := culprit(death, kind)
	v := verdict.Error
	if p.atFault(death, kind) {
		v = verdict.Fail
	}
	if kind == verdict.Hang && blame != "" {
		// The stacks begin with those of the runtime.
		why, _, _ := strings.Cut(death, "\n")
		death = why + "\n" + blame
	}
	r := harness.Fell(c, j.Seed, v, kind, noun, head(death))
	r.Attempt = j.Attempt
	return r
}

// hung begins the death of a worker that was killed for its silence.
const hung = "no progress for "

// life is what one worker process did.
type life struct {
	played []harness.Job // those with a result
	fallen []harness.Job // those under way when it died
	death  string        // how it died, "" when it played all or was stopped
}

// life runs one worker process over jobs.
func (p *Pool) life(ctx context.Context, jobs []harness.Job, bubbles int, w harness.Watch) (life, error) {
	cmd := exec.Command(p.Command[0], p.Command[1:]...)
	// Built with the race detector it would sleep for a second before it exits. The last of two settings counts.
	cmd.Env = append([]string{"GORACE=atexit_sleep_ms=0"}, append(os.Environ(), "GOTRACEBACK=crash")...)
	// A group of its own: Ctrl-C at the terminal is for the parent, who stops the worker between trials.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr := &words{}
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return life{}, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return life{}, err
	}
	if err := cmd.Start(); err != nil {
		return life{}, fmt.Errorf("worker: %w", err)
	}
	silence := p.Silence
	if silence == 0 {
		silence = time.Minute
	}
	var silent atomic.Bool
	watchdog := time.AfterFunc(silence, func() {
		silent.Store(true)
		cmd.Process.Signal(syscall.SIGQUIT) // the stacks, then death
	})
	last := time.AfterFunc(silence+lastWords, func() { cmd.Process.Kill() })
	// The order may be longer than a pipe holds: from here on the watchdog is what ends a worker that does not read.
	line, _ := json.Marshal(order{Bubbles: bubbles, Jobs: jobs}) // plain values cannot fail
	if _, err := stdin.Write(append(line, '\n')); err != nil {
		stderr.Write([]byte("the order was not taken: " + err.Error() + "\n"))
	}
	stopping := context.AfterFunc(ctx, func() { stdin.Close() })
	defer stopping()
	var l life
	under := map[harness.Job]bool{}
	in := bufio.NewScanner(stdout)
	in.Buffer(nil, longestLine)
	for in.Scan() {
		watchdog.Reset(silence)
		last.Reset(silence + lastWords)
		var r report
		if json.Unmarshal(in.Bytes(), &r) != nil {
			stderr.Write(append(in.Bytes(), '\n')) // not ours: something printed on stdout
			continue
		}
		switch {
		case r.Started != nil:
			under[*r.Started] = true
			w.Started(*r.Started)
		case r.Job != nil && r.Result != nil:
			delete(under, *r.Job)
			l.played = append(l.played, *r.Job)
			w.Played(*r.Job, *r.Result)
		}
	}
	if in.Err() != nil {
		cmd.Process.Kill() // it writes what nobody reads
	}
	failed := cmd.Wait()
	watchdog.Stop()
	last.Stop()
	for _, j := range jobs {
		if under[j] {
			l.fallen = append(l.fallen, j)
		}
	}
	switch {
	case silent.Load():
		l.death = hung + silence.String()
	case in.Err() != nil:
		l.death = "its report cannot be read: " + in.Err().Error()
	case failed != nil:
		l.death = failed.Error()
	case len(l.fallen) > 0, len(l.played) < len(jobs) && ctx.Err() == nil:
		l.death = exitedWell // os.Exit in the code under test
	default:
		return l, nil
	}
	l.death += "\n" + stderr.String()
	return l, nil
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
