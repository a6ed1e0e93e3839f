package server

import (
	"context"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
	"github.com/stallwright/stallwright/lifecycle/telemetry"
)

// exchange is a run together with the HTTP request it answers. Three goroutines belong to it: the handler's own, which alone writes the
// response, the agent's, and the guard. The handler waits for the others.
type exchange struct {
	server   *Server
	run      *run.Run
	ctx      context.Context // of the run, with its span in it
	span     telemetry.Span
	conn     net.Conn
	w        http.ResponseWriter
	r        *http.Request
	received chan struct{} // closed when the request's body has been read
	guarded  chan struct{} // closed when the guard has ended
	produced chan struct{} // closed when the agent has ended; nil before it starts
	kit      kit
	session  string // of the chat
}

// chat plays one run. A request is admitted when its headers have arrived: one whose body is still on its way when the signal comes
// is served.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	x := s.admit(w, r)
	if x == nil {
		refusedDraining().write(w)
		return
	}
	defer x.release()
	defer x.recoverHandler()
	q, p := x.readRequest()
	if p == nil && !q.Stream {
		p = s.mustStream()
	}
	if p == nil {
		x.session = q.session(r.Header)
	}
	switch {
	case p != nil:
		x.refuse(p)
	case q.Stream:
		x.stream(q)
	default:
		x.whole(q)
	}
}

// admit creates the run and registers it, or returns nil when the server drains.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) *exchange {
	admitted := run.New(newID("req_"), run.Config{Stream: s.settings.Stream, Buffer: s.settings.Buffer})
	x := &exchange{server: s, run: admitted, conn: connOf(r), w: w, r: r, received: make(chan struct{}), guarded: make(chan struct{})}
	x.ctx, x.span = s.telemetry.Run(admitted.Context(), admitted.ID(), s.watched())
	s.held.Store(admitted, x)
	if !s.registry.Admit(admitted) {
		s.held.Delete(admitted)
		admitted.End(shutDownEnding())
		return nil
	}
	_ = x.conn.SetWriteDeadline(time.Time{})
	go x.guard()
	return x
}

// release frees all the run holds, whatever its ending. Nothing of the run outlives it, so it waits for the agent even when that is deaf
// to its context: phase 3 goes on without it.
func (x *exchange) release() {
	x.run.End(internalError())
	x.returnTools()
	if x.produced != nil {
		<-x.produced
	}
	<-x.guarded
	x.boundLastWrites() // again: the end of the body is yet to be written, and what was waited for may have taken all the time there was
	x.server.held.Delete(x.run)
	x.logEnd()
	x.endSpan()
	x.server.registry.Release(x.run)
}

func (x *exchange) logEnd() {
	ending, took := x.run.Ending(), time.Since(x.run.Started())
	x.server.measures.runEnded(ending, took)
	x.server.log.Info("run ended", "run", x.run.ID(), "ending", ending.How.String(), "code", string(ending.Code),
		"duration", took.String(), "turns", x.run.Turns())
}

// guard turns the client's leaving into the run's ending, and bounds what may still be written after any ending.
func (x *exchange) guard() {
	defer close(x.guarded)
	select {
	case <-x.left():
		x.disconnect()
	case <-x.run.Context().Done():
	}
	x.boundLastWrites()
}

// left waits for the body and is then closed when the client leaves. Before that the request's context says nothing: the HTTP server ends
// it for every error of reading the body, also for a deadline.
func (x *exchange) left() <-chan struct{} {
	select {
	case <-x.received:
		return x.r.Context().Done()
	case <-x.run.Context().Done():
		return nil
	}
}

// disconnect ends the run because the client left or can no longer be written to.
func (x *exchange) disconnect() {
	x.run.End(run.Ending{How: run.Disconnected, Message: "the client disconnected"})
}

// boundLastWrites unblocks a writer whose client does not read. In a shutdown phase 3 alone is the bound, so that two bounds of the same
// length do not race.
func (x *exchange) boundLastWrites() {
	switch x.run.Ending().How {
	case run.Disconnected:
		_ = x.conn.Close()
	case run.ShutDown:
	default:
		x.server.boundWrite(x.conn)
	}
}

// start lets the agent answer, on a goroutine that release waits for.
func (x *exchange) start(conversation []llm.Message) {
	x.produced = make(chan struct{})
	go x.produce(conversation)
}

func (x *exchange) produce(conversation []llm.Message) {
	defer close(x.produced)
	defer x.recoverProducer()
	tools, err := x.connect(x.ctx)
	if err == nil {
		err = x.answer(x.ctx, conversation, tools)
	}
	if err != nil {
		x.run.End(agent.Ending(err))
	}
}

// answer has the agent, or the coordinator with its workers, answer.
func (x *exchange) answer(ctx context.Context, conversation []llm.Message, tools agent.Tools) error {
	if x.server.orchestrator == nil {
		a := *x.server.agent
		a.Gate = x.gate(run.ApprovalScope{Kind: "single", SessionID: x.session})
		return a.Answer(ctx, x.run, conversation, tools)
	}
	o := *x.server.orchestrator
	o.Gate = func(t run.Task) agent.Gate {
		return x.gate(run.ApprovalScope{Kind: "worker", RunID: x.run.ID(), TaskID: &t.ID, Worker: t.Worker, SessionID: x.session})
	}
	return o.Answer(ctx, x.run, conversation, tools)
}

// recoverProducer makes a panic of the agent the failure of its own run only.
func (x *exchange) recoverProducer() {
	if cause := recover(); cause != nil {
		x.logPanic(cause)
		x.kit.mu.Lock()
		x.kit.panicked = true
		x.kit.mu.Unlock()
		x.run.End(internalError())
	}
}

// recoverHandler does the same for the goroutine that writes. What it had written may be half a frame, so the connection is cut.
func (x *exchange) recoverHandler() {
	if cause := recover(); cause != nil {
		x.logPanic(cause)
		x.run.End(internalError())
		_ = x.conn.Close()
	}
}

func (x *exchange) logPanic(cause any) {
	x.server.log.Error("run panicked", "run", x.run.ID(), "panic", cause, "stack", string(debug.Stack()))
}

func internalError() run.Ending {
	return run.Ending{How: run.Failed, Code: run.InternalError, Message: "internal error"}
}

// refuse ends a run that cannot be played, unless it ended otherwise meanwhile.
func (x *exchange) refuse(p *problem) {
	x.run.End(run.Ending{How: run.Failed, Code: run.InvalidRequest, Message: p.Message})
	if x.run.Ending().How == run.Disconnected {
		return
	}
	p.write(x.w)
}
