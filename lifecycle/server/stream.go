package server

import (
	"net/http"
	"time"

	"github.com/stallwright/stallwright/lifecycle/run"
)

// stream is the response of a streaming run. Only the handler's goroutine uses it.
type stream struct {
	x        *exchange
	control  *http.ResponseController
	beat     *heartbeat
	id       string
	session  string
	spoken   bool     // a content chunk was sent, and the role with it
	called   []string // ids of the tool calls that were told, in order
	asking   []asking
	broken   bool         // a write failed; nothing more is written
	finished run.Finished // how the model finished, of a completed run
}

// stream answers with server-sent events.
func (x *exchange) stream(q *chatRequest) {
	x.run.WatchItems(x.server.settings.FirstChunk, x.server.settings.Inactivity)
	o := &stream{x: x, control: http.NewResponseController(x.w), id: newID("chatcmpl-"), session: x.session}
	x.server.measures.streams.Add(1)
	defer x.server.measures.streams.Add(-1)
	x.span.Session(o.session)
	o.open()
	defer o.beat.stop()
	x.start(q.conversation())
	o.relay()
	o.finish()
}

// open sends status and headers before any work is done: what fails later is a terminal frame.
func (o *stream) open() {
	h := o.x.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Chat-Session-Id", o.session)
	o.x.w.WriteHeader(http.StatusOK)
	o.beat = newHeartbeat(time.Now(), o.x.server.settings.Heartbeat)
	o.write(nil)
	if o.x.server.settings.CustomEvents {
		o.write(eventFrame("aura.session_info", sessionInfo{o.x.server.modelName(), o.session}))
	}
}

// relay writes events and heartbeats until the run has its ending.
func (o *stream) relay() {
	for {
		select {
		case e := <-o.x.run.Events():
			o.event(e)
			o.beat.skipMissed(time.Now())
		case <-o.beat.due():
			o.write(heartbeatFrame)
			o.beat.advance(time.Now())
		case <-o.x.run.Context().Done():
			return
		}
	}
}

// event writes one event. The run is complete when its last event has reached the writer, not when the model has finished: until then the
// stream clock goes on, which bounds a slow reader.
func (o *stream) event(e run.Event) {
	switch e := e.(type) {
	case run.Text:
		o.text(e.Content)
	case run.Reasoning:
		o.reasoning(e.Content)
	case run.ToolsConnected:
		o.toolsConnected(e)
	case run.ToolRequested:
		o.toolRequested(e)
	case run.ToolStarted:
		o.custom("aura.tool_start", toolStart{e.ID, e.Name, e.Token, o.tail()})
	case run.ToolProgress:
		o.custom("aura.progress", progressOf(e, o.tail()))
	case run.ToolCompleted:
		o.toolCompleted(e)
	case run.ToolUsage:
		o.custom("aura.tool_usage", toolUsage{e.IDs, tokensOf(e.Usage), o.session})
	case run.ApprovalRequested, run.ApprovalPending, run.ApprovalCompleted:
		o.approvalEvent(e)
	case run.Finished:
		o.finished = e
		o.x.span.Usage(e.Usage.Prompt, e.Usage.Completion)
		o.x.run.End(run.Ending{How: run.Completed})
	default:
		o.orchestrated(e)
	}
}

// text carries the role once, on the first piece.
func (o *stream) text(content string) {
	d := delta{Content: &content}
	if !o.spoken {
		d.Role = "assistant"
		o.spoken = true
	}
	o.write(dataFrame(o.chunk(choice{Delta: d})))
}

func (o *stream) reasoning(content string) {
	if !o.x.server.settings.CustomEvents || !o.x.server.settings.EmitReasoning {
		return
	}
	o.write(eventFrame("aura.reasoning", reasoningEvent{content, o.x.server.agentID(), o.x.server.file.Agent.Name, o.session}))
}

// finish ends the response:
//
//	Completed     terminal frame, [DONE]
//	Failed        terminal frame at once, [DONE]
//	TimedOut      terminal frame at expiry, MCP cleanup, [DONE]
//	ShutDown      terminal frame and [DONE] at the drain
//	Disconnected  nothing
//
// Where it is not said here, MCP cleanup comes after all of it.
//
// The run's context was cancelled before any of it. What the model said before the ending is still written.
func (o *stream) finish() {
	ending := o.x.run.Ending()
	if ending.How == run.Disconnected {
		return
	}
	o.drain()
	o.cancelAsking(ending)
	o.terminal(ending)
	if ending.How == run.TimedOut {
		o.x.returnTools()
		o.x.server.boundWrite(o.x.conn) // the cleanup may have taken all the time there was
	}
	o.write(doneFrame)
}

// drain writes what was queued at the ending. A producer that comes later is told so by the run and queues nothing.
func (o *stream) drain() {
	for {
		select {
		case e := <-o.x.run.Events():
			o.event(e)
		default:
			return
		}
	}
}

// terminal writes the one terminal frame.
func (o *stream) terminal(ending run.Ending) {
	if ending.How == run.Completed {
		o.usage()
		o.complete()
		return
	}
	o.failure(ending)
}

func (o *stream) usage() {
	u := usageOf(o.finished)
	if u == nil || !o.x.server.settings.CustomEvents {
		return
	}
	o.write(eventFrame("aura.usage", usageEvent{*u, o.session}))
}

func (o *stream) complete() {
	c := o.chunk(choice{FinishReason: finishReason(o.finished)})
	c.Usage = usageOf(o.finished)
	o.write(dataFrame(c))
}

func (o *stream) failure(ending run.Ending) {
	c := o.chunk(choice{FinishReason: "error"})
	c.Error = &frameError{Message: ending.Message, Type: problemOf(ending).Type, Code: string(ending.Code)}
	o.write(dataFrame(c))
}

func (o *stream) chunk(c choice) chunk {
	return chunk{ID: o.id, Object: "chat.completion.chunk", Created: o.x.run.Started().Unix(), Model: o.x.server.modelName(), Choices: []choice{c}}
}

// write sends a frame now. A client that cannot be written to has left: the run ends, if it had not, and the connection is cut.
func (o *stream) write(frame []byte) {
	if o.broken || o.x.run.Ending().How == run.Disconnected {
		return
	}
	_, err := o.x.w.Write(frame)
	if err == nil {
		err = o.control.Flush()
	}
	if err != nil {
		o.broken = true
		o.x.disconnect()
		_ = o.x.conn.Close()
	}
}
