package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/fakes/admin"
	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// mcpFlags are the flags of fake mcp.
type mcpFlags struct {
	listen, script string
	list, remote   bool
	stdio          bool
	control        string
	grandchild     bool
}

func (c *cli) fakeMCPCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "run a fake MCP server",
		Long: "Answers MCP clients as a script says, one of its own or one in a file, and shows on stderr what comes and goes. It speaks\n" +
			"Streamable HTTP of every revision and HTTP+SSE on one port, and prints what to export for its clients. Test suites steer\n" +
			"it over HTTP, under /_stallwright/, and ask it at /tasks and /cancellations what became of calls. With --stdio it is a\n" +
			"server over its standard input and output, which an agent starts. Ctrl-C ends it.",
		Example: "  stallwright fake mcp\n  stallwright fake mcp --script silent-call\n  stallwright fake mcp --stdio --script ./tools.yaml\n" +
			"  stallwright fake mcp --list",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := listsAlone(cmd); err != nil {
				return err
			}
			return c.fakeMCP(cmd.Context(), f, cmd.Flags().Changed("listen"))
		},
	}
	cmd.Flags().StringVar(&f.listen, "listen", defaultTools, "the address to listen on")
	cmd.Flags().StringVar(&f.script, "script", "ready", "what is played: a name, a file such as ./tools.yaml, or - for stdin")
	cmd.Flags().BoolVar(&f.list, "list", false, "list the scripts")
	cmd.Flags().BoolVar(&f.remote, "allow-remote", false, "let other machines reach it")
	cmd.Flags().BoolVar(&f.stdio, "stdio", false, "be a server over standard input and output")
	cmd.Flags().StringVar(&f.control, "control", "", "with --stdio: be played by the stallwright at this `URL`, tcp://127.0.0.1:PORT, in place of a script")
	cmd.Flags().BoolVar(&f.grandchild, "grandchild", false, "with --control: be what such a server has started, and do nothing")
	cmd.Flags().MarkHidden("grandchild")
	mcpShelf().complete(cmd)
	return cmd
}

func (c *cli) fakeMCP(ctx context.Context, f mcpFlags, listenGiven bool) error {
	switch {
	case f.list:
		return c.table(mcpShelf().rows())
	case f.control != "" && !f.stdio, f.grandchild && f.control == "":
		return misuse("give --stdio too", "--control is for a server over standard input and output")
	case f.stdio && listenGiven:
		return misuse("leave out --listen", "--stdio listens nowhere")
	case f.stdio && f.script == stdinName:
		return misuse("put the script into a file", "--script - and --stdio both want standard input")
	case f.control != "":
		return c.controlledChild(ctx, f)
	}
	what, err := mcpShelf().find(c, f.script)
	if err != nil {
		return err
	}
	if f.stdio {
		return c.ownChild(what)
	}
	return c.serveMCP(ctx, f, what)
}

func mcpShelf() shelf[mcp.File] { return shelf[mcp.File]{"mcp", mcpScripts(), mcp.Parse} }

// serveMCP is the fake over HTTP.
func (c *cli) serveMCP(ctx context.Context, f mcpFlags, what mcp.File) error {
	l, err := listenFor(f.listen, f.remote)
	if err != nil {
		return err
	}
	fake := &mcp.Fake{Name: what.Name, Connections: what.Connections}
	steered := admin.MCP{Fake: fake}
	handler := &admin.Handler{Fake: steered, AnyHost: f.remote}
	fake.Front = func(own http.Handler) http.Handler {
		tasks := &mcp.Tasks{Timeline: func() *timeline.Timeline { return handler.Timeline("") }}
		return front{guard{f.remote}, handler, tasks, own}
	}
	return c.stand(ctx, l, fake, handler, steered.Script(what), mcpGreeting(reachable(l.Addr())))
}

// mcpGreeting is the URL of Streamable HTTP on a line, then what to export for clients of each transport, and for those of
// the admin API.
func mcpGreeting(addr string) string {
	root := "http://" + addr
	return strings.Join([]string{
		root + "/mcp",
		"export MCP_SERVER_URL=" + root + "/mcp",
		"export MCP_SSE_URL=" + root + "/sse",
		"export STALLWRIGHT_ADMIN_URL=" + root + strings.TrimSuffix(admin.Prefix, "/"),
	}, "\n") + "\n"
}

// front stands before a fake MCP server: what is not the protocol's is answered here.
type front struct {
	guard
	admin *admin.Handler
	tasks *mcp.Tasks
	own   http.Handler
}

func (f front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, admin.Prefix):
		f.admin.ServeHTTP(w, r)
	case !f.admits(r):
		why := fmt.Sprintf("the host %.200q is not this fake's", r.Host)
		if tl := f.admin.Timeline(""); tl != nil {
			tl.Add(mcp.Lane, "", "violation", why)
		}
		http.Error(w, "stallwright: "+why, http.StatusForbidden)
	case path == mcp.TasksPath, path == mcp.CancellationsPath:
		if http.NewCrossOriginProtection().Check(r) != nil {
			http.Error(w, "stallwright: the request comes from a page of another site", http.StatusForbidden)
			return
		}
		f.tasks.ServeHTTP(w, r)
	default:
		f.own.ServeHTTP(w, r)
	}
}

// ownChild is a server over stdio with a script of its own: the fake that plays it is in the same process.
func (c *cli) ownChild(what mcp.File) error {
	if what.Script.Manners.Process.Grandchild != mcp.NoGrandchild {
		return misuse("leave it out; a run of stallwright plays it", "a grandchild would end with its fake, which is in the child")
	}
	tl, shown := timeline.New(), c.newShow()
	shown.watch("", tl)
	fake := &mcp.Fake{Name: what.Name, Fallback: &mcp.Session{Script: what.Play(), Seed: what.Seed, Timeline: tl}}
	near, far := net.Pipe()
	go fake.ServeChild(context.Background(), near) // ends with the process
	(&mcp.Child{Control: far, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Last: func() {
		tl.Add(admin.Lane, "", "released", "")
		shown.end()
	}}).Run()
	return nil
}

// controlledChild is a server over stdio, or what one has started, that another process plays.
func (c *cli) controlledChild(ctx context.Context, f mcpFlags) error {
	u, err := url.Parse(f.control)
	if err != nil || u.Scheme != "tcp" || !isLoopback(u.Hostname()) || u.Port() == "" {
		return misuse("give it as tcp://127.0.0.1:PORT", "--control is no address of this machine")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return misuse("the stallwright that started it may be gone", "--control %s: %w", u.Host, reason(err))
	}
	if f.grandchild {
		mcp.RunGrandchild(conn)
	}
	executable, err := c.executable()
	if err != nil {
		return internal(err)
	}
	(&mcp.Child{
		Control: conn, In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Grandchild: []string{executable, "fake", "mcp", "--stdio", "--control", f.control, "--grandchild"},
	}).Run()
	return nil
}
