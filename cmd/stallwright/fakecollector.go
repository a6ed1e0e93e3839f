package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/fakes/admin"
	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// defaultCollector is OTLP/HTTP's own port.
const defaultCollector = "127.0.0.1:4318"

// namedCollector is a script of the fake collector that comes with the command.
type namedCollector struct {
	name string
	file collector.File
}

// collectorScripts lists the scripts by what goes wrong.
func collectorScripts() []namedCollector {
	does := func(name, about string, steps ...script.Step) namedCollector {
		return namedCollector{name, collector.File{About: about, Script: collector.Script{Programs: []collector.Program{{Times: script.Any, Steps: steps}}}}}
	}
	return []namedCollector{
		{"accept", collector.File{About: "takes every export"}},
		does("silent", "never answers", fault.Stall{}),
		does("slow", "answers after 8 s, later than a flush should last", script.Pause{For: 8 * time.Second}),
		does("overloaded", "answers 503, and wants to be asked again after a minute", fault.Status{Code: 503, Header: map[string]string{"Retry-After": "60"}}),
		does("too-many", "answers 429, and wants to be asked again after a second", fault.Status{Code: 429, Header: map[string]string{"Retry-After": "1"}}),
		does("unauthorized", "answers 401", fault.Status{Code: 401}),
		{"too-small", collector.File{About: "takes exports of at most 2 KiB", Script: collector.Script{MaxBody: 2 << 10}}},
		does("reset", "resets each connection in place of an answer", fault.Reset{}),
		does("cut", "closes each connection in place of an answer", fault.Cut{}),
		does("partial", "says of each export that one span was not taken", collector.Accept{Rejected: 1, Message: "one span has no name"}),
	}
}

func (c *cli) fakeCollectorCommand() *cobra.Command {
	var listenAt, name string
	var listNames, remote bool
	cmd := &cobra.Command{
		Use:   "collector",
		Short: "run a fake OpenTelemetry collector",
		Long: "Takes traces over OTLP/HTTP in protobuf as a script says, one of its own or one in a file, and shows on stderr a line for\n" +
			"each span. It prints what to export for its clients. Test suites steer it over HTTP, under /_stallwright/. Ctrl-C ends it.",
		Example: "  stallwright fake collector\n  stallwright fake collector --script silent\n  stallwright fake collector --list",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if listNames {
				var rows [][]string
				for _, s := range collectorScripts() {
					rows = append(rows, []string{s.name, s.file.About})
				}
				return c.table(rows)
			}
			what, err := c.collectorScriptNamed(name)
			if err != nil {
				return err
			}
			return c.fakeCollector(cmd.Context(), listenAt, remote, what)
		},
	}
	cmd.Flags().StringVar(&listenAt, "listen", defaultCollector, "the address to listen on")
	cmd.Flags().StringVar(&name, "script", "accept", "what is played: a name, a file such as ./slow.yaml, or - for stdin")
	cmd.Flags().BoolVar(&listNames, "list", false, "list the scripts")
	cmd.Flags().BoolVar(&remote, "allow-remote", false, "let other machines reach it")
	cmd.RegisterFlagCompletionFunc("script", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, s := range collectorScripts() {
			names = append(names, s.name+"\t"+s.file.About)
		}
		return names, cobra.ShellCompDirectiveDefault
	})
	return cmd
}

func (c *cli) fakeCollector(ctx context.Context, addr string, remote bool, what collector.File) error {
	host, port, err := listenAddress(addr, remote)
	if err != nil {
		return err
	}
	ctx, stopped := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stopped()
	l, err := listen(host, port)
	if err != nil {
		return err
	}
	fake := &collector.Collector{}
	steered, shown := admin.Collector{Collector: fake}, c.newShow()
	handler := &admin.Handler{Fake: steered, AnyHost: remote, Opened: shown.watch}
	fake.Front = func(own http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasPrefix(r.URL.Path, admin.Prefix):
				handler.ServeHTTP(w, r)
			case !guard{remote}.admits(r):
				http.Error(w, fmt.Sprintf("stallwright: the host %.200q is not this fake's", r.Host), http.StatusForbidden)
			default:
				own.ServeHTTP(w, r)
			}
		})
	}
	if err := handler.Begin(steered.Script(what)); err != nil {
		l.Close()
		shown.end()
		return internal(err)
	}
	served := make(chan error, 1)
	go func() { served <- fake.Serve(l) }()
	root := "http://" + reachable(l.Addr())
	fmt.Fprintf(c.stdout, "%s\nexport OTEL_EXPORTER_OTLP_ENDPOINT=%s\nexport OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\nexport STALLWRIGHT_ADMIN_URL=%s\n",
		root+collector.Path, root, root+strings.TrimSuffix(admin.Prefix, "/"))
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	stopped() // a second Ctrl-C does not wait
	handler.Close()
	fake.Close()
	shown.end()
	if err != nil {
		return internal(err)
	}
	return nil
}

// collectorScriptNamed is a script that comes with the command, or that of a file: a name with a dot or a slash is a path.
func (c *cli) collectorScriptNamed(name string) (collector.File, error) {
	if name == stdinName || strings.ContainsAny(name, `./\`) {
		data, err := c.readScript(name)
		if err != nil {
			return collector.File{}, misuse("", "%w", err)
		}
		f, err := collector.Parse(name, data)
		if err != nil {
			return collector.File{}, misuse("", "%w", err)
		}
		return f, nil
	}
	var names []string
	for _, s := range collectorScripts() {
		if s.name == name {
			return s.file, nil
		}
		names = append(names, s.name)
	}
	hint := didYouMean(name, names, "")
	if hint == "" {
		hint = "`stallwright fake collector --list` shows them; a file is named with its ending or folder"
	}
	return collector.File{}, misuse(hint, "there is no script %q", name)
}
