package harness

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
)

// Trial is one playing of a case on a stage. Its methods are for Play, on Play's own goroutine.
type Trial struct {
	Case    Case
	Stage   *Stage
	Windows Windows
	Seed    uint64
	Rand    *rand.Rand // of the seed
	// Where is the place that is named when Play ends early: that of a file which the scenario was read from. The
	// scenario's own line when empty.
	Where string
	// Doubt says why a check that fails proves nothing in this trial, or "". When nil, none is doubted.
	Doubt func(expect.Judgement) string

	marker string
	client *caller.Caller
	gates  *script.Gates
	script script.Script
	tools  []mcp.Script // of the fake MCP servers, one each; nil until they are told

	collected collector.Script   // of the fake collector
	approver  []approver.Program // of the fake webhook
	approving bool               // it was told
	decisions []*caller.Request

	stopped  string         // why Play ended early
	broke    string         // what panicked
	unplayed []string       // what the server never asked for
	history  expect.History // what is judged
}

// NewTrial makes a trial; the number keeps the markers of trials on one stage apart.
func NewTrial(c Case, s *Stage, seed uint64, number int) *Trial {
	t := &Trial{
		Case: c, Stage: s, Windows: s.Windows, Seed: seed, Rand: rand.New(rand.NewPCG(seed, sum(c.ID()))),
		marker: fmt.Sprintf("%s.%d", c.ID(), number),
		client: &caller.Caller{Dial: s.Dial, Address: s.Address, Base: s.Base, Timeline: s.Timeline},
		gates:  &script.Gates{},
	}
	t.openCollector()
	return t
}

// sum makes two cases of one seed differ in what they draw.
func sum(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// stop is what ends Play early: the situation was not reached.
type stop struct{ why string }

// Play runs the case's Play to its end and keeps why it stopped early.
func (t *Trial) Play() {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stop:
			t.stopped = p.why
		default:
			t.broke = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	play := t.Case.Variant.Play
	if play == nil {
		play = t.Case.Scenario.Play
	}
	play(t)
}

// Script tells the fake provider what to answer in this trial: once, before the first Ask.
func (t *Trial) Script(programs ...script.Program) {
	if t.script != nil {
		panic("harness: a trial has one script")
	}
	t.script = programs
	err := t.Stage.Provider.Open(t.marker, &provider.Session{Script: t.script, Timeline: t.Stage.Timeline, Gates: t.gates})
	if err != nil {
		panic(err)
	}
}

// Ask sends a request to the server under test. The prompt gets the trial's marker, which leads the server's own
// request to this trial's script.
func (t *Trial) Ask(a caller.Ask) *caller.Request {
	if a.Body == "" {
		a.Prompt = strings.TrimSpace(a.Prompt + " [[sw:" + t.marker + "]]")
	}
	return t.client.Ask(a)
}

// Await waits for an event, recorded already or to come. When the stage's patience runs out, Play ends there.
func (t *Trial) Await(what expect.Event) timeline.Event {
	tl := t.Stage.Timeline
	e, ok := tl.Await(t.Stage.Patience, what.Chosen())
	if !ok {
		// An event at the very instant of the limit counts.
		t.Stage.Settle()
		e, ok = tl.Find(what.Chosen())
	}
	if !ok {
		t.end("waited %s for %s", t.Stage.Patience, what)
	}
	return e
}

// AwaitEnd waits until the request is over.
func (t *Trial) AwaitEnd(r *caller.Request) {
	patience := time.NewTimer(t.Stage.Patience)
	defer patience.Stop()
	select {
	case <-r.Ended():
	case <-patience.C:
		t.end("waited %s for the end of request %s", t.Stage.Patience, r.Name)
	}
}

// AwaitExit waits until the server under test has ended.
func (t *Trial) AwaitExit() timeline.Event {
	return t.Await(expect.Event{Lane: ProcessLane, Kind: "exit"})
}

// Pass lets time go by.
func (t *Trial) Pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// Open opens a gate of the script.
func (t *Trial) Open(gate string) { t.gates.Open(gate) }

// Signal sends a signal to the server under test and records it first.
func (t *Trial) Signal(name string) {
	t.Stage.Timeline.Add(ProcessLane, "", "signal", name)
	t.Stage.Server.Signal(name)
}

// Census records what the server holds now, one event a feature whose detail is the count. The present instant is
// let finish first.
func (t *Trial) Census() {
	t.Stage.Settle()
	counts := t.Stage.Census()
	for _, f := range []Feature{Goroutines, Files, Sockets, Children} {
		if n, ok := counts[f]; ok {
			t.Stage.Timeline.Add(ProcessLane, "", string(f), strconv.Itoa(n))
		}
	}
}

// ProviderLane is the lane of the fake provider.
const ProviderLane = "provider"

// ProcessLane is the lane of what befalls the server as a process: signals, its exit, what it holds.
const ProcessLane = "process"

// ServerLane is the lane of what the server reports of itself.
const ServerLane = "server"

// end stops Play at the scenario's line.
func (t *Trial) end(format string, args ...any) {
	where := ""
	// 0 is this function, 1 the method of Trial, 2 its caller in the scenario.
	if _, file, line, ok := runtime.Caller(2); ok {
		where = fmt.Sprintf(" (%s:%d)", file[strings.LastIndexByte(file, '/')+1:], line)
	}
	if t.Where != "" {
		where = " (" + t.Where + ")"
	}
	panic(stop{fmt.Sprintf(format, args...) + where})
}

// Strike lets the stage's rest go by, and the windows of the checks that are still open then, keeps the history that is
// judged, and ends what the trial has under way: what ending it brings about proves nothing.
func (t *Trial) Strike() {
	if t.stopped != "" {
		t.readHeld()
	}
	t.Pass(t.Stage.Rest)
	t.Stage.Settle()
	t.keep()
	for until := t.history.End + t.Stage.Patience; ; t.keep() {
		open := min(t.open(), until)
		if open <= t.history.End {
			break
		}
		t.Pass(open - t.history.End)
		t.Stage.Settle()
	}
	t.client.LeaveAll()
	t.leaveDecisions()
	if t.script != nil {
		t.unplayed = t.Stage.Provider.Release(t.marker)
	}
	t.unplayed = append(t.unplayed, t.releaseTools()...)
	t.unplayed = append(t.unplayed, t.releaseCollector()...)
	t.unplayed = append(t.unplayed, t.releaseApprover()...)
}

// keep keeps the history so far.
func (t *Trial) keep() {
	t.history = expect.History{Events: t.Stage.Timeline.Events(), End: t.Stage.Timeline.Now(), Slack: t.Stage.Slack}
}

// readHeld lets the answers be read that Play, which stopped early, would have read later, and waits for their ends:
// what the client lacks is then the server's doing.
func (t *Trial) readHeld() {
	patience := time.NewTimer(t.Stage.Patience)
	defer patience.Stop()
	for _, r := range t.client.ReadAll() {
		select {
		case <-r.Ended():
		case <-patience.C:
			return
		}
	}
}

// open is the instant until which more of the history would decide more checks, or 0: the end of the last window that
// is still open in it, or a little more where it is in doubt what a miss says.
func (t *Trial) open() (last time.Duration) {
	defer func() {
		if recover() != nil { // a check that panics does so again when it judges
			last = 0
		}
	}()
	if t.broke != "" {
		return 0
	}
	at := t.at()
	for _, c := range t.Case.Checks() {
		if _, lacks := t.lack(c); lacks {
			continue
		}
		j := c.Expect(at).Judge(t.history)
		last = max(last, j.Open)
		// How long what never comes is missing is seen by waiting: until there is no doubt any more.
		if j.Absent && j.Missed > 0 && t.excuse(j, "") != "" {
			last = max(last, t.history.End+t.Stage.Once)
		}
	}
	return last
}

// unstruck lists the faults of the scripts that never struck: those of each fake in its own lane.
func (t *Trial) unstruck(events []timeline.Event) []string {
	model, tools, webhook, spans := strikes{}, strikes{}, strikes{}, strikes{}
	for _, p := range t.script {
		model.add(p.Steps, p.Times)
	}
	for _, s := range t.tools {
		for _, p := range s.Programs {
			tools.add(p.Steps, p.Times)
		}
	}
	for _, p := range t.approver {
		webhook.add(p.Steps, p.Times)
	}
	for _, p := range t.collected.Programs {
		spans.add(p.Steps, p.Times)
	}
	return slices.Concat(model.missing(ProviderLane, events), tools.missing(ToolsLane, events), webhook.missing(ApproverLane, events), spans.missing(CollectorLane, events))
}

// strikes are how often faults are to strike, by kind.
type strikes map[string]int

// add counts the faults of a program that so many requests take; 0 is one, and of [script.Any] nothing is wanted.
func (want strikes) add(steps []script.Step, times int) {
	if times != script.Any {
		faults(steps, max(times, 1), want)
	}
}

// missing are the kinds of which a lane has fewer events than wanted.
func (want strikes) missing(lane string, events []timeline.Event) []string {
	for _, e := range events {
		if e.Lane == lane {
			want[e.Kind]--
		}
	}
	var out []string
	for kind, n := range want {
		if n > 0 {
			out = append(out, kind)
		}
	}
	slices.Sort(out)
	return out
}

// faults counts by kind how often the faults among the steps are to strike.
func faults(steps []script.Step, times int, want map[string]int) {
	for _, s := range steps {
		switch s := s.(type) {
		case fault.Split:
			if s.At != nil || s.Every > 0 { // else it ends another
				want[s.Kind()] += times
			}
		case fault.Stall, fault.Cut, fault.Reset, fault.HalfClose, fault.Drip, fault.Batch, fault.Lines, fault.Status,
			fault.Garble, fault.StreamReset, fault.GoAway:
			want[s.Kind()] += times
		case script.Repeat:
			// Without end means once at the least.
			faults(s.Steps, times*max(s.Times, 1), want)
		}
	}
}
