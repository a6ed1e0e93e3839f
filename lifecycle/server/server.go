// Package server is the agent server over HTTP: it admits requests as runs, relays their events as SSE or JSON, and shuts down in phases.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/orchestration"
	"github.com/stallwright/stallwright/lifecycle/run"
	"github.com/stallwright/stallwright/lifecycle/telemetry"
	"github.com/stallwright/stallwright/lifecycle/tools"
)

const (
	headerWindow   = 10 * time.Second // for a request's headers: a client that needs longer holds a connection for nothing
	idleWindow     = 2 * time.Minute  // for a kept connection: longer than the pauses of a person who chats
	maxHeaderBytes = 64 << 10
	dialWindow     = 10 * time.Second // for one connection to the provider, and again for its TLS
	keptProvider   = 16               // idle provider connections: a burst of runs need not all dial again
)

// Config is what a server is made of.
type Config struct {
	Settings config.Settings
	File     config.File
	// Dial opens connections to the provider and to the collector; nil dials the network, through the environment's proxy if there is one.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Pipe, if set, stands for the child of an MCP server over stdio: one connection is its input and its output. For tests, in which no
	// process can be waited for.
	Pipe    func(server string) (net.Conn, error)
	Log     *slog.Logger // nil discards
	Hooks   Hooks
	Version string // as /health tells it
}

// Hooks are faults that no peer can provoke, for tests.
type Hooks struct {
	// Turn, if set, is called on the run's own goroutine at the start of each model turn with the user's last message. It may panic, or
	// be deaf to ctx.
	Turn func(ctx context.Context, prompt string)
	// Approval, if set, is called with a call that waits for approval, on the goroutine of the call. It may panic.
	Approval func(ctx context.Context, c llm.ToolCall)
}

// Exit says how a shutdown went.
type Exit struct {
	Clean     bool // no run had to be aborted
	Unaborted bool // an aborted run did not end within the abort window and is still going
}

// Server serves one agent. Its methods are safe for concurrent use; Serve is called once.
type Server struct {
	settings config.Settings
	file     config.File
	version  string
	log      *slog.Logger
	created  time.Time

	agent        *agent.Agent
	orchestrator *orchestration.Orchestrator // nil for a single agent

	tools     *tools.Pool // nil without MCP servers
	exportTo  telemetry.Config
	telemetry *telemetry.Telemetry // while it is served; nil when off
	approvals *approvals
	asked     func(ctx context.Context, c llm.ToolCall)
	transport *http.Transport
	http      *http.Server
	registry  *run.Registry
	conns     *connections
	measures  *measures
	held      sync.Map // *run.Run to its *exchange, from admission to release

	signalMu sync.Mutex
	signals  int
	signal   string        // name of the first one
	first    chan struct{} // closed at the first signal
	second   chan struct{} // closed at the second
	aborting chan struct{} // closed when phase 3 begins
}

// New checks c and assembles a server. It starts nothing.
func New(c Config) (*Server, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	s := &Server{
		settings: c.Settings,
		file:     c.File,
		version:  c.Version,
		log:      c.Log,
		created:  time.Now(),
		registry: run.NewRegistry(),
		conns:    newConnections(c.Settings.Connections),
		measures: newMeasures(),
		first:    make(chan struct{}),
		second:   make(chan struct{}),
		aborting: make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.transport = newTransport(c.Dial)
	s.agent = newAgent(c, s.transport)
	s.orchestrator = newOrchestrator(c, s.transport, s.agent)
	s.tools = newPool(c)
	s.approvals = newApprovals(c)
	s.asked = c.Hooks.Approval
	s.http = s.newHTTPServer()
	s.exportTo = exportTo(c, s.log)
	return s, nil
}

func check(c Config) error {
	switch {
	case newModel(c.File.Agent.LLM, nil) == nil:
		return fmt.Errorf("server: there is no provider %q", c.File.Agent.LLM.Provider)
	case c.File.Agent.TurnDepth < 1:
		return fmt.Errorf("server: turn depth %d, want at least 1", c.File.Agent.TurnDepth)
	case c.Settings.Buffer < 1:
		return fmt.Errorf("server: buffer of %d events, want at least 1", c.Settings.Buffer)
	case c.File.HITL.Route.Exposed(c.Settings.Signing) != "":
		return errors.New(c.File.HITL.Route.Exposed(c.Settings.Signing))
	case c.Settings.LastWrite <= 0:
		return errors.New("server: the last write needs a bound above 0")
	}
	return nil
}

// newTransport speaks to the provider. It has no response timeout, since the run's clocks are the bounds, and asks for no compression,
// since a decompressor holds events back.
func newTransport(dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Transport {
	t := &http.Transport{
		DialContext:            dial,
		TLSHandshakeTimeout:    dialWindow,
		MaxIdleConnsPerHost:    keptProvider,
		IdleConnTimeout:        idleWindow,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true,
	}
	if dial == nil {
		t.DialContext = (&net.Dialer{Timeout: dialWindow}).DialContext
		t.Proxy = http.ProxyFromEnvironment
	}
	return t
}

func newAgent(c Config, transport *http.Transport) *agent.Agent {
	a := c.File.Agent
	return &agent.Agent{
		Client:       newModel(a.LLM, transport),
		Provider:     providerName(a.LLM.Provider),
		Model:        a.LLM.Model,
		SystemPrompt: a.SystemPrompt,
		TurnDepth:    a.TurnDepth,
		Execution:    agent.Execution(a.ToolExecution),
		BeforeTurn:   c.Hooks.Turn,
	}
}

func (s *Server) newHTTPServer() *http.Server {
	return &http.Server{
		Handler:           http.HandlerFunc(s.route),
		ReadHeaderTimeout: headerWindow,
		IdleTimeout:       idleWindow,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnState:         s.conns.changed,
		ConnContext:       withConn,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
}

// Serve accepts connections on l until the server was told to shut down, or l failed, which shuts it down too. What it started has ended
// when it returns, except runs that would not abort; l is closed.
func (s *Server) Serve(l net.Listener) Exit {
	s.telemetry = telemetry.New(s.exportTo)
	served := make(chan struct{})
	go s.accept(l, served)
	<-s.first
	exit := s.shutDown()
	s.close(served)
	s.log.Info("shutdown complete", "clean_shutdown", exit.Clean, "unaborted_tasks", exit.Unaborted)
	s.telemetry.Flush(s.settings.Flush)
	return exit
}

// Signal begins the shutdown at its first call; from its return on, every new request is refused. A second call goes to phase 3 at once,
// later ones do nothing. It never blocks.
func (s *Server) Signal(name string) {
	s.signalMu.Lock()
	defer s.signalMu.Unlock()
	s.signals++
	switch s.signals {
	case 1:
		s.begin(name)
	case 2:
		close(s.second)
	}
}

// begin is called with signalMu held.
func (s *Server) begin(name string) {
	s.signal = name
	s.registry.Drain()
	close(s.first)
}

func (s *Server) accept(l net.Listener, served chan<- struct{}) {
	defer close(served)
	err := s.http.Serve(newLimited(l, s.conns))
	if errors.Is(err, http.ErrServerClosed) {
		return
	}
	s.log.Error("listener failed", "error", err)
	s.listenerFailed()
}

// listenerFailed shuts down as a first signal does, unless one came already.
func (s *Server) listenerFailed() {
	s.signalMu.Lock()
	defer s.signalMu.Unlock()
	if s.signals == 0 {
		s.signals = 1
		s.begin("listener failure")
	}
}
