package soak

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// kind is one sort of run. A further one, with a peer of its own or without, is one more entry in kinds.
type kind struct {
	name   string
	weight int      // how many of the sum of all weights are of this kind
	ends   []string // how the client may see it end, in the words of outcome; a server that does its work shows no other
	play   func(*run)
}

// windows are short, in the order of the production windows, and above what a busy machine needs for an ordinary step: connecting starts
// a process for each run that finds none in the pool.
func windows() harness.Windows {
	w := harness.Short()
	w.FirstChunk, w.Inactivity, w.Stream, w.Connect = 5*time.Second, 4*time.Second, 14*time.Second, 10*time.Second
	w.Cleanup, w.LastWrite, w.Shutdown = 2*time.Second, 5*time.Second, 5*time.Second
	w.PerCall, w.TaskInactivity = 6*time.Second, 3*time.Second
	return w
}

// set is what the server has besides: a collector, and decisions about calls of book. A person who is asked needs streams. Workers' tools do not
// suspend the server's inactivity clock, so an orchestrated one has none.
func (s Soak) set() harness.Set {
	if s.Orchestrated {
		return harness.Set{Tools: tooling, Telemetry: true, Approval: harness.Conversational, Orchestrated: true, PerCall: true, TaskInactivity: true}
	}
	return harness.Set{Inactivity: true, Tools: tooling, Telemetry: true, Approval: harness.Webhook}
}

// tooling is one server of each transport.
const tooling = harness.HTTPTools + "+" + harness.ModernTools + "+" + harness.SSETools + "+" + harness.StdioTools

const (
	completed  = "completed"
	left       = "left"
	transports = 4
)

// soon is the longest of what is drawn for a client's leaving and for a reader's pause: before, in and after all that a run does.
const soon = 1500 * time.Millisecond

// alone are the kinds of runs of a server whose agent works alone.
func alone() []kind {
	well := []string{completed}
	failed, truncated := []string{"provider_error"}, []string{"provider_truncated"}
	capped := []string{"stream_timeout"}
	leaves := []string{left, completed}
	words := script.Text{Chunks: []string{"one ", "two ", "three"}, Every: 20 * time.Millisecond}
	flood := flooding()
	long := script.Repeat{Times: 40, Steps: []script.Step{script.Text{Chunks: []string{"drop "}}, script.Pause{For: 50 * time.Millisecond}}}
	return []kind{
		{"answers", 14, well, func(r *run) {
			r.provider(script.Answer("all ", "said"))
			r.end(r.ask(true))
		}},
		{"answers-slowly", 6, well, func(r *run) {
			r.provider(script.Program{Steps: append([]script.Step{words}, closing("stop")...)})
			r.end(r.ask(true))
		}},
		{"answers-whole", 5, well, func(r *run) {
			r.provider(script.Answer("all ", "said"))
			r.end(r.ask(false))
		}},
		{"tool-answers", 10, well, func(r *run) {
			r.provider(calls(r.call(r.dice.IntN(transports))), script.Answer("told"))
			r.end(r.ask(r.dice.IntN(3) > 0))
		}},
		{"tools-in-turn", 4, well, func(r *run) {
			var all []script.Step
			for n := range transports {
				all = append(all, r.call(n))
			}
			r.provider(calls(all...), script.Answer("told"))
			r.end(r.ask(true))
		}},
		{"tool-cut-off", 4, well, func(r *run) {
			n := r.dice.IntN(transports - 1) // a child's output that ends says the same as its death
			r.tool(n, fault.Cut{})
			r.provider(calls(r.call(n)), script.Answer("told"))
			r.end(r.ask(true))
		}},
		{"tool-never-answers", 2, capped, func(r *run) {
			n := r.dice.IntN(transports)
			r.tool(n, script.Await{Gate: script.Never})
			r.provider(calls(r.call(n)))
			r.end(r.ask(r.dice.IntN(3) > 0))
		}},
		{"provider-refuses", 5, failed, func(r *run) {
			r.provider(script.Program{Times: script.Any, Steps: []script.Step{fault.Status{Code: 500}}})
			r.end(r.ask(r.dice.IntN(3) > 0))
		}},
		{"provider-cuts", 5, truncated, func(r *run) {
			r.provider(script.Program{Times: script.Any, Steps: []script.Step{words, fault.Cut{}}})
			r.end(r.ask(r.dice.IntN(3) > 0))
		}},
		{"provider-resets", 3, truncated, func(r *run) {
			r.provider(script.Program{Times: script.Any, Steps: []script.Step{words, fault.Reset{}}})
			r.end(r.ask(true))
		}},
		{"provider-fails-inside", 3, failed, func(r *run) {
			r.provider(script.Program{Steps: []script.Step{words, script.Error{Code: "overloaded", Message: "try again later"}, script.End{}}})
			r.end(r.ask(true))
		}},
		{"silent", 5, []string{"first_chunk_timeout"}, func(r *run) {
			r.provider(stalls(script.Headers{}))
			r.end(r.ask(true))
		}},
		{"falls-silent", 5, []string{"stream_inactivity_timeout"}, func(r *run) {
			r.provider(stalls(words))
			r.end(r.ask(true))
		}},
		{"goes-on-too-long", 2, capped, func(r *run) {
			r.provider(script.Program{Steps: []script.Step{script.Repeat{Steps: []script.Step{script.Text{Chunks: []string{"drop "}}, script.Pause{For: 700 * time.Millisecond}}}}})
			r.end(r.ask(true))
		}},
		{"left-in-text", 9, leaves, func(r *run) {
			r.provider(script.Program{Steps: append([]script.Step{long}, closing("stop")...)})
			r.leave(r.ask(r.dice.IntN(4) > 0))
		}},
		{"left-in-silence", 5, leaves, func(r *run) {
			r.provider(stalls())
			r.leave(r.ask(r.dice.IntN(3) > 0))
		}},
		{"left-in-a-tool", 7, leaves, func(r *run) {
			n := r.dice.IntN(transports)
			r.tool(n, script.Await{Gate: script.Never})
			r.provider(calls(r.call(n)))
			r.leave(r.ask(r.dice.IntN(4) > 0))
		}},
		{"slow-reader", 2, []string{completed, "end cut: closed", "end cut: reset"}, func(r *run) {
			r.provider(script.Program{Steps: append([]script.Step{flood}, closing("stop")...)})
			q := r.hold()
			r.pass(r.draw(soon))
			q.Read()
			r.end(q)
		}},
		{"slow-reader-leaves", 2, leaves, func(r *run) {
			r.provider(script.Program{Steps: append([]script.Step{flood}, closing("stop")...)})
			r.leave(r.hold())
		}},
		{"webhook-decides", 4, well, func(r *run) {
			r.webhook(approver.Decide{Approved: r.dice.IntN(2) > 0})
			r.provider(calls(r.book()), script.Answer("told"))
			r.end(r.ask(r.dice.IntN(3) > 0))
		}},
		{"webhook-never-answers", 1, capped, func(r *run) {
			r.webhook(fault.Stall{})
			r.provider(calls(r.book()))
			r.end(r.ask(r.dice.IntN(3) > 0))
		}},
		{"left-with-a-webhook-asked", 4, leaves, func(r *run) {
			r.webhook(fault.Stall{})
			r.provider(calls(r.book()))
			r.leave(r.ask(r.dice.IntN(4) > 0))
		}},
		{"no-request", 2, []string{"refused with 400"}, func(r *run) {
			r.end(r.client.Ask(caller.Ask{Body: `{"stream":true,"messages":[`}))
		}},
		{"panics", 2, []string{"internal_error"}, func(r *run) {
			r.end(r.client.Ask(caller.Ask{Prompt: "[[fault:panic]]", Stream: true}))
		}},
	}
}

// flooding is text of more than a connection holds unread, in few frames.
func flooding() script.Text {
	return script.Text{Chunks: slices.Repeat([]string{strings.Repeat("~", 64<<10)}, 64)}
}

// closing are the steps of a proper end.
func closing(reason string) []script.Step {
	return []script.Step{script.Finish{Reason: reason}, script.Usage{Prompt: 9, Completion: 4}, script.Done{}, script.End{}}
}

// calls is the model's turn that asks for tools.
func calls(tools ...script.Step) script.Program {
	return script.Program{Steps: append(tools, closing("tool_calls")...)}
}

// stalls is a turn that never ends after these steps. A server may ask again when it was given nothing.
func stalls(after ...script.Step) script.Program {
	return script.Program{Times: script.Any, Steps: append(after, fault.Stall{})}
}

// tool has this run's calls of the n-th server's first tool play these steps.
func (r *run) tool(n int, steps ...script.Step) {
	r.told = append(r.told, n)
	name := harness.ToolNames(n)[0]
	t := mcp.Tool{Name: name, Run: func(mcp.Call) []script.Step { return steps }}
	err := r.soak.peers.Servers[n].Fake.Open(r.marker, &mcp.Session{Script: mcp.Script{Tools: []mcp.Tool{t}}, Timeline: r.events, Gates: r.gates})
	r.must(err)
}

// book is a call that waits for a decision.
func (r *run) book() script.Step {
	return script.Tool{ID: "call_book", Name: harness.ToolNames(0)[1], Args: []string{fmt.Sprintf(`{"trial":"[[sw:%s]]"}`, r.marker)}}
}

// webhook says what the webhook answers this run's question with. The call itself, which has the run's marker, is answered at once.
func (r *run) webhook(steps ...script.Step) {
	r.asks = true
	r.must(r.soak.peers.Approver.Open(r.marker, &approver.Session{Script: approver.Script{{Steps: steps}}, Timeline: r.events, Gates: r.gates}))
}
