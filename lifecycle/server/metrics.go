package server

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stallwright/stallwright/lifecycle/run"
)

// durations are the upper bounds, in seconds, of the histogram of runs: a quick answer, a slow one, one with tools, and the windows that
// servers are commonly given.
var durations = []float64{0.1, 0.5, 1, 5, 15, 30, 60, 90, 300, 900}

// measures are what the server counts of itself, in the text format of Prometheus (version 0.0.4). Each label has a handful of values
// that are written in this program: nothing that a client, a model or a tool says becomes one. Its methods are safe for concurrent use.
type measures struct {
	streams   atomic.Int64 // open
	toolCalls atomic.Int64 // in flight

	mu      sync.Mutex // guards what follows
	ended   map[outcome]int
	evicted map[string]int // agents, by reason
	within  []int          // runs, by the first of the durations that they did not outlast; one more for the others
	seconds float64        // of all runs
}

// outcome is how a run ended.
type outcome struct {
	how  run.How
	code run.Code
}

func newMeasures() *measures {
	return &measures{ended: make(map[outcome]int), evicted: make(map[string]int), within: make([]int, len(durations)+1)}
}

// runEnded counts a run that is about to be released.
func (m *measures) runEnded(e run.Ending, took time.Duration) {
	at, _ := slices.BinarySearch(durations, took.Seconds())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended[outcome{e.How, e.Code}]++
	m.within[at]++
	m.seconds += took.Seconds()
}

func (m *measures) agentEvicted(reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.evicted[reason]++
}

// metrics answers a scrape.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	body := s.exposition()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

func (s *Server) exposition() []byte {
	var p page
	p.family("stallwright_build_info", "gauge", "Always 1; the version is in the label.")
	p.sample("stallwright_build_info", 1, "version", s.version)
	for _, g := range s.gauges() {
		p.family(g.name, "gauge", g.help)
		p.sample(g.name, g.value)
	}
	s.measures.write(&p)
	process(&p)
	return p.Bytes()
}

// gauge is one number that is read when a scrape asks for it.
type gauge struct {
	name, help string
	value      float64
}

// gauges are what is under way now.
func (s *Server) gauges() []gauge {
	return []gauge{
		{"stallwright_runs_running", "Runs that are admitted and not yet released, streaming or not.", float64(len(s.registry.Running()))},
		{"stallwright_streams_open", "Streaming responses that are open.", float64(s.measures.streams.Load())},
		{"stallwright_tool_calls_in_flight", "Tool calls that wait for their answer.", float64(s.measures.toolCalls.Load())},
		{"stallwright_approvals_pending", "Approvals that wait for a decision.", float64(s.approvals.desk.Pending())},
		{"stallwright_tool_sets_kept", "Sets of connections to the MCP servers that wait in the pool for a run.", float64(s.toolSetsKept())},
		{"stallwright_connections_open", "Connections of clients.", float64(s.conns.count())},
	}
}

func (s *Server) toolSetsKept() int {
	if s.tools == nil {
		return 0
	}
	return s.tools.Kept()
}

func (m *measures) write(p *page) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.family("stallwright_runs_total", "counter", "Runs that have ended, by how they did and by the code of the error.")
	for _, o := range slices.SortedFunc(maps.Keys(m.ended), func(a, b outcome) int {
		return cmp.Or(cmp.Compare(a.how, b.how), cmp.Compare(a.code, b.code))
	}) {
		p.sample("stallwright_runs_total", float64(m.ended[o]), "ending", word(o.how.String()), "code", string(o.code))
	}
	p.family("stallwright_agents_evicted_total", "counter", "Sets of connections to the MCP servers that were closed because of their run, by reason.")
	for _, reason := range slices.Sorted(maps.Keys(m.evicted)) {
		p.sample("stallwright_agents_evicted_total", float64(m.evicted[reason]), "reason", word(reason))
	}
	const name = "stallwright_run_duration_seconds"
	p.family(name, "histogram", "How long runs took, from admission to release.")
	so := 0
	for i, bound := range durations {
		so += m.within[i]
		p.sample(name+"_bucket", float64(so), "le", strconv.FormatFloat(bound, 'g', -1, 64))
	}
	so += m.within[len(durations)]
	p.sample(name+"_bucket", float64(so), "le", "+Inf")
	p.sample(name+"_sum", m.seconds)
	p.sample(name+"_count", float64(so))
}

// process tells of the process by the names that the client libraries of Prometheus give, so that common dashboards and alarms fit. The
// heap is what lived at the last collection: it shows a leak where what is allocated now only shows the collector's pace.
func process(p *page) {
	p.family("go_goroutines", "gauge", "Goroutines that exist.")
	p.sample("go_goroutines", float64(runtime.NumGoroutine()))
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(live)
	p.family("stallwright_heap_live_bytes", "gauge", "Bytes of the heap that were in use at the last garbage collection.")
	p.sample("stallwright_heap_live_bytes", float64(live[0].Value.Uint64()))
	p.family("stallwright_collections_total", "counter", "Garbage collections that have ended.")
	p.sample("stallwright_collections_total", float64(live[1].Value.Uint64()))
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.family("process_open_fds", "gauge", "Open file descriptors.")
		p.sample("process_open_fds", float64(len(open)-1)) // one is the folder's own
	}
}

// page is a text in the format of Prometheus.
type page struct{ bytes.Buffer }

func (p *page) family(name, kind, help string) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes one number with the labels that follow in pairs, NAME VALUE.
func (p *page) sample(name string, value float64, labels ...string) {
	p.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		mark := byte(',')
		if i == 0 {
			mark = '{'
		}
		p.WriteByte(mark)
		fmt.Fprintf(p, `%s="%s"`, labels[i], escape.Replace(labels[i+1]))
	}
	if len(labels) > 0 {
		p.WriteByte('}')
	}
	fmt.Fprintf(p, " %s\n", strconv.FormatFloat(value, 'g', -1, 64))
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// word is a text as a label's value: in one word, as alarms are written by hand.
func word(s string) string { return strings.ReplaceAll(s, " ", "_") }
