package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/fakes/admin"
	"github.com/stallwright/stallwright/fakes/collector"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// defaultCollector is OTLP/HTTP's own port.
const defaultCollector = "127.0.0.1:4318"

// collectorScripts lists the scripts by what goes wrong.
func collectorScripts() []named[collector.File] {
	does := func(name, about string, steps ...script.Step) named[collector.File] {
		return named[collector.File]{name, about, collector.File{About: about, Script: collector.Script{Programs: []collector.Program{{Times: script.Any, Steps: steps}}}}}
	}
	tooSmall := collector.File{About: "takes exports of at most 2 KiB", Script: collector.Script{MaxBody: 2 << 10}}
	return []named[collector.File]{
		{"accept", "takes every export", collector.File{About: "takes every export"}},
		does("silent", "never answers", fault.Stall{}),
		does("slow", "answers after 8 s, later than a flush should last", script.Pause{For: 8 * time.Second}),
		does("overloaded", "answers 503, and wants to be asked again after a minute", fault.Status{Code: 503, Header: map[string]string{"Retry-After": "60"}}),
		does("too-many", "answers 429, and wants to be asked again after a second", fault.Status{Code: 429, Header: map[string]string{"Retry-After": "1"}}),
		does("unauthorized", "answers 401", fault.Status{Code: 401}),
		{"too-small", tooSmall.About, tooSmall},
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
				return c.table(collectorShelf().rows())
			}
			what, err := collectorShelf().find(c, name)
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
	collectorShelf().complete(cmd)
	return cmd
}

func (c *cli) fakeCollector(ctx context.Context, addr string, remote bool, what collector.File) error {
	l, err := listenFor(addr, remote)
	if err != nil {
		return err
	}
	fake := &collector.Collector{}
	steered := admin.Collector{Collector: fake}
	handler := &admin.Handler{Fake: steered, AnyHost: remote}
	fake.Front = beside(handler, guard{remote})
	root := "http://" + reachable(l.Addr())
	greeting := fmt.Sprintf("%s\nexport OTEL_EXPORTER_OTLP_ENDPOINT=%s\nexport OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\nexport STALLWRIGHT_ADMIN_URL=%s\n",
		root+collector.Path, root, root+strings.TrimSuffix(admin.Prefix, "/"))
	return c.stand(ctx, l, fake, handler, steered.Script(what), greeting)
}

func collectorShelf() shelf[collector.File] {
	return shelf[collector.File]{"collector", collectorScripts(), collector.Parse}
}
