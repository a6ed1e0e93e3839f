// Package process plays cases in real time, over TCP: on servers that it starts as child processes, or on one that
// runs already.
//
//	Pool ──▶ children, one for each set of settings ──▶ trials side by side, told apart by their markers
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stallwright/stallwright/fakes/dialects"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/census"
	"github.com/stallwright/stallwright/harness/verdict"
)

// Pool plays jobs on servers that are processes. Cases whose variants want the same settings share a server, and
// those that signal it or count what it holds have one of their own each. The zero values of all but Target and Find
// work.
type Pool struct {
	Target    harness.Target // with a URL it is attached to, else started by its Command
	Find      func(id string) (harness.Case, bool)
	Instances int    // servers at once; [Instances] when 0
	Parallel  int    // trials at once on a shared server; 16 when 0
	Listen    string // address of the fake provider, 127.0.0.1:0 when empty; an attached server must know it
	// Tools are the fake MCP servers that an attached server has, the first at ToolsListen and each other one port higher.
	Tools       harness.Tooling
	ToolsListen string
	// Windows are the clocks of an attached server, and those of a started one before [harness.Windows.With] its
	// set; those of [harness.Short] when nil, with no inactivity clock when attached.
	Windows *harness.Windows
	// Child starts a process that is a fake MCP server over stdio, with the address of its control connection as one more word. Cases
	// with such servers are unavailable without it.
	Child       []string
	AllowRemote string        // a host besides this machine that may be attached to
	Wait        time.Duration // for a server to be ready; 20 s when 0
	CaseLimit   time.Duration // of wall time for one trial; when 0 five times the patience of its stage, 60 s for short windows
	Log         io.Writer     // diagnostics, a line at a time; may be nil
}

var _ harness.Player = (*Pool)(nil)

func (p *Pool) instances() int      { return cmp.Or(p.Instances, Instances()) }
func (p *Pool) parallel() int       { return cmp.Or(p.Parallel, 16) }
func (p *Pool) wait() time.Duration { return cmp.Or(p.Wait, 20*time.Second) }

// Instances are how many servers play at once when nobody says: four for each core, since a server under a stalled
// provider mostly waits, and at most 8, so that what they do at one instant stays within the slack.
func Instances() int { return min(8, 4*runtime.GOMAXPROCS(0)) }

// Run plays all jobs, or until ctx ends or a server cannot be had: then the trials under way finish. When it returns
// every server that it started has ended and was reaped, and no goroutine of it is left but those of scenarios that
// never return. An attached server is never stopped.
func (p *Pool) Run(ctx context.Context, jobs []harness.Job, w harness.Watch) error {
	if p.Target.URL == "" && p.Target.Command == nil {
		return fmt.Errorf("process: target %s has neither a command nor a URL", p.Target.Name)
	}
	listener, err := net.Listen("tcp", cmp.Or(p.Listen, "127.0.0.1:0"))
	if err != nil {
		return fmt.Errorf("process: the fake provider: %w", err)
	}
	r := &run{
		Pool: p, fake: &provider.Provider{Dialects: dialects.All()},
		provider: "http://" + listener.Addr().String() + "/v1", watch: w, countable: census.Countable(),
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := r.fake.Serve(listener); err != nil {
			r.log("the fake provider stopped: %v", err)
		}
	})
	defer serving.Wait()
	defer r.fake.Close()
	r.pulse = startPulse()
	defer r.pulse.stop()
	if p.Target.URL != "" {
		return r.attached(ctx, jobs)
	}
	if err := r.started(ctx, jobs); err != nil {
		return err
	}
	if d := r.unexplained.Load(); d != nil {
		return targetError("a server under test died", "look at what it logged: none of the cases that were under way kills it by itself",
			fmt.Errorf("%s, during %d cases", d.how, d.during))
	}
	return nil
}

// death is the end of a server that no case by itself brings about.
type death struct {
	during int // cases
	how    string
}

// run is one call of Run.
type run struct {
	*Pool
	fake      *provider.Provider
	provider  string // its base URL
	countable map[harness.Feature]bool
	number    atomic.Int64 // of the last trial: their markers must differ on the one provider
	pulse     *pulse

	deaths      atomic.Int64 // of servers that one case alone was played on
	unexplained atomic.Pointer[death]
	lost        atomic.Bool // an attached server no longer answers

	mu    sync.Mutex // the functions of watch are called one at a time, and so is Log
	watch harness.Watch
}

// work is a job with its case.
type work struct {
	harness.Job
	c harness.Case
}

// host is a server that trials play on.
type host struct {
	address string
	base    string
	windows harness.Windows
	usual   harness.Windows // before the set
	child   *child          // nil when attached
	peers   *harness.Peers
}

func (r *run) log(format string, args ...any) {
	if r.Log == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.Log, "process: "+format+"\n", args...)
}

func (r *run) begin(j harness.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch.Started(j)
}

func (r *run) deliver(j harness.Job, res verdict.Result) {
	res.Attempt = j.Attempt
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch.Played(j, res)
}

// works finds the cases of jobs. What cannot be played at all is delivered here, and left out.
func (r *run) works(jobs []harness.Job, unfit func(harness.Case) string) []work {
	var out []work
	for _, j := range jobs {
		c, ok := r.Find(j.Case)
		if !ok {
			r.begin(j)
			r.deliver(j, verdict.Result{Case: j.Case, Verdict: verdict.Error, Why: "no such case is known", Seed: j.Seed})
			continue
		}
		lacks := r.lacks(alone(c))
		if why := unfit(c); why != "" {
			// A feature that every case needs, so that the case is skipped as a whole.
			const settings harness.Feature = "settings"
			lacks[settings] = harness.Lack{Claimed: true, Why: why}
			c.Variant.Needs = append(slices.Clip(c.Variant.Needs), settings)
		}
		if res, skipped := harness.Skipped(c, lacks, j.Seed); skipped {
			r.begin(j)
			r.deliver(j, res)
			continue
		}
		out = append(out, work{j, c})
	}
	return out
}

// alone says whether a case must have a server of its own.
func alone(c harness.Case) bool {
	return c.Scenario.Alone || c.Variant.Set.Telemetry || slices.ContainsFunc(c.Needs(), func(f harness.Feature) bool { return slices.Contains(ownServer, f) })
}

// ownServer lists what only a trial that is alone on its server can be shown.
var ownServer = []harness.Feature{harness.Signals, harness.LogFields, harness.Files, harness.Sockets, harness.Children}

// lacks says what cannot be shown on a shared server, or to a trial that is alone on one.
func (r *run) lacks(alone bool) map[harness.Feature]harness.Lack {
	out := r.Target.Unclaimed()
	lack := func(why string, features ...harness.Feature) {
		for _, f := range features {
			if _, known := out[f]; !known {
				out[f] = harness.Lack{Claimed: true, Why: why}
			}
		}
	}
	lack("the goroutines of another process are not visible; --time virtual shows them", harness.Goroutines)
	lack("nobody waits for minutes in real time; --time virtual shows it", harness.LongWaits)
	switch {
	case r.Target.URL != "":
		lack("stallwright did not start the server", ownServer...)
		lack("a server that stallwright did not start exports to a collector of its own", harness.Telemetry)
		lack("a server that stallwright did not start is not made to do wrong", harness.FaultHooks)
	case !alone:
		lack("trials share the server, and what befalls it belongs to none of them", ownServer...)
	}
	for _, f := range []harness.Feature{harness.Files, harness.Sockets, harness.Children} {
		if !r.countable[f] {
			lack("this system does not show what another process holds", f)
		}
	}
	return out
}

// started plays jobs on children.
func (r *run) started(ctx context.Context, jobs []harness.Job) error {
	shared := map[harness.Set][]work{}
	var sets []harness.Set
	var tasks, single []func(context.Context) error
	unfit := func(c harness.Case) string {
		if r.Child == nil && slices.Contains(c.Variant.Set.Tools.Servers(), harness.StdioTools) {
			return "there is no command for the processes that MCP servers over stdio are"
		}
		return ""
	}
	for _, w := range r.works(jobs, unfit) {
		if alone(w.c) {
			single = append(single, func(ctx context.Context) error { return r.alone(ctx, w) })
			continue
		}
		set := w.c.Variant.Set
		if shared[set] == nil {
			sets = append(sets, set)
		}
		shared[set] = append(shared[set], w)
	}
	for _, set := range sets {
		tasks = append(tasks, func(ctx context.Context) error { return r.shared(ctx, set, shared[set]) })
	}
	// The long ones first.
	return each(ctx, r.instances(), append(tasks, single...))
}

// each runs tasks, at most so many at once, until one fails or ctx ends; those that run finish.
func each(ctx context.Context, most int, tasks []func(context.Context) error) error {
	ctx, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	queue := make(chan func(context.Context) error, len(tasks))
	for _, t := range tasks {
		queue <- t
	}
	close(queue)
	failed := make([]error, min(most, len(tasks)))
	var workers sync.WaitGroup
	for i := range failed {
		workers.Go(func() {
			for task := range queue {
				if ctx.Err() != nil {
					return
				}
				if failed[i] = task(ctx); failed[i] != nil {
					halt(failed[i])
					return
				}
			}
		})
	}
	workers.Wait()
	// Others that failed at the same time say the same.
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// start starts a server. The error is nil, and so is the child, when ctx ended meanwhile.
func (r *run) start(ctx context.Context, subject string, s harness.Set, apart bool) (*child, error) {
	if ctx.Err() != nil {
		return nil, nil
	}
	peers, err := harness.OpenPeers(s, !apart, r.Child, func(string) (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") })
	if err != nil {
		return nil, fmt.Errorf("process: %w", err)
	}
	c, err := startChild(ctx, r.Target.Command(peers.Setup(s, r.Target, r.windows(s), r.provider)), r.wait())
	if err != nil {
		peers.Close()
	}
	switch {
	case err == nil:
		c.peers = peers
		r.log("server %d listens on %s", c.cmd.Process.Pid, c.address)
		return c, nil
	case ctx.Err() != nil:
		return nil, nil
	}
	return nil, targetError(subject, "run the server's command by hand; it must log the address that it listens on", err)
}

// windows are the clocks of a started server with the settings of s.
func (r *run) windows(s harness.Set) harness.Windows { return r.usual().With(s) }

// usual are the clocks of a started server before its settings.
func (r *run) usual() harness.Windows {
	if r.Windows != nil {
		return *r.Windows
	}
	return harness.Short()
}

const (
	starting = "starting the server under test"
	back     = "bringing the server under test back after a case"
)

// alone plays one case on a server of its own.
func (r *run) alone(ctx context.Context, w work) error {
	windows := r.windows(w.c.Variant.Set)
	c, err := r.start(ctx, starting, w.c.Variant.Set, true)
	if c == nil {
		return err
	}
	defer c.stop()
	r.begin(w.Job)
	r.deliver(w.Job, r.trial(w, host{address: c.address, windows: windows, usual: r.usual(), child: c, peers: c.peers}, true))
	return nil
}

// barrenLives is how many replacements in a row may die before they finish a trial.
const barrenLives = 2

// shared plays cases on one server. When it dies another takes its place, and those that were under way are played
// again, each on a server of its own: so the one that it dies of is known.
func (r *run) shared(ctx context.Context, set harness.Set, works []work) error {
	windows := r.windows(set)
	subject, barren := starting, 0
	for len(works) > 0 {
		c, err := r.start(ctx, subject, set, false)
		if c == nil {
			return err
		}
		finished, fallen, left := r.share(ctx, host{address: c.address, windows: windows, usual: r.usual(), child: c, peers: c.peers}, works)
		died := c.ended()
		c.stop()
		if !died {
			return nil // all are played, or ctx ended
		}
		r.log("server %d %s", c.cmd.Process.Pid, c.ending())
		deaths := r.deaths.Load()
		for _, w := range fallen {
			if err := r.alone(ctx, w); err != nil {
				return err
			}
		}
		if r.deaths.Load() == deaths {
			r.unexplained.Store(&death{during: len(fallen), how: "it " + c.ending() + c.lastLines()})
		}
		switch {
		case finished > 0:
			barren = 0
		case subject == back:
			barren++
		}
		if barren == barrenLives && len(left) > 0 {
			return targetError(back, "the first case that fell says how it died", errors.New("it "+c.ending()+c.lastLines()))
		}
		works, subject = left, back
	}
	return nil
}

// share plays cases side by side until all are played, ctx ends or the server is gone. It says how many finished, and
// returns those that were under way when it went, and those that it did not begin.
func (r *run) share(ctx context.Context, h host, works []work) (finished int, fallen, left []work) {
	var mu sync.Mutex
	next := func() (work, bool) {
		mu.Lock()
		defer mu.Unlock()
		if len(works) == 0 || ctx.Err() != nil || r.lost.Load() || h.child != nil && h.child.ended() {
			return work{}, false
		}
		w := works[0]
		works = works[1:]
		return w, true
	}
	var players sync.WaitGroup
	for range min(r.parallel(), len(works)) {
		players.Go(func() {
			for w, ok := next(); ok; w, ok = next() {
				r.begin(w.Job)
				res := r.trial(w, h, false)
				mu.Lock()
				died := h.child != nil && h.child.ended()
				if died {
					fallen = append(fallen, w)
				} else {
					finished++
				}
				mu.Unlock()
				if !died {
					r.deliver(w.Job, res)
				}
			}
		})
	}
	players.Wait()
	return finished, fallen, works
}

// attached plays jobs on a server that runs already: those that want it alone after the others.
func (r *run) attached(ctx context.Context, jobs []harness.Job) error {
	h, err := r.attach(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	peers, err := r.openPeers()
	if err != nil {
		return targetError("the MCP servers", "choose another address for them, and tell it to the server", err)
	}
	defer peers.Close()
	h.peers = peers
	var together, apart []work
	for _, w := range r.works(jobs, func(c harness.Case) string {
		why, _ := Unfit(c, h.windows, r.Tools)
		return why
	}) {
		if alone(w.c) {
			apart = append(apart, w)
		} else {
			together = append(together, w)
		}
	}
	r.share(ctx, h, together)
	for _, w := range apart {
		r.share(ctx, h, []work{w})
	}
	if r.lost.Load() {
		return targetError("playing on "+redacted(r.Target.URL), "start it again, and play the cases that gave no verdict one by one", errors.New("it no longer answers"))
	}
	return nil
}
