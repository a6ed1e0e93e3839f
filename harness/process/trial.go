package process

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/census"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// plainPatience is how long a plain request, which waits for no window, may take.
const plainPatience = 15 * time.Second

// limits are how long a trial may take until its connections are cut, and how long after that until it is lost: its
// script can then only wait for what does not come, or let time go by.
func (r *run) limits(h host) (limit, lost time.Duration) {
	return cmp.Or(r.CaseLimit, 5*h.patience()), 2 * h.patience()
}

// trial plays one case on a host.
func (r *run) trial(w work, h host, alone bool) (res verdict.Result) {
	began, waited := time.Now(), crowd()
	defer func() {
		if p := recover(); p != nil {
			res = harness.Fell(w.c, w.Seed, verdict.Error, verdict.Crash, "trial", fmt.Sprintf("%v\n%s", p, debug.Stack()))
		}
		res.Wall = time.Since(began)
	}()
	l := &links{}
	stage := h.stage(r.fake, r.lacks(alone), l)
	if w.c.Scenario.Anywhere {
		stage.Patience = min(stage.Patience, plainPatience)
	}
	if h.peers != nil {
		stage.Tools, stage.Approver, stage.Apart = h.peers.Servers, h.peers.Approver, alone && h.child != nil
		if needs := w.c.Variant.Set.Tools; needs != harness.NoTools && !w.c.Scenario.Anywhere {
			stage.Tools = stage.Tools[:len(needs.Servers())] // an attached server may have more
		}
	}
	if alone && h.child != nil {
		stage.Server = h.child
		stage.Collector = h.peers.Collector // of one trial at a time
		stage.Census = func() map[harness.Feature]int { return census.Of(h.child.cmd.Process.Pid) }
		h.child.log.tell(&harness.LogWriter{Timeline: stage.Timeline})
		defer h.watchExit(stage)()
	}
	t := harness.NewTrial(w.c, stage, w.Seed, int(r.number.Add(1)))
	played := make(chan struct{})
	go func() { // waited for below
		defer close(played)
		t.Play()
	}()
	late := false
	caseLimit, lostWait := r.limits(h)
	limit := time.NewTimer(caseLimit)
	defer limit.Stop()
	select {
	case <-played:
	case <-limit.C:
		late = true
		l.cut()
		lost := time.NewTimer(lostWait)
		defer lost.Stop()
		select {
		case <-played:
		case <-lost.C:
			return harness.Fell(w.c, w.Seed, verdict.Error, verdict.Hang, "no-end", fmt.Sprintf("the scenario itself did not return, %s after its limit of %s", lostWait, caseLimit))
		}
	}
	if !late { // a trial that hangs does so on any machine
		t.Doubt = func(j expect.Judgement) string { return r.pulse.strain(began, waited, h).excuses(j) }
	}
	t.Strike()
	res = t.Judge()
	switch c := h.child; {
	case c != nil && c.ended() && !c.signalled.Load():
		r.deaths.Add(1)
		// What else was found followed from it.
		return harness.Fell(w.c, w.Seed, verdict.Fail, verdict.Crash, "exit", "the server "+c.ending()+c.lastLines())
	case c == nil && res.Verdict != verdict.Pass && r.gone(h):
		return harness.Fell(w.c, w.Seed, verdict.Inconclusive, verdict.Crash, "exit", "the server at "+h.address+" no longer answers")
	case late && res.Verdict != verdict.Fail && res.Verdict != verdict.Error:
		return harness.Fell(w.c, w.Seed, verdict.Fail, verdict.Hang, "no-end", fmt.Sprintf("the trial was not over after %s", caseLimit))
	}
	return res
}

// gone says whether an attached server no longer answers. Once it does not, nothing more is played on it.
func (r *run) gone(h host) bool {
	if !r.lost.Load() {
		if _, err := answers(context.Background(), h, askWait); err != nil {
			r.lost.Store(true)
		}
	}
	return r.lost.Load()
}

// watchExit records the exit of the server in the trial's timeline. The function that it returns ends that.
func (h host) watchExit(stage *harness.Stage) (stop func()) {
	struck, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-h.child.done:
			stage.Timeline.Add(harness.ProcessLane, "", "exit", h.child.code())
		case <-struck:
		}
	}()
	return func() {
		close(struck)
		<-watched
	}
}
