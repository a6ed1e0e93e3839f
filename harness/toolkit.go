package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"

	"github.com/stallwright/stallwright/fakes/mcp"
)

// Toolkit is the fake MCP servers of one server under test.
type Toolkit struct {
	Servers []ToolServer

	ctx     context.Context
	cancel  context.CancelFunc
	serving sync.WaitGroup
}

// OpenTools starts the MCP servers of a tooling, each on a listener of its own. When trials share them, each lists its standard tools
// from the start; else it answers nothing before a trial tells it what to do. The words of child start a process that is a server
// over stdio: the address of its server's listener follows them. Without them there are no such processes, and no listener for them.
func OpenTools(t Tooling, shared bool, child []string, listen func(server string) (net.Listener, error)) (*Toolkit, error) {
	k := &Toolkit{}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	for n, transport := range t.Servers() {
		s := ToolServer{Name: ToolServerName(n), Transport: transport}
		s.Fake = &mcp.Fake{Name: s.Name}
		if shared {
			// A server keeps the sessions of the run before, and of the canary: their ids must differ, and be known.
			s.Fake.Sessions, s.Fake.Adopt = fmt.Sprintf("session-%08x-", rand.Uint32()), true
			s.Fake.Fallback = &mcp.Session{Script: mcp.Script{Revisions: []string{transport.Revision()}, Tools: StandardTools(n)}}
		}
		if transport != StdioTools || child != nil {
			l, err := listen(s.Name)
			if err != nil {
				k.Close()
				return nil, err
			}
			if transport == StdioTools {
				k.serving.Go(func() { s.Fake.ServeChildren(l) })
				s.Command = append(slices.Clip(child), "tcp://"+l.Addr().String())
			} else {
				k.serving.Go(func() { s.Fake.Serve(l) })
				s.URL = "http://" + l.Addr().String() + transport.path()
			}
		}
		k.Servers = append(k.Servers, s)
	}
	return k, nil
}

func (t Tooling) path() string {
	if t == SSETools {
		return "/sse"
	}
	return "/mcp"
}

// Pipe has the server of that name play what a child process would, on a connection that is both its input and its output. It ends
// with the connection, or with the kit.
func (k *Toolkit) Pipe(server string, conn net.Conn) error {
	at := slices.IndexFunc(k.Servers, func(s ToolServer) bool { return s.Name == server })
	if at < 0 {
		return fmt.Errorf("no MCP server is called %q", server)
	}
	k.serving.Go(func() { k.Servers[at].Fake.ServeStdio(k.ctx, conn, conn) })
	return nil
}

// Close ends the servers and waits for them.
func (k *Toolkit) Close() {
	k.cancel()
	for _, s := range k.Servers {
		s.Fake.Close()
	}
	k.serving.Wait()
}
