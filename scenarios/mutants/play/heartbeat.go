package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// heartbeat prints what is going on every ten seconds: a CI job that is silent for long is taken for hung.
type heartbeat struct {
	mu     sync.Mutex
	status string
	stop   func() // waits until nothing more is printed; may be called again
}

// startHeartbeat starts one on w, which stays silent when w is a terminal.
func startHeartbeat(w io.Writer) *heartbeat {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &heartbeat{stop: func() {}}
		}
	}
	h := &heartbeat{}
	end, ended := make(chan struct{}), make(chan struct{})
	h.stop = sync.OnceFunc(func() { close(end); <-ended })
	go func() {
		defer close(ended)
		start := time.Now()
		ticker := time.NewTicker(10 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-end:
				return
			case <-ticker.C:
				h.mu.Lock()
				status := h.status
				h.mu.Unlock()
				fmt.Fprintf(w, "play: %s, %s\n", status, time.Since(start).Round(time.Second))
			}
		}
	}()
	return h
}

// say sets what is printed at the next beat.
func (h *heartbeat) say(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = fmt.Sprintf(format, args...)
}
