package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
)

// patience is how long a run may take: above the stream's window, the cleanup and the last write, and a busy machine's delays.
const patience = 60 * time.Second

// run is one run of a soak, told apart from the others by its marker.
type run struct {
	soak   *soak
	marker string
	dice   *rand.Rand
	events *timeline.Timeline
	client *caller.Caller
	gates  *script.Gates

	scripted bool
	told     []int  // the MCP servers that know of it
	asks     bool   // the webhook knows of it
	late     bool   // it did not end within patience
	broken   string // what is wrong with the soak itself
}

func (s *soak) run(n int) *run {
	events := timeline.New()
	return &run{
		soak: s, marker: fmt.Sprintf("soak.%d", n), dice: rand.New(rand.NewPCG(s.Seed, uint64(n))), events: events, gates: &script.Gates{},
		client: &caller.Caller{Dial: s.dialer.DialContext, Address: s.server.Address(), Timeline: events},
	}
}

// provider says what the model plays.
func (r *run) provider(programs ...script.Program) {
	r.scripted = true
	r.must(r.soak.fake.Open(r.marker, &provider.Session{Script: programs, Timeline: r.events, Gates: r.gates}))
}

// call asks for the first tool of the n-th server, which plays what this run has told it, or else answers.
func (r *run) call(n int) script.Step {
	arguments := `{"city":"Oslo"}`
	if slices.Contains(r.told, n) {
		arguments = fmt.Sprintf(`{"trial":"[[sw:%s]]"}`, r.marker)
	}
	return script.Tool{ID: fmt.Sprintf("call_%d", n), Name: harness.ToolNames(n)[0], Args: []string{arguments}}
}

func (r *run) ask(stream bool) *caller.Request {
	return r.client.Ask(caller.Ask{Prompt: "[[sw:" + r.marker + "]]", Stream: stream})
}

// hold asks and reads nothing.
func (r *run) hold() *caller.Request {
	return r.client.Ask(caller.Ask{Prompt: "[[sw:" + r.marker + "]]", Stream: true, Hold: true})
}

// leave goes away at some instant, in some way.
func (r *run) leave(q *caller.Request) {
	limit := time.NewTimer(r.draw(soon))
	defer limit.Stop()
	select {
	case <-limit.C:
		q.Leave([]caller.Leaving{caller.Close, caller.Reset}[r.dice.IntN(2)])
	case <-q.Ended():
	}
	r.end(q)
}

// end waits for the end of a request.
func (r *run) end(q *caller.Request) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-q.Ended():
	case <-limit.C:
		r.late = true
	}
}

func (r *run) draw(below time.Duration) time.Duration {
	return time.Duration(r.dice.Int64N(int64(below)))
}

func (r *run) pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

func (r *run) must(err error) {
	if err != nil && r.broken == "" {
		r.broken = err.Error()
	}
}

// over ends the client's side of the run. A panic of its play is the soak's own.
func (r *run) over() {
	if p := recover(); p != nil {
		r.broken = fmt.Sprint(p)
	}
	r.client.LeaveAll()
}

// release has the fakes forget the run.
func (r *run) release() {
	if r.scripted {
		r.soak.fake.Release(r.marker)
	}
	if r.asks {
		r.soak.peers.Approver.Release(r.marker)
	}
	for _, n := range r.told {
		r.soak.peers.Servers[n].Fake.Release(r.marker)
	}
}

// outcome is how the client saw the run end: "completed", the code of an error, "left", "refused with STATUS", or what else was the last of it.
func (r *run) outcome() string {
	if r.broken != "" {
		return "the soak itself: " + r.broken
	}
	if r.late {
		return fmt.Sprintf("no end within %s", patience)
	}
	last, status, finished := "nothing", "", false
	for _, e := range r.events.Events() {
		if e.Lane != caller.Lane {
			continue
		}
		switch e.Kind {
		case "left":
			return left
		case "error":
			code, _, _ := strings.Cut(e.Detail, ":")
			if code != "" && code != "invalid_request_error" {
				return code
			}
		case "status":
			status, _, _ = strings.Cut(e.Detail, " ")
		case "finish":
			finished = true
		case "end":
			if finished && e.Detail == "complete" {
				return completed
			}
		}
		last = e.Kind + " " + e.Detail
	}
	if status != "" && status != "200" {
		return "refused with " + status
	}
	return last
}

// story is the end of the run's timeline, heartbeats aside.
func (r *run) story() string {
	const most = 12
	var lines []string
	for _, e := range r.events.Events() {
		if e.Kind != "comment" {
			lines = append(lines, fmt.Sprintf("    +%-9.3f %-9s %-4s %s %.160s", e.At.Seconds(), e.Lane, e.Ref, e.Kind, e.Detail))
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
