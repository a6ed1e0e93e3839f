// Package harness plays scenarios on a server under test and judges what their timelines show. It knows no test
// framework: the command line and Ginkgo share it.
//
//	Scenario ──Play──▶ Trial on a Stage ──▶ Timeline ──Checks──▶ verdict.Result
package harness

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/harness/expect"
)

// Scenario is one claim about agent servers: what is done to a server, and what the timeline must then show.
type Scenario struct {
	ID       string // area/claim
	Claim    string // a sentence in the present tense with the limit in it
	Needs    []Feature
	Alone    bool     // plays on a server of its own: it signals it, or counts what it holds
	Anywhere bool     // plays whatever clocks the server has on, and on any MCP servers of ours
	Dialects []string // the only ones that it is about; every one when nil
	Variants []Variant
	Play     func(*Trial) // scripts, acts and awaits, in a straight line; never judges
	Reached  []expect.Event
	Checks   []Check
}

// Variant is one form of a scenario: a phase, a delivery, a way of leaving.
type Variant struct {
	Name     string
	Set      Set
	Needs    []Feature      // besides the scenario's
	Dialects []string       // the only ones that it is about; the scenario's when nil
	Play     func(*Trial)   // in place of the scenario's
	Reached  []expect.Event // besides the scenario's: what makes the test a test
	Checks   []Check        // besides the scenario's
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
	Once    time.Duration // the limit of "at once": 0 in virtual time
	Tick    time.Duration // what is surely before or after a window
	Stage   *Stage
	Dialect string // that the server speaks to its model's provider
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

	Approvals     Feature = "approvals"     // tool calls can wait for a decision
	Orchestration Feature = "orchestration" // a coordinator and workers, with AURA's routing tools and events
	Telemetry     Feature = "telemetry"     // spans are exported over OTLP/HTTP to where the server is told

	SequentialTools  Feature = "sequential-tools"  // each tool call of a turn has ended before the next is announced
	ToolExecution    Feature = "tool-execution"    // the tool calls of a turn are executed as it is told, see [Setup]
	ForwardedHeaders Feature = "forwarded-headers" // a client's X-Account goes on to the MCP servers over HTTP, as its Authorization does
	LongWaits        Feature = "long-waits"        // a scenario may wait for minutes: time costs nothing
)

// Set says in what the server's settings differ from the usual for a variant. Variants with equal sets can share a
// server.
type Set struct {
	Inactivity   bool // the inactivity clock is on; usually it is off
	NoFirstChunk bool // the clocks that are off
	NoStream     bool
	NoHeartbeat  bool
	NoGrace      bool
	Tools        Tooling   // the MCP servers that it has
	Approval     Approving // which of their calls wait for a decision, and how it comes
	Signed       bool      // decisions that come to the server's own endpoint count only when they are signed with [ApprovalSecret]
	Expires      bool      // the limit of waiting for a decision is the window; else it is longer than any run
	Dialect      string    // that the server speaks to its model's provider, by the fake's name; [OpenAI] when empty
	Execution    string    // of the tool calls of one turn, as in [Setup]: such a case needs [ToolExecution]
	Telemetry    bool      // it exports spans to a collector of ours; such a trial is alone on its server
	// Orchestrated: the server's agent is a coordinator with the workers of [Workers]; its windows are off unless they are here.
	Orchestrated, PerCall, TaskInactivity bool

	Connect bool // the limit of connecting to MCP servers is the window; else it is long, since a child takes its time to start
}

// OpenAI is the dialect of Chat Completions. It is meant where none is named, also in the IDs of cases.
const OpenAI = "openai"

// Windows are the clocks and bounds of the server under test.
type Windows struct {
	FirstChunk, Inactivity, Stream, Heartbeat time.Duration
	Shutdown                                  time.Duration // grace
	Straggler                                 time.Duration // from the drain to phase 3
	Abort                                     time.Duration // how long phase 3 waits
	Cleanup                                   time.Duration
	Connect                                   time.Duration // to an MCP server, until its tools are known
	Approval                                  time.Duration // for a decision about a tool call
	LastWrite                                 time.Duration
	Flush                                     time.Duration
	PerCall                                   time.Duration // for one call of a coordinator or worker
	TaskInactivity                            time.Duration // between two items of such a call
}

// Production are the windows a server has when nobody sets them; Inactivity is a usual choice for a clock that is
// off by default.
func Production() Windows {
	return Windows{
		FirstChunk: 90 * time.Second, Inactivity: 40 * time.Second, Stream: 15 * time.Minute, Heartbeat: 15 * time.Second,
		Shutdown: 30 * time.Second, Straggler: 5 * time.Second, Abort: 400 * time.Millisecond, Cleanup: 5 * time.Second,
		LastWrite: 5 * time.Second, Flush: 5 * time.Second, Connect: 10 * time.Second,
		Approval: 65 * time.Second, // the default of a minute is four heartbeats, and no two deadlines may fall on one instant
		// Off the heartbeats, and below the windows around them.
		PerCall: 70 * time.Second, TaskInactivity: 25 * time.Second,
	}
}

// Short are windows for real time, in the order of the production windows.
func Short() Windows {
	return Windows{
		FirstChunk: 1600 * time.Millisecond, Inactivity: 1100 * time.Millisecond, Stream: 4500 * time.Millisecond, Heartbeat: 500 * time.Millisecond,
		Shutdown: 800 * time.Millisecond, Straggler: 400 * time.Millisecond, Abort: 100 * time.Millisecond, Cleanup: 400 * time.Millisecond,
		LastWrite: 400 * time.Millisecond, Flush: 400 * time.Millisecond, Connect: 450 * time.Millisecond,
		Approval: 1350 * time.Millisecond,
		PerCall:  1400 * time.Millisecond, TaskInactivity: 700 * time.Millisecond,
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
	if !s.Expires && w.Approval > 0 {
		w.Approval = longApproval
	}
	if !s.PerCall {
		w.PerCall = 0
	}
	if !s.TaskInactivity {
		w.TaskInactivity = 0
	}
	if !s.Connect && w.Connect > 0 {
		w.Connect = max(w.Connect, Production().Connect)
	}
	return w
}

// Case is a scenario in one variant, on one dialect.
type Case struct {
	Scenario Scenario
	Variant  Variant // with the dialect in its set
}

// ID is SCENARIO, SCENARIO@VARIANT, SCENARIO@DIALECT or SCENARIO@VARIANT.DIALECT.
func (c Case) ID() string {
	form := c.Variant.Name
	if d := c.Variant.Set.Dialect; d != "" {
		form = strings.TrimPrefix(form+"."+d, ".")
	}
	if form == "" {
		return c.Scenario.ID
	}
	return c.Scenario.ID + "@" + form
}

// Dialect is what the server speaks to its model's provider.
func (c Case) Dialect() string { return cmp.Or(c.Variant.Set.Dialect, OpenAI) }

// Cases lists the cases of a scenario on those of the dialects that it is about, variant by variant. No dialect means
// [OpenAI].
func (s Scenario) Cases(on ...string) []Case {
	if len(on) == 0 {
		on = []string{OpenAI}
	}
	variants := s.Variants
	if len(variants) == 0 {
		variants = []Variant{{}}
	}
	var cases []Case
	for _, v := range variants {
		about := v.Dialects
		if about == nil {
			about = s.Dialects
		}
		for _, d := range on {
			if about != nil && !slices.Contains(about, d) {
				continue
			}
			v.Set.Dialect = d
			if d == OpenAI {
				v.Set.Dialect = "" // one name for one set
			}
			cases = append(cases, Case{Scenario: s, Variant: v})
		}
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
