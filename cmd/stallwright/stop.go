package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// stop is why no further case is started.
type stop struct{ why string } // a signal's name, max-failures, timeout

func (s stop) Error() string { return s.why }

// signals watches for what stops a run. It begins before anything else of the verb, so that a signal in the start-up ends in a
// report like any other: choosing among thousands of cases takes its time.
type signals struct {
	ctx    context.Context // ends at the first signal, with a stop as its cause
	cancel context.CancelCauseFunc
	killed <-chan struct{} // closed at the second; a third does what it always does
	finish func()          // ends the watch

	mu  sync.Mutex
	say func(line string)
}

// watchSignals begins the watch. Lines about it go to say until [signals.tell] names another.
func watchSignals(parent context.Context, say func(line string)) *signals {
	s := &signals{say: say}
	s.ctx, s.cancel = context.WithCancelCause(parent)
	received := make(chan os.Signal, 2)
	// A terminal that closes stops a run as SIGTERM does. Output that nobody reads any more must not end the process
	// before its servers are stopped: the write fails, and is told.
	signal.Notify(received, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	signal.Ignore(syscall.SIGPIPE)
	kill, done, quit := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() { // ends at the second signal, or with finish
		defer close(done)
		defer signal.Stop(received)
		for n := 0; n < 2; n++ {
			select {
			case sig := <-received:
				if n > 0 {
					close(kill)
					return
				}
				s.first(sig)
			case <-quit:
				return
			}
		}
	}()
	s.killed = kill
	s.finish = func() { close(quit); <-done; s.cancel(nil) }
	return s
}

func (s *signals) first(sig os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say("stopping: what is under way finishes; a second signal kills it")
	s.cancel(stop{signalName(sig)})
}

// tell has the lines that come go elsewhere.
func (s *signals) tell(say func(line string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say = say
}

func signalName(sig os.Signal) string {
	if sig == syscall.SIGINT {
		return "SIGINT"
	}
	return "SIGTERM"
}

// killChildren kills the process groups of this process's children, where the system tells them: workers and servers
// each have a group of their own.
func killChildren() {
	lists, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is well formed
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(b)) {
			var pid int
			if _, err := fmt.Sscan(field, &pid); err == nil && pid > 1 {
				syscall.Kill(-pid, syscall.SIGKILL)
			}
		}
	}
}
