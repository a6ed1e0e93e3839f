// Package bubble plays a case in this process, on an in-memory network, in virtual time: it is the one package that
// knows testing/synctest.
package bubble

import (
	"bytes"

	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stallwright/stallwright/fakes/dialects"
	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/census"
	"github.com/stallwright/stallwright/harness/verdict"
)

const (
	// patience is above the longest window (the stream's 15 minutes) with what a scenario puts before it.
	patience = time.Hour
	// rest is above a heartbeat and above the last steps of a shutdown.
	rest = 20 * time.Second
	// settle is above every clean-up bound: time stops when the bubble's main returns, and a bounded clean-up would
	// read as a leak.
	settle = 10 * time.Second
)

// Play plays one case on a target that can start in this process. It returns when everything of the trial is over,
// leaked goroutines aside: those stay for the life of the process, and fail leak.goroutines.
func Play(t *testing.T, target harness.Target, c harness.Case, seed uint64) verdict.Result {
	// A goroutine of its own: a data race found inside a bubble ends the goroutine that made it.
	done := make(chan verdict.Result, 1)
	go func() {
		r := harness.Fell(c, seed, verdict.Error, verdict.Crash, "trial", "the trial's goroutine was ended, by the race detector or t.FailNow")
		defer func() { done <- r }()
		r = play(t, target, c, seed)
	}()
	return <-done
}

func play(t *testing.T, target harness.Target, c harness.Case, seed uint64) (r verdict.Result) {
	wall := time.Now()
	var virtual time.Duration
	bubble := ""
	defer func() {
		leaked := recover() // the bubble's deadlock panic lands here, outside of it
		if leaked != nil && virtual == 0 {
			r = harness.Fell(c, seed, verdict.Error, verdict.Crash, "trial", fmt.Sprint(leaked))
		}
		if leaked != nil || r.Verdict != verdict.Skip && r.Verdict != verdict.Error {
			r.Findings = append(r.Findings, goroutines(c, leaked, bubble, virtual))
		}
		if r.Verdict != verdict.Skip && r.Verdict != verdict.Error {
			r.Verdict = verdict.Worst(r.Findings)
		}
		r.Virtual, r.Wall = virtual, time.Since(wall)
	}()
	synctest.Test(t, func(*testing.T) {
		bubble = current()
		start := time.Now()
		r = trial(target, c, seed, bubble)
		virtual = time.Since(start)
	})
	return r
}

// trial plays inside the bubble. Everything it touches is made in here.
func trial(target harness.Target, c harness.Case, seed uint64, bubble string) verdict.Result {
	lacks := lacks(target)
	if r, skipped := harness.Skipped(c, lacks, seed); skipped {
		return r
	}
	var network memnet.Network
	tl := timeline.New()
	fake := &provider.Provider{Dialects: dialects.All()}
	peers, err := openPeers(c, &network)
	if err != nil {
		return harness.Fell(c, seed, verdict.Error, verdict.Crash, "start", err.Error())
	}
	stage, err := open(target, c, &network, tl, fake, peers)
	if err != nil {
		return harness.Fell(c, seed, verdict.Error, verdict.Crash, "start", "the server did not start: "+err.Error())
	}
	stage.Lacks = lacks
	var page []byte // of all stacks, kept since a trial may take a census often
	stage.Census = func() map[harness.Feature]int {
		var goroutines []string
		goroutines, page = stacks(bubble, page)
		counts := map[harness.Feature]int{harness.Goroutines: len(goroutines), harness.Sockets: network.Open()}
		// A server in this process has its files among those of the process. Trials side by side open none of their own,
		// so what is counted too much is a leak of this server as well.
		if files, ok := census.Descriptors(os.Getpid())[harness.Files]; ok {
			counts[harness.Files] = files
		}
		return counts
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		<-stage.Server.Done()
		tl.Add(harness.ProcessLane, "", "exit", fmt.Sprint(stage.Server.Exit()))
	}()
	trial := harness.NewTrial(c, stage, seed, 1)
	played := make(chan struct{})
	go func() {
		defer close(played)
		trial.Play()
	}()
	<-played
	trial.Strike()
	// The second signal skips the grace.
	stage.Server.Signal("SIGTERM")
	stage.Server.Signal("SIGTERM")
	time.Sleep(settle)
	fake.Close()
	peers.Close()
	network.Close()
	time.Sleep(settle)
	return trial.Judge()
}

// open starts the fake provider and the server under test.
func open(target harness.Target, c harness.Case, network *memnet.Network, tl *timeline.Timeline, fake *provider.Provider, peers *harness.Peers) (*harness.Stage, error) {
	atProvider, err := network.Listen("provider.test:80")
	if err != nil {
		return nil, err
	}
	atAgent, err := network.Listen("agent.test:80")
	if err != nil {
		return nil, err
	}
	go fake.Serve(atProvider) // ended and waited for by fake.Close
	windows := harness.Production().With(c.Variant.Set)
	setup := peers.Setup(c.Variant.Set, target, windows, "http://provider.test/v1")
	setup.Listener, setup.Dial, setup.Pipe, setup.Log = atAgent, network.DialContext, pipes(peers, network), &harness.LogWriter{Timeline: tl}
	server, err := target.Start(setup)
	if err != nil {
		fake.Close()
		peers.Close()
		return nil, err
	}
	return &harness.Stage{
		Virtual: true, Windows: windows, Usual: harness.Production(), Tick: time.Millisecond, Patience: patience, Rest: rest, Flood: 1 << 20,
		Timeline: tl, Provider: fake, Tools: peers.Servers, Approver: peers.Approver, Collector: peers.Collector, Apart: true, Dial: network.DialContext, Address: "agent.test:80",
		Settle: synctest.Wait, Server: server,
	}, nil
}

// lacks says what cannot be shown in a bubble.
func lacks(target harness.Target) map[harness.Feature]harness.Lack {
	out := target.Unclaimed()
	out[harness.Children] = harness.Lack{Claimed: true, Why: "a server in virtual time has no children of its own; --time real shows it"}
	if !census.Countable()[harness.Files] {
		out[harness.Files] = harness.Lack{Claimed: true, Why: "this system does not show what a process holds"}
	}
	return out
}

// The check that every trial in a bubble ends with, and the guarantee that it is evidence for.
const (
	LeakCheck     = "no-goroutine-left"
	LeakGuarantee = "leak.goroutines"
)

// goroutines judges what the bubble still held at its end.
func goroutines(c harness.Case, leaked any, bubble string, at time.Duration) verdict.Finding {
	f := verdict.Finding{
		Check: c.ID() + "::" + LeakCheck, Guarantee: LeakGuarantee, Verdict: verdict.Pass,
		Promised: "every goroutine of the trial has ended", Observed: "all ended",
		Evidence: verdict.Evidence{Kind: verdict.State, At: at, Expected: "none", Found: "none"},
	}
	if leaked == nil {
		return f
	}
	stacks, _ := stacks(bubble, nil)
	f.Verdict, f.Signature = verdict.Fail, string(verdict.State)+"/goroutine"
	f.Observed = fmt.Sprintf("%d left for ever; the first:\n%s", len(stacks), strings.Join(stacks[:min(1, len(stacks))], ""))
	f.Evidence.Found = f.Observed
	return f
}

// current is the name of the bubble of the calling goroutine, as stacks show it.
func current() string {
	b := make([]byte, 256)
	head, _, _ := strings.Cut(string(b[:runtime.Stack(b, false)]), "\n")
	_, id, _ := strings.Cut(head, "synctest bubble ")
	return "synctest bubble " + strings.TrimSuffix(id, "]:")
}

// stacks are the stacks of a bubble's goroutines. They are written into page, which is made or made larger where it does
// not hold all, and returned for the next time.
func stacks(bubble string, page []byte) (of []string, _ []byte) {
	if page == nil {
		page = make([]byte, 256<<10)
	}
	n := runtime.Stack(page, true)
	for n == len(page) && n < 64<<20 {
		page = make([]byte, 2*len(page))
		n = runtime.Stack(page, true)
	}
	for g := range bytes.SplitSeq(page[:n], []byte("\n\n")) {
		head, _, _ := bytes.Cut(g, []byte("\n"))
		_, after, ok := bytes.Cut(head, []byte(bubble))
		if ok && len(after) > 0 && (after[0] == ']' || after[0] == ',') {
			of = append(of, string(g))
		}
	}
	return of, page
}
