package server

import (
	"fmt"
	"time"

	"github.com/stallwright/stallwright/lifecycle/run"
)

// settleWindow bounds the wait for the last bytes of answers whose runs have ended. They are few and mostly in the network's buffers
// already; a client that does not read them must not hold the exit.
const settleWindow = 400 * time.Millisecond

// shutDown is the sequence from the signal on. Phase 1, refusing new requests, began inside Signal.
func (s *Server) shutDown() Exit {
	s.log.Info("Received " + s.signal + ", initiating graceful shutdown")
	if s.grace() {
		return Exit{Clean: true}
	}
	if !s.hurried() && s.drain() {
		return Exit{Clean: true}
	}
	return Exit{Unaborted: !s.abort()}
}

// grace lets every admitted run go on untouched and reports whether all of them ended.
func (s *Server) grace() bool {
	s.log.Info(fmt.Sprintf("Allowing %v for in-flight requests to complete", s.settings.Shutdown))
	if !wait(s.registry.Idle(), s.second, s.settings.Shutdown) {
		return false
	}
	s.log.Info("All in-flight requests completed, shutting down early")
	return true
}

// drain is phase 2: it ends every remaining run and reports whether all of them were released before phase 3 is due.
func (s *Server) drain() bool {
	s.log.Info("Grace period expired, terminating remaining streams")
	for _, r := range s.registry.Running() {
		r.End(shutDownEnding())
	}
	return wait(s.registry.Idle(), s.second, s.settings.Straggler)
}

// abort is phase 3: it cuts every remaining run and reports whether all of them were released within the abort window.
func (s *Server) abort() bool {
	s.log.Warn("Stream shutdown grace period expired, aborting stragglers")
	close(s.aborting)
	for _, r := range s.registry.Running() {
		r.End(shutDownEnding()) // a second signal comes here without a drain
		s.cut(r)
	}
	if wait(s.registry.Idle(), nil, s.settings.Abort) {
		return true
	}
	s.forgetStragglers()
	return false
}

// cut closes the connection of a run, which unblocks whatever reads or writes it.
func (s *Server) cut(r *run.Run) {
	if x, held := s.held.Load(r); held {
		_ = x.(*exchange).conn.Close()
	}
}

func (s *Server) forgetStragglers() {
	for _, r := range s.registry.Running() {
		if x, held := s.held.Load(r); held {
			s.conns.forget(x.(*exchange).conn)
			x.(*exchange).endSpan() // it is not waited for any longer
		}
	}
}

// close ends the HTTP server and waits for its goroutines. A run leaves the registry when its handler returns, but the HTTP server hands
// the end of the answer to the network only after that.
func (s *Server) close(served <-chan struct{}) {
	wait(s.conns.allSettled(), nil, settleWindow)
	_ = s.http.Close()
	<-served
	_ = s.http.Close() // again, for a connection that was being accepted during the first
	wait(s.conns.allGone(), nil, settleWindow)
	s.transport.CloseIdleConnections()
	s.closePool()
}

func (s *Server) hurried() bool {
	return closed(s.second)
}

func shutDownEnding() run.Ending {
	return run.Ending{How: run.ShutDown, Code: run.ServerShutdown, Message: "the server is shutting down"}
}

// wait reports whether done was closed, at the latest when hurry is closed or the window is over. Done wins a tie.
func wait(done, hurry <-chan struct{}, window time.Duration) bool {
	if closed(done) {
		return true
	}
	timer := time.NewTimer(window)
	defer timer.Stop()
	select {
	case <-done:
	case <-hurry:
	case <-timer.C:
	}
	return closed(done)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
