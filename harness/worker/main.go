package worker

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/bubble"
	"github.com/stallwright/stallwright/harness/verdict"
)

// collectAt is the heap's growth, in percent of what lives, after which a worker collects garbage. Trials live for milliseconds on
// some megabytes: at the usual 100 a quarter of a worker's time goes into collections, of which it makes twenty in a second.
const collectAt = 800

// Main is the whole life of a worker process: it reads its order from stdin, plays it, and exits. It never returns.
func Main(stdin io.Reader, stdout io.Writer, target harness.Target, find func(id string) (harness.Case, bool)) {
	// What the code under test prints must not come between the reports.
	os.Stdout = os.Stderr
	// A worker is made to die with the stacks of all its threads; it should not leave a core file as well.
	syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	play := func(t *testing.T) {
		if err := serve(t, stdin, stdout, target, find); err != nil {
			fmt.Fprintln(os.Stderr, "stallwright: worker:", err)
			os.Exit(70)
		}
		// Left from inside the test, or the testing package would print its PASS on stdout.
		os.Exit(0)
	}
	// testing.Main gives a real T, which a bubble needs when the race detector finds something. It reads the flags of
	// the process, and a worker has none.
	os.Args = os.Args[:1]
	all := func(string, string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "worker", F: play}}, nil, nil)
}

func serve(t *testing.T, stdin io.Reader, stdout io.Writer, target harness.Target, find func(id string) (harness.Case, bool)) error {
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("no order: %w", err)
	}
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return fmt.Errorf("the order: %w", err)
	}
	var stopped atomic.Bool
	go func() { // ends with the process
		io.Copy(io.Discard, in)
		stopped.Store(true)
	}()
	var mu sync.Mutex
	out := json.NewEncoder(stdout)
	say := func(r report) {
		mu.Lock()
		defer mu.Unlock()
		out.Encode(r)
	}
	jobs := make(chan harness.Job)
	var bubbles sync.WaitGroup
	for range max(o.Bubbles, 1) {
		bubbles.Go(func() {
			for j := range jobs {
				if stopped.Load() {
					continue // it was sent before the stop came
				}
				say(report{Started: &j})
				r := play(t, target, find, j)
				say(report{Job: &j, Result: &r})
			}
		})
	}
	for _, j := range o.Jobs {
		if stopped.Load() {
			break
		}
		jobs <- j
	}
	close(jobs)
	bubbles.Wait()
	return nil
}

func play(t *testing.T, target harness.Target, find func(id string) (harness.Case, bool), j harness.Job) verdict.Result {
	c, ok := find(j.Case)
	if !ok {
		return verdict.Result{Case: j.Case, Verdict: verdict.Error, Why: "the worker knows no such case", Seed: j.Seed, Attempt: j.Attempt}
	}
	r := bubble.Play(t, target, c, j.Seed)
	r.Attempt = j.Attempt
	return r
}
