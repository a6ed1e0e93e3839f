package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports"
)

// session is one run under way.
type session struct {
	cli   *cli
	plan  plan
	flags runFlags
	out   leftOut
	run   reports.Run
	jobs  []harness.Job // the canary first and last
	total int           // of what was selected
	files reportFiles

	progress *progress
	cancel   context.CancelCauseFunc

	mu      sync.Mutex
	results []verdict.Result
	played  int // jobs
	failed  int
	frozen  bool // no result is taken any more
}

// schedule makes the jobs: each case once before any a second time. The seed follows from the attempt alone, so that
// a case plays the same by itself.
func (s *session) schedule(chosen []harness.Case) {
	canary := s.cli.library.canaries()
	var jobs []harness.Job
	asked := false // for the canary itself
	for attempt := 1; attempt <= s.flags.repeat; attempt++ {
		seed := s.flags.seed + uint64(attempt-1)
		for _, c := range chosen {
			switch {
			case s.cli.library.isCanary(c.ID()):
				asked = true
			case !s.out.whole(c):
				jobs = append(jobs, harness.Job{Case: c.ID(), Attempt: attempt, Seed: seed})
			case attempt == 1:
				s.results = append(s.results, s.out.skipped(c, seed))
			}
		}
	}
	s.total = len(jobs)
	if len(jobs) == 0 && !asked {
		return
	}
	before := harness.Job{Case: canary[0].ID(), Attempt: 1, Seed: s.flags.seed}
	after := harness.Job{Case: canary[len(canary)-1].ID(), Attempt: 1, Seed: s.flags.seed}
	s.jobs = append(append([]harness.Job{before}, jobs...), after)
}

// errCanary says that an attached server did not answer the plain request.
var errCanary = errors.New("the canary was not answered")

// crash is a panic of the player's.
type crash struct {
	value any
	stack []byte
}

func (c crash) Error() string { return fmt.Sprintf("stallwright broke: %v", c.value) }

// play plays the jobs, writes the reports and returns the exit code.
func (s *session) play(watch *signals, player harness.Player) int {
	ctx := watch.ctx
	s.cancel = watch.cancel
	s.progress = s.newProgress()
	watch.tell(s.progress.say)
	if s.flags.timeout > 0 {
		limit := time.AfterFunc(s.flags.timeout, func() { s.cancel(stop{"timeout"}) })
		defer limit.Stop()
	}
	s.run.Started = time.Now()
	s.progress.begin()
	if s.flags.verbose {
		for _, r := range s.results {
			s.tell(r)
		}
	}
	done := make(chan error, 1)
	go func() { // waited for, unless the run is killed: then it ends with the process
		defer func() {
			if p := recover(); p != nil {
				done <- crash{p, debug.Stack()}
			}
		}()
		done <- s.playAll(ctx, player)
	}()
	var err error
	select {
	case err = <-done:
	case <-watch.killed:
		killChildren()
	}
	s.mu.Lock()
	s.frozen = true
	s.mu.Unlock()
	s.progress.finish()
	s.run.Wall = time.Since(s.run.Started)
	return s.conclude(context.Cause(ctx), err)
}

func (s *session) playAll(ctx context.Context, player harness.Player) error {
	watch := harness.Watch{Started: s.progress.started, Played: s.took}
	if !s.plan.attached() {
		return player.Run(ctx, s.jobs, watch)
	}
	s.tellWait(ctx)
	// Of a server that nobody here started, the first question is whether it talks to the fake at all.
	n := len(s.jobs)
	for i, part := range [][]harness.Job{s.jobs[:1], s.jobs[1 : n-1], s.jobs[n-1:]} {
		if len(part) == 0 || ctx.Err() != nil {
			continue
		}
		if err := player.Run(ctx, part, watch); err != nil {
			return err
		}
		if i == 0 && ctx.Err() == nil && !s.canaryPassed() {
			return errCanary
		}
	}
	return nil
}

// tellWait says that an attached server is waited for, when nothing listens at its address: else the first sign would be the
// end of the wait.
func (s *session) tellWait(ctx context.Context) {
	u, err := url.Parse(s.plan.url)
	if err != nil {
		return
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80")))
	if err == nil {
		conn.Close()
		return
	}
	if ctx.Err() == nil {
		s.progress.say(fmt.Sprintf("nothing listens at %s: waiting for it, at most %s", s.plan.url, attachWait))
	}
}

func (s *session) canaryPassed() bool {
	r, ok := s.canaryBefore()
	return ok && r.Verdict == verdict.Pass
}

func (s *session) canaryBefore() (verdict.Result, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.results {
		if r.Case == s.jobs[0].Case {
			return r, true
		}
	}
	return verdict.Result{}, false
}

// took takes a result.
func (s *session) took(j harness.Job, r verdict.Result) {
	r = s.out.filter(r)
	r.Attempt = j.Attempt
	s.mu.Lock()
	if s.frozen {
		s.mu.Unlock()
		return
	}
	s.results = append(s.results, r)
	s.played++
	if s.fails(r) {
		s.failed++
	}
	most := s.flags.maxFailures
	if s.flags.first {
		most = 1
	}
	enough := most > 0 && s.failed >= most
	s.mu.Unlock()
	if enough {
		s.cancel(stop{"max-failures"})
	}
	s.progress.played(j, r, !s.cli.library.isCanary(j.Case) || s.total == 0)
	s.tell(r)
}

// fails reports whether a result fails the run.
func (s *session) fails(r verdict.Result) bool {
	for _, f := range reports.Judgements(r) {
		level := s.cli.library.level(f.Guarantee)
		if f.Verdict == verdict.Fail && (level == verdict.Must || level == verdict.Should && s.flags.strict) {
			return true
		}
	}
	return false
}

// tell writes the line of a case that passed or was skipped, with -v.
func (s *session) tell(r verdict.Result) {
	if s.flags.verbose && !s.flags.quiet && (r.Verdict == verdict.Pass || r.Verdict == verdict.Skip) {
		s.progress.above(func() { s.style().Passed(s.human(), r) })
	}
}

// conclude writes the reports, says how it went and returns the exit code.
func (s *session) conclude(cause, err error) int {
	var e ending
	left := len(s.jobs) - s.played
	var why stop
	if errors.As(cause, &why) && (left > 0 || strings.HasPrefix(why.why, "SIG")) {
		s.run.Stopped = why.why
		if strings.HasPrefix(why.why, "SIG") {
			e.signal = why.why
		}
	}
	var fell crash
	var lost *harness.TargetError
	switch {
	case errors.As(err, &fell):
		e.crashed = true
		s.cli.complain(fell, keepStack(fell.stack))
	case errors.Is(err, errCanary):
		e.target = true
		s.run.Stopped = cmp.Or(s.run.Stopped, "target lost")
		s.canaryTrouble()
	case errors.As(err, &lost):
		e.target = true
		s.run.Stopped = cmp.Or(s.run.Stopped, "target lost")
		s.cli.complain(lost, lost.Hint)
	case err != nil:
		e.broke = true
		s.run.Stopped = cmp.Or(s.run.Stopped, "trouble of stallwright's own or a crash that no case repeats")
		s.cli.complain(err, "")
	case left > 0 && s.run.Stopped == "":
		e.broke = true
		s.cli.complain(fmt.Errorf("%s of %d had no result", plural(left, "case"), len(s.jobs)), "please report it")
	}
	if s.run.Stopped == "" && s.nothingJudged() {
		s.cli.say("stallwright: note: ", "nothing was shown: every case was skipped; -v says why of each")
	}
	l := s.cli.library
	r := reports.New(s.run, l.guarantees, l.covered(), s.results)
	if !errors.Is(err, errCanary) { // the canary shows nothing of a server but that it is not the right one
		e.violated = r.Violated()
		e.inconclusive = r.Inconclusive()
	}
	e.inconclusive = e.inconclusive || s.run.Stopped == "timeout"
	e.broke = e.broke || r.Broke()
	written, err := s.files.write(r)
	if err != nil {
		e.broke = true
		s.cli.complain(err, "")
	}
	if err := s.print(r, written); err != nil {
		e.broke = true
		s.cli.complain(fmt.Errorf("standard output: %w", err), "")
	}
	return e.code()
}

// nothingJudged reports whether every case but the canary's was skipped: that ends as a pass does, and is none.
func (s *session) nothingJudged() bool {
	skipped := 0
	for _, r := range s.results {
		switch {
		case s.cli.library.isCanary(r.Case):
		case r.Verdict != verdict.Skip:
			return false
		default:
			skipped++
		}
	}
	return skipped > 0
}

// canaryTrouble says that an attached server did not answer the plain request, and what that usually means.
func (s *session) canaryTrouble() {
	r, _ := s.canaryBefore()
	why, status := r.Why, ""
	reached := true
	for _, f := range r.Findings {
		if f.Verdict == verdict.Pass {
			continue
		}
		for _, m := range f.Excerpt {
			if m.Lane == caller.Lane && m.Kind == "status" {
				status = m.Detail
			}
		}
		why = cmp.Or(why, f.Observed)
		if strings.HasSuffix(f.Check, "::reaches-the-fake") {
			n, err := strconv.Atoi(f.Observed)
			reached = err == nil && n > 0 // more than once is wrong as well
		}
	}
	hint := "send it a request by hand: a server that does not answer a plain request cannot be judged"
	if !reached {
		hint = fmt.Sprintf("no request reached the fake provider at http://%s/v1: that must be the base URL of the provider in the server's own configuration", s.plan.listen)
	}
	if status != "" {
		why = fmt.Sprintf("its answer was %s; %s", status, why)
	}
	s.cli.complain(fmt.Errorf("%s did not answer a plain request: %s", s.plan.url, cmp.Or(why, string(r.Verdict), "no result")), hint)
}
