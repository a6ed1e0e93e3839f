package harness

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// Stage is where one trial plays: the network, the addresses, the windows, and what time is worth there.
type Stage struct {
	Virtual  bool
	Windows  Windows       // of the server, as the variant's set has them
	Usual    Windows       // before the set turned clocks off: what a scenario about such a clock must outlast
	Slack    time.Duration // what an instant may be off: 0 in virtual time
	Once     time.Duration // the limit of "at once": 0 in virtual time
	Tick     time.Duration // a step that is surely inside or outside a window
	Patience time.Duration // how long Play waits for an event that does not come
	Rest     time.Duration // how long is recorded after Play: what must not happen has this long to happen
	Flood    int           // bytes that no connection can hold unread

	// Lacks says why a feature cannot be shown here, by feature.
	Lacks map[Feature]Lack

	Timeline  *timeline.Timeline
	Provider  *provider.Provider
	Tools     []ToolServer         // the MCP servers of the server under test
	Approver  *approver.Approver   // the webhook that the server under test asks; nil when it has none
	Collector *collector.Collector // nil when the case has none
	Apart     bool                 // the trial has the server under test, and so the MCP servers, to itself
	Dial      func(ctx context.Context, network, addr string) (net.Conn, error)
	Address   string // of the server under test
	Base      string // path before /v1

	// Settle returns when what the present instant brings has happened: in virtual time every goroutine waits, in
	// real time the slack is over.
	Settle func()
	// Server is the process or the goroutines under test. It is nil for a server that somebody else started.
	Server Server
	// Census counts what the server holds, by feature; nil when nothing can be counted.
	Census func() map[Feature]int
}

// Lack is why a feature cannot be shown.
type Lack struct {
	Claimed bool   // the server offers it, but this stage cannot show it
	Why     string // one sentence
}

// Server is a server under test that stallwright started.
type Server interface {
	// Signal sends the signal of that name (SIGTERM, SIGINT).
	Signal(name string)
	// Done is closed when the server has ended.
	Done() <-chan struct{}
	// Exit is its exit code, valid once Done is closed.
	Exit() int
}

// Target is a kind of server under test: how it is started, and what it offers.
type Target struct {
	Name     string
	Features []Feature // what it claims
	Dialects []string  // what it can speak to its model's provider, by the fake's names; each case is played on every one
	Flavours []string  // of Chat Completions, besides: played when asked for
	// Execution is passed on to its [Setup].
	Execution string
	// Start starts it in this process; nil when it cannot.
	Start func(Setup) (Server, error)
	// Command says how to start it as a child process; nil when it cannot.
	Command func(Setup) Command
	// URL is where it already runs; stallwright did not start it.
	URL string
}

// Setup is what a server under test is told at its start.
type Setup struct {
	Windows   Windows
	Provider  string       // base URL of the fake provider, such as http://provider.test/v1
	Dialect   string       // what the server is to speak to it, by the fake's name for it; openai when empty
	Tools     []ToolServer // the MCP servers that it has
	Approval  Approving    // of calls of [Approved]
	Approver  string       // URL of the webhook that is asked, of [Webhook]
	Signed    bool         // the server has [ApprovalSecret]: it signs what it asks, and takes what is signed only
	Collector string       // where the server exports its telemetry to, as OTEL_EXPORTER_OTLP_ENDPOINT has it; nowhere when empty
	// Workers are those that the server's agent coordinates; it works alone when there are none.
	Workers []string
	// Execution says how a server that can be told executes the tool calls of one turn: sequential, batched, concurrent or
	// concurrent-fifo. Its own way when empty.
	Execution string
	// The rest is for a server in this process.
	Listener net.Listener
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	Log      io.Writer // JSON lines
	// Pipe stands for a child process over stdio: the other end of it plays the MCP server of that name.
	Pipe func(server string) (net.Conn, error)
}

// Command is a child process.
type Command struct {
	Args  []string          // args of the executable; Args[0] is its path
	Env   []string          // added to a clean environment
	Files map[string]string // written to a folder of its own, which is its working folder
	// Ready finds the address in a line of its log; "" when the line says nothing of it.
	Ready func(line string) string
}

// Unclaimed is what the target does not offer.
func (t Target) Unclaimed() map[Feature]Lack {
	out := map[Feature]Lack{}
	for _, f := range Features() {
		if !slices.Contains(t.Features, f) {
			out[f] = Lack{Why: fmt.Sprintf("%s does not claim %s", t.Name, f)}
		}
	}
	return out
}

// Features lists every feature.
func Features() []Feature {
	return []Feature{
		Streaming, NonStreaming, Signals, LogFields, FaultHooks, Goroutines, Files, Sockets, Children, CustomEvents, ErrorFrames, Approvals, Orchestration, Telemetry,
		SequentialTools, ToolExecution, ForwardedHeaders, LongWaits,
	}
}
