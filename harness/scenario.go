// Package harness plays scenarios on a server under test and judges what their timelines show. It knows no test
// framework: the command line and Ginkgo share it.
//
//	Scenario ──Play──▶ Trial on a Stage ──▶ Timeline ──Checks──▶ verdict.Result
package harness

import (
	"slices"
	"time"

	"github.com/stallwright/stallwright/harness/expect"
)

// Scenario is one claim about agent servers: what is done to a server, and what the timeline must then show.
type Scenario struct {
	ID       string // area/claim
	Claim    string // a sentence in the present tense with the limit in it
	Needs    []Feature
	Alone    bool // plays on a server of its own: it signals it, or counts what it holds
	Anywhere bool // plays whatever clocks the server has on
	Variants []Variant
	Play     func(*Trial) // scripts, acts and awaits, in a straight line; never judges
	Reached  []expect.Event
	Checks   []Check
}

// Variant is one form of a scenario: a phase, a delivery, a way of leaving.
type Variant struct {
	Name    string
	Set     Set
	Needs   []Feature      // besides the scenario's
	Play    func(*Trial)   // in place of the scenario's
	Reached []expect.Event // besides the scenario's: what makes the test a test
	Checks  []Check        // besides the scenario's
}

// Check is one thing that must be so, a pure function of the finished timeline.
type Check struct {
	Name      string // unique in its case
	Guarantee string
	Noun      string // the second half of its signature
	Needs     []Feature
	Expect    func(At) expect.Expectation
}

// At is what a check may know of the stage: the windows of the server, and what "at once" means there.
type At struct {
	Windows
	Once  time.Duration // the limit of "at once": 0 in virtual time
	Tick  time.Duration // what is surely before or after a window
	Stage *Stage
}

// Feature is something a target may offer or a stage may be able to show.
type Feature string

// The features scenarios need.
const (
	Streaming    Feature = "streaming"
	NonStreaming Feature = "non-streaming"
	Signals      Feature = "signals"      // stallwright started the process, and may end it
	LogFields    Feature = "log-fields"   // the server's log is read
	FaultHooks   Feature = "fault-hooks"  // the server does wrong on request
	Goroutines   Feature = "goroutines"   // can be counted
	Files        Feature = "files"        // open files can be counted
	Sockets      Feature = "sockets"      // open sockets can be counted
	Children     Feature = "children"     // child processes can be counted
	CustomEvents Feature = "aura-events"  // aura.* events are sent
	ErrorFrames  Feature = "error-frames" // a failed run's terminal frame says which clock or failure it was
)

// Set says in what the server's settings differ from the usual for a variant. Variants with equal sets can share a
// server.
type Set struct {
	Inactivity   bool // the inactivity clock is on; usually it is off
	NoFirstChunk bool // the clocks that are off
	NoStream     bool
	NoHeartbeat  bool
	NoGrace      bool
}

// Windows are the clocks and bounds of the server under test.
type Windows struct {
	FirstChunk, Inactivity, Stream, Heartbeat time.Duration
	Shutdown                                  time.Duration // grace
	Straggler                                 time.Duration // from the drain to phase 3
	Abort                                     time.Duration // how long phase 3 waits
	Cleanup                                   time.Duration
	LastWrite                                 time.Duration
	Flush                                     time.Duration
}

// Production are the windows a server has when nobody sets them; Inactivity is a usual choice for a clock that is
// off by default.
func Production() Windows {
	return Windows{
		FirstChunk: 90 * time.Second, Inactivity: 40 * time.Second, Stream: 15 * time.Minute, Heartbeat: 15 * time.Second,
		Shutdown: 30 * time.Second, Straggler: 5 * time.Second, Abort: 400 * time.Millisecond, Cleanup: 5 * time.Second,
		LastWrite: 5 * time.Second, Flush: 5 * time.Second,
	}
}

// Short are windows for real time, in the order of the production windows.
func Short() Windows {
	return Windows{
		FirstChunk: 1600 * time.Millisecond, Inactivity: 1100 * time.Millisecond, Stream: 4500 * time.Millisecond, Heartbeat: 500 * time.Millisecond,
		Shutdown: 800 * time.Millisecond, Straggler: 400 * time.Millisecond, Abort: 100 * time.Millisecond, Cleanup: 400 * time.Millisecond,
		LastWrite: 400 * time.Millisecond, Flush: 400 * time.Millisecond,
	}
}

// Longest is the longest clock.
func (w Windows) Longest() time.Duration {
	return max(w.FirstChunk, w.Inactivity, w.Stream, w.Heartbeat, w.Shutdown)
}

// With are the windows as the set has them.
func (w Windows) With(s Set) Windows {
	if !s.Inactivity {
		w.Inactivity = 0
	}
	if s.NoFirstChunk {
		w.FirstChunk = 0
	}
	if s.NoStream {
		w.Stream = 0
	}
	if s.NoHeartbeat {
		w.Heartbeat = 0
	}
	if s.NoGrace {
		w.Shutdown = 0
	}
	return w
}

// Case is a scenario in one variant.
type Case struct {
	Scenario Scenario
	Variant  Variant
}

// ID is SCENARIO, or SCENARIO@VARIANT.
func (c Case) ID() string {
	if c.Variant.Name == "" {
		return c.Scenario.ID
	}
	return c.Scenario.ID + "@" + c.Variant.Name
}

// Cases lists the cases of a scenario.
func (s Scenario) Cases() []Case {
	if len(s.Variants) == 0 {
		return []Case{{Scenario: s}}
	}
	cases := make([]Case, len(s.Variants))
	for i, v := range s.Variants {
		cases[i] = Case{Scenario: s, Variant: v}
	}
	return cases
}

// Checks are the scenario's and the variant's.
func (c Case) Checks() []Check { return slices.Concat(c.Scenario.Checks, c.Variant.Checks) }

// Needs are the scenario's and the variant's.
func (c Case) Needs() []Feature { return slices.Concat(c.Scenario.Needs, c.Variant.Needs) }

// Guarantees are those a case is evidence for, each once, in the order of its checks.
func (c Case) Guarantees() []string {
	var ids []string
	for _, check := range c.Checks() {
		if check.Guarantee != "" && !slices.Contains(ids, check.Guarantee) {
			ids = append(ids, check.Guarantee)
		}
	}
	return ids
}
