package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// stop is why no further case is started.
type stop struct{ why string } // a signal's name, max-failures, timeout

func (s stop) Error() string { return s.why }

// watchSignals lets the first SIGINT or SIGTERM end a context with a stop as its cause, after first was told, and the
// second close killed; a third does what it always does. Finish ends the watch.
func watchSignals(cancel context.CancelCauseFunc, first func()) (killed <-chan struct{}, finish func()) {
	signals := make(chan os.Signal, 2)
	// A terminal that closes stops a run as SIGTERM does. Output that nobody reads any more must not end the process
	// before its servers are stopped: the write fails, and is told.
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	signal.Ignore(syscall.SIGPIPE)
	kill, done, quit := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() { // ends at the second signal, or with finish
		defer close(done)
		defer signal.Stop(signals)
		for n := 0; n < 2; n++ {
			select {
			case sig := <-signals:
				if n > 0 {
					close(kill)
					return
				}
				first()
				cancel(stop{signalName(sig)})
			case <-quit:
				return
			}
		}
	}()
	return kill, func() { close(quit); <-done }
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
