// Package soak sends very many runs with every sort of ending through one server process, and compares what the process holds before and
// after: goroutines, files, sockets, children and heap. The server must offer /metrics, as the reference does.
//
//	kinds ──a draw each──▶ runs, some hundreds at once ──▶ one server ◀── fakes beside it
//	measure ─────────────────── before and after ─────────────▲
package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/dialects"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/process"
)

// Soak is what is to be done. All fields but Out are required.
type Soak struct {
	Target harness.Target // with a Command; it offers fault hooks
	Child  []string       // starts a fake MCP server over stdio, with the address of its control connection as one more word
	Runs   int
	AtOnce int
	Seed   uint64
	// Orchestrated: the server has a coordinator and workers; else its agent works alone.
	Orchestrated bool
	Out          io.Writer // progress and the figures; may be nil
}

// Problems are what is wrong with the server, in sentences.
type Problems []string

// Error is all of them, a line each.
func (p Problems) Error() string { return strings.Join(p, "\n") }

var errDied = errors.New("soak: the server ended by itself")

// warmUp is how many runs come before the first count: buffers, pools and maps grow to what the busiest instant needs, so that the house must
// have been full a few times.
func (s Soak) warmUp() int { return max(s.Runs/20, 4*s.AtOnce) }

// soak is one Run.
type soak struct {
	Soak
	fake   *provider.Provider
	peers  *harness.Peers
	server *process.Started
	dialer net.Dialer
	web    *http.Client
	kinds  []kind
	houses int
	begun  time.Time

	played atomic.Int64
	mu     sync.Mutex // guards seen
	seen   map[string]map[string]int
	odd    map[string]string // the timeline of the first run of a kind that ended as it may not
}

// Run soaks. Its error is a Problems when the server is at fault, else the soak's own trouble. When it returns, nothing of it is left.
func (s Soak) Run(ctx context.Context) error {
	o := &soak{Soak: s, fake: &provider.Provider{Dialects: dialects.All()}, web: &http.Client{Transport: &http.Transport{}}, kinds: alone(), begun: time.Now()}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Orchestrated {
		o.kinds = together()
	}
	atModel, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var serving sync.WaitGroup
	serving.Go(func() { o.fake.Serve(atModel) })
	defer serving.Wait()
	defer o.fake.Close()
	o.peers, err = harness.OpenPeers(s.set(), true, s.Child, func(string) (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") })
	if err != nil {
		return err
	}
	defer o.peers.Close()
	if err := o.peers.Collector.Open(&collector.Session{}); err != nil {
		return err
	}
	command := s.Target.Command(o.peers.Setup(s.set(), s.Target, windows().With(s.set()), "http://"+atModel.Addr().String()+"/v1"))
	if o.server, err = process.Start(ctx, command, 20*time.Second); err != nil {
		return err
	}
	problems, err := o.play(ctx)
	o.web.CloseIdleConnections()
	exit := o.server.Stop(windows().Shutdown + 15*time.Second)
	if exit != "exited with status 0" {
		problems = append(problems, "the server "+exit)
	}
	if err != nil && !errors.Is(err, errDied) {
		return err
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

func (s *soak) play(ctx context.Context) (problems Problems, err error) {
	if err := s.runs(ctx, 0, s.warmUp()); err != nil {
		return nil, err
	}
	before, samples, err := s.measure(ctx)
	if err != nil {
		return nil, err
	}
	ended := samples["stallwright_runs_total"]
	if err := s.runs(ctx, s.warmUp(), s.Runs+s.warmUp()); err != nil {
		return nil, err
	}
	after, samples, err := s.measure(ctx)
	if err != nil {
		return nil, err
	}
	problems = append(problems, s.told()...)
	// The runs of the second full house are among them, and those whose client left before they were one may be.
	most := s.Runs + house
	if got := int(samples["stallwright_runs_total"] - ended); got > most || got < most-s.left() {
		problems = append(problems, fmt.Sprintf("the server counts %d runs that ended, of %d that were sent and %d that were left", got, most, s.left()))
	}
	for _, name := range idle {
		if samples[name] != 0 {
			problems = append(problems, fmt.Sprintf("%s is %v with nothing under way", name, samples[name]))
		}
	}
	fmt.Fprintf(s.Out, "\n%-18s %12s %12s   %s\n", "", "before", "after", "may grow by")
	for i, b := range before {
		a := after[i]
		fmt.Fprintf(s.Out, "%-18s %12d %12d   %d: %s\n", b.name, b.value, a.value, b.slack, b.why)
		if a.value > b.value+b.slack {
			problems = append(problems, fmt.Sprintf("%s: %d before, %d after %d runs", b.name, b.value, a.value, s.Runs))
		}
	}
	return problems, nil
}

// runs plays the runs of these numbers, so many at once.
func (s *soak) runs(ctx context.Context, from, to int) error {
	s.mu.Lock()
	s.seen, s.odd = map[string]map[string]int{}, map[string]string{}
	s.mu.Unlock()
	s.played.Store(0)
	var next atomic.Int64
	next.Store(int64(from))
	var workers sync.WaitGroup
	for range min(s.AtOnce, to-from) {
		workers.Go(func() {
			// A fake may be about to give its connection back when the client has read all, and would close it if it were to forget the run
			// then. It is told one run later.
			var last *run
			defer func() {
				if last != nil {
					last.release()
				}
			}()
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				select {
				case <-s.server.Done():
					return
				default:
				}
				if n >= to {
					return
				}
				r := s.run(n)
				s.one(r)
				if last != nil {
					last.release()
				}
				last = r
			}
		})
	}
	over := make(chan struct{})
	go func() { workers.Wait(); close(over) }()
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(s.Out, "%6.0fs  %d of %d runs\n", time.Since(s.begun).Seconds(), s.played.Load(), to-from)
			continue
		case <-over:
		}
		break
	}
	select {
	case <-s.server.Done():
		return errDied
	default:
		return context.Cause(ctx)
	}
}

// one plays one run and notes how it ended.
func (s *soak) one(r *run) {
	k := drawn(s.kinds, r.dice.IntN(weights(s.kinds)))
	func() {
		defer r.over()
		k.play(r)
	}()
	how := r.outcome()
	s.played.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[k.name] == nil {
		s.seen[k.name] = map[string]int{}
	}
	s.seen[k.name][how]++
	if s.odd[k.name] == "" && !slices.Contains(k.ends, how) {
		s.odd[k.name] = r.story()
	}
}

func weights(all []kind) (sum int) {
	for _, k := range all {
		sum += k.weight
	}
	return sum
}

// drawn is the kind that a number below the sum of the weights falls to.
func drawn(all []kind, at int) kind {
	for _, k := range all {
		if at -= k.weight; at < 0 {
			return k
		}
	}
	panic("soak: the draw is above the weights")
}

// told prints how the runs ended, and says of the kinds which did not end as they may, or were not seen to end as they are meant to.
func (s *soak) told() (problems Problems) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hurried := 0
	fmt.Fprintf(s.Out, "\n%-22s %6s   how the client saw them end\n", "kind", "runs")
	for _, k := range s.kinds {
		seen := s.seen[k.name]
		runs, words := 0, []string(nil)
		for _, how := range slices.Sorted(maps.Keys(seen)) {
			runs += seen[how]
			words = append(words, fmt.Sprintf("%s %d", how, seen[how]))
			switch {
			case slices.Contains(k.ends, how):
			case strings.HasSuffix(how, "_timeout"), strings.HasSuffix(how, ": closed"): // the last write has a clock too
				hurried += seen[how]
			default:
				problems = append(problems, fmt.Sprintf("%d of the runs that are called %s ended so: %s\n%s", seen[how], k.name, how, s.odd[k.name]))
			}
		}
		fmt.Fprintf(s.Out, "%-22s %6d   %s\n", k.name, runs, strings.Join(words, ", "))
		if seen[k.ends[0]] == 0 && s.Runs >= enough {
			problems = append(problems, fmt.Sprintf("no run that is called %s ended so: %s", k.name, k.ends[0]))
		}
	}
	if hurried*100 > s.Runs*mostHurried {
		problems = append(problems, fmt.Sprintf("%d runs were ended by a clock before they ended as meant: the machine is too busy to show anything; let fewer run at once", hurried))
	}
	return problems
}

// left is how many runs were left by their client.
func (s *soak) left() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seen := range s.seen {
		n += seen[left]
	}
	return n
}

// mostHurried is how many runs of a hundred may be ended by a clock that was not meant to: on a busy machine even a tool that answers at once
// may take longer than the short windows, and no harm is done.
const mostHurried = 2

// enough runs are those in which each kind is drawn.
const enough = 2000
