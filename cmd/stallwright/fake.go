package main

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/provider/openai"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/reports/text"
)

func (c *cli) fakeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fake",
		Short: "run a fake by itself, for poking at by hand",
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.fakeProviderCommand())
	return cmd
}

func (c *cli) fakeProviderCommand() *cobra.Command {
	var listenAt, name string
	var listNames, remote bool
	cmd := &cobra.Command{
		Use:   "provider",
		Short: "run a fake LLM provider",
		Long: "Answers every request as a built-in script says, in the dialect of Chat Completions, and shows on stderr what comes\n" +
			"and goes. Ctrl-C ends it.",
		Example: "  stallwright fake provider --script stall-mid-stream\n  stallwright fake provider --list",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if listNames {
				var rows [][]string
				for _, s := range builtinScripts() {
					rows = append(rows, []string{s.name, s.about})
				}
				return c.table(rows)
			}
			var names []string
			for _, s := range builtinScripts() {
				if s.name == name {
					return c.fakeProvider(cmd.Context(), listenAt, remote, s)
				}
				names = append(names, s.name)
			}
			hint := didYouMean(name, names, "")
			if hint == "" {
				hint = "`stallwright fake provider --list` shows them"
			}
			return misuse(hint, "there is no script %q", name)
		},
	}
	cmd.Flags().StringVar(&listenAt, "listen", defaultListen, "the address to listen on")
	cmd.Flags().StringVar(&name, "script", "answer", "what is played to every request")
	cmd.Flags().BoolVar(&listNames, "list", false, "list the scripts")
	cmd.Flags().BoolVar(&remote, "allow-remote", false, "let other machines reach it")
	cmd.RegisterFlagCompletionFunc("script", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, s := range builtinScripts() {
			names = append(names, s.name+"\t"+s.about)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func (c *cli) fakeProvider(ctx context.Context, addr string, remote bool, what named) error {
	host, port, err := net.SplitHostPort(addr)
	number, wrong := strconv.ParseUint(port, 10, 16)
	if err != nil || wrong != nil {
		return misuse("give it as "+defaultListen, "--listen %s is not HOST:PORT", addr)
	}
	if !isLoopback(host) && !remote {
		return misuse("if that is meant: --allow-remote", "--listen %s is open to other machines", addr)
	}
	ctx, stopped := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stopped()
	l, err := listen(host, int(number))
	if err != nil {
		return err
	}
	tl := timeline.New()
	own := guard{any: remote}
	fake := &provider.Provider{
		Dialects: []provider.Dialect{guarded{openai.Dialect{}, own}},
		Fallback: &provider.Session{Script: script.Script{{Times: script.Any, Steps: what.steps}}, Timeline: tl, Gates: &script.Gates{}},
		Other:    stray{own, tl},
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		c.show(tl)
	}()
	served := make(chan error, 1)
	go func() { served <- fake.Serve(l) }()
	base := "http://" + reachable(l.Addr()) + "/v1"
	fmt.Fprintf(c.stdout, "%s\nexport OPENAI_BASE_URL=%s\n", base, base)
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	stopped() // a second Ctrl-C does not wait
	fake.Close()
	tl.Add(lastLane, "", "", "")
	<-shown
	if err != nil {
		return internal(err)
	}
	return nil
}

// reachable is an address at which a client on this machine finds a listener.
func reachable(a net.Addr) string {
	host, port, _ := net.SplitHostPort(a.String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// lastLane is the lane of the event that ends the show.
const lastLane = "end"

// show writes the events of a timeline to stderr as they come, until one in lastLane. A terminal that does not keep
// up misses some: the fake must not wait for it.
func (c *cli) show(tl *timeline.Timeline) {
	events := make(chan timeline.Event, 1024)
	var missed int
	var watching sync.WaitGroup
	watching.Go(func() {
		defer close(events)
		tl.Await(math.MaxInt64, func(e timeline.Event) bool {
			if e.Lane == lastLane {
				return true
			}
			select {
			case events <- e:
			default:
				missed++
			}
			return e.Seq == timeline.Limit // the timeline keeps no more
		})
	})
	for e := range events {
		fmt.Fprintln(c.stderr, eventLine(e))
		if e.Seq == timeline.Limit {
			fmt.Fprintln(c.stderr, "no more events are shown; requests are still answered")
		}
	}
	watching.Wait()
	if missed > 0 {
		fmt.Fprintf(c.stderr, "%d events were not shown\n", missed)
	}
}

// eventLine is an event as a line. What is text of a model or of the peer stands in quotes.
func eventLine(e timeline.Event) string {
	words := []string{text.Moment(e.At), e.Lane}
	for _, w := range []string{e.Ref, e.Kind} {
		if w != "" {
			words = append(words, text.Escape(w))
		}
	}
	detail := text.Escape(e.Detail)
	switch e.Kind {
	case "text", "think", "comment", "raw":
		detail = `"` + detail + `"`
	}
	if detail != "" {
		words = append(words, detail)
	}
	return strings.Join(words, " ")
}

// guard knows the names by which the fake may be addressed. A web page that has its own name point to this machine
// must not get at it.
type guard struct {
	any bool // other machines may, by whatever name
}

func (g guard) admits(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = strings.Trim(r.Host, "[]")
	}
	return g.any || isLoopback(host)
}

// guarded is a dialect that knows only requests to the fake's own names.
type guarded struct {
	provider.Dialect
	guard
}

func (g guarded) Recognise(r *http.Request, body []byte) (provider.Request, provider.Answer) {
	if !g.admits(r) {
		return provider.Request{}, nil
	}
	return g.Dialect.Recognise(r, body)
}

// stray answers what no dialect knows.
type stray struct {
	guard
	timeline *timeline.Timeline
}

func (s stray) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, why := http.StatusNotFound, fmt.Sprintf("no dialect knows %.20s %.200s", r.Method, r.URL.Path)
	if !s.admits(r) {
		status, why = http.StatusForbidden, fmt.Sprintf("the host %.200q is not this fake's", r.Host)
	}
	s.timeline.Add(provider.Lane, "", "violation", why)
	http.Error(w, "stallwright: "+why, status)
}
