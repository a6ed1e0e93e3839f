package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
	"github.com/stallwright/stallwright/lifecycle/tools"
)

// newPool is the pool of the configured MCP servers, nil when there is none.
func newPool(c Config) *tools.Pool {
	if len(c.File.MCP.Servers) == 0 {
		return nil
	}
	p := &tools.Pool{
		ConnectTimeout: cmp.Or(c.Settings.Connect, c.File.MCP.ConnectTimeout), CleanupBound: c.Settings.Cleanup, Dial: c.Dial, Pipe: c.Pipe, Log: c.Log, Version: c.Version,
	}
	for _, s := range c.File.MCP.Servers {
		to := tools.Server{
			Name: s.Name, Transport: s.Transport, URL: s.URL, Headers: s.Headers, HeadersFromRequest: s.HeadersFromRequest,
			Env: s.Env, Revision: s.ProtocolVersion,
		}
		if s.Transport == config.Stdio {
			to.Command, to.Args = s.Command[0], s.Command[1:]
		}
		p.Servers = append(p.Servers, to)
	}
	return p
}

// kit is what one run has of the pool: the agent uses it, and the handler takes it back, whatever the agent does meanwhile.
type kit struct {
	mu       sync.Mutex
	lease    *tools.Lease
	panicked bool // the agent did, so what it leaves is not to be used again
	returned bool
}

// connect leases the tools of a run. They are nil when the agent has no servers.
func (x *exchange) connect(ctx context.Context) (agent.Tools, error) {
	if x.server.tools == nil {
		return nil, nil
	}
	lease, err := x.server.tools.Lease(ctx, x.r.Header)
	if err != nil {
		return nil, err
	}
	x.kit.mu.Lock()
	late := x.kit.returned
	if !late {
		x.kit.lease = lease
	}
	x.kit.mu.Unlock()
	if late { // the handler looked before there was anything to take back
		x.takeBack(lease, false)
		return nil, context.Cause(ctx)
	}
	var connected run.ToolsConnected
	for i, s := range lease.Status() {
		connected.Servers = append(connected.Servers, run.ToolServer{
			Name: s.Server, Transport: x.server.tools.Servers[i].Transport, Connected: s.Connected, Tools: s.Tools, Reason: s.Error,
		})
	}
	return leased{lease, x.server.measures}, x.run.Emit(ctx, connected)
}

// returnTools is MCP cleanup, or the return to the pool when the run's connections are sound. It is done once.
func (x *exchange) returnTools() {
	x.kit.mu.Lock()
	lease, panicked, done := x.kit.lease, x.kit.panicked, x.kit.returned
	x.kit.returned = true
	x.kit.mu.Unlock()
	if !done && lease != nil {
		x.takeBack(lease, panicked)
	}
}

// takeBack keeps the connections for a later run, or evicts them. At a shutdown nothing is evicted: the pool ends with the server.
func (x *exchange) takeBack(lease *tools.Lease, panicked bool) {
	reason, bound := "", x.server.settings.Cleanup
	switch x.run.Ending().How {
	case run.TimedOut:
		reason = "timeout"
	case run.Disconnected:
		reason = "client disconnected"
	case run.ShutDown:
		reason = "server shutdown"
		bound = x.server.settings.Straggler + x.server.settings.Abort // phase 3 alone is the bound: another of its length would race with it
	case run.Failed:
		if panicked {
			reason = "internal error"
		}
	}
	if reason == "" {
		lease.Return()
		return
	}
	ctx, stop := x.server.cleanup(bound)
	defer stop()
	lease.Cleanup(ctx, reason)
	if x.run.Ending().How != run.ShutDown {
		x.server.measures.agentEvicted(reason)
		x.server.log.Info("agent evicted", "run", x.run.ID(), "reason", reason)
	}
}

// cleanup bounds one MCP cleanup: phase 3 of a shutdown ends it too.
func (s *Server) cleanup(bound time.Duration) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithTimeout(context.Background(), bound)
	go func() {
		select {
		case <-s.aborting:
			stop()
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}

// leased are the tools of a lease in the agent's words.
type leased struct {
	lease    *tools.Lease
	measures *measures
}

func (l leased) List() []llm.Tool {
	var out []llm.Tool
	for _, t := range l.lease.Tools() {
		out = append(out, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return out
}

func (l leased) Call(ctx context.Context, c llm.ToolCall, token int, progress func(run.ToolProgress)) (string, bool, error) {
	l.measures.toolCalls.Add(1)
	defer l.measures.toolCalls.Add(-1)
	r, err := l.lease.Call(ctx, tools.Call{ID: c.ID, Name: c.Name, Arguments: json.RawMessage(c.Arguments)}, strconv.Itoa(token), func(p tools.Progress) {
		progress(run.ToolProgress{Token: token, Message: p.Message, Progress: p.Progress, Total: p.Total})
	})
	if errors.Is(err, tools.ErrUnknownTool) {
		err = agent.ErrUnknownTool
	}
	return r.Text, r.IsError, err
}

// closePool closes the connections that no run has. Phase 3 has no time for it: then they are only cut.
func (s *Server) closePool() {
	if s.tools == nil {
		return
	}
	ctx, stop := s.cleanup(s.settings.Cleanup)
	defer stop()
	s.tools.Close(ctx)
}
