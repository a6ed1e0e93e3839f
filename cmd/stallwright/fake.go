package main

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stallwright/stallwright/fakes/admin"
	"github.com/stallwright/stallwright/fakes/dialects"
	"github.com/stallwright/stallwright/fakes/provider"
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
	cmd.AddCommand(c.fakeProviderCommand(), c.fakeMCPCommand(), c.fakeApproverCommand(), c.fakeCollectorCommand())
	return cmd
}

func (c *cli) fakeProviderCommand() *cobra.Command {
	var listenAt, name string
	var listNames, remote bool
	var secure security
	cmd := &cobra.Command{
		Use:   "provider",
		Short: "run a fake LLM provider",
		Long: "Answers requests as a script says, one of its own or one in a file, and shows on stderr what comes and goes. It speaks\n" +
			"the dialects of OpenAI (Chat Completions and Responses), Anthropic, Gemini, Ollama and Bedrock on one port, and prints\n" +
			"what to export for the clients of each. Test suites steer it over HTTP: load scripts, open gates, and follow what\n" +
			"happens, under /_stallwright/. With --tls it speaks HTTPS, and HTTP/2 to clients that want it; the certificate is made\n" +
			"at start, and what to export has its file. Ctrl-C ends it.",
		Example: "  stallwright fake provider --script stall-mid-stream\n  stallwright fake provider --script ./stall.yaml\n" +
			"  stallwright fake provider --tls\n  stallwright fake provider --list",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := listsAlone(cmd); err != nil {
				return err
			}
			if listNames {
				return c.table(providerShelf().rows())
			}
			what, err := providerShelf().find(c, name)
			if err != nil {
				return err
			}
			return c.fakeProvider(cmd.Context(), listenAt, remote, secure, what)
		},
	}
	cmd.Flags().StringVar(&listenAt, "listen", defaultListen, "the address to listen on")
	cmd.Flags().StringVar(&name, "script", "answer", "what is played: a name, a file such as ./stall.yaml, or - for stdin")
	cmd.Flags().BoolVar(&listNames, "list", false, "list the scripts")
	cmd.Flags().BoolVar(&remote, "allow-remote", false, "let other machines reach it")
	cmd.Flags().BoolVar(&secure.own, "tls", false, "speak HTTPS, with a certificate made for this run")
	cmd.Flags().StringVar(&secure.certFile, "tls-cert", "", "speak HTTPS, with the certificate in this PEM `file`; wants --tls-key")
	cmd.Flags().StringVar(&secure.keyFile, "tls-key", "", "the key of that certificate, in a PEM `file`")
	providerShelf().complete(cmd)
	return cmd
}

func (c *cli) fakeProvider(ctx context.Context, addr string, remote bool, secure security, what script.File) (err error) {
	host, port, err := listenAddress(addr, remote)
	if err != nil {
		return err
	}
	trust, err := secure.begin(host)
	if err != nil {
		return err
	}
	defer func() {
		if wrong := trust.end(); wrong != nil && err == nil {
			err = internal(wrong)
		}
	}()
	l, err := listen(host, port)
	if err != nil {
		return err
	}
	own := guard{any: remote}
	fake := &provider.Provider{Connections: what.Connections, TLS: trust.config, Reserved: admin.Prefix}
	for _, d := range dialects.All() {
		fake.Dialects = append(fake.Dialects, guarded{d, own})
	}
	steered := admin.Provider{Provider: fake}
	handler := &admin.Handler{Fake: steered, AnyHost: remote}
	fake.Other = other{own, handler}
	return c.stand(ctx, l, fake, handler, steered.Script(what), greeting(reachable(l.Addr()), trust))
}

func providerShelf() shelf[script.File] {
	return shelf[script.File]{"provider", providerScripts(), parseScript}
}

// listsAlone refuses what stands beside --list: no fake runs that it could be about.
func listsAlone(cmd *cobra.Command) (err error) {
	if !cmd.Flags().Changed("list") {
		return nil
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "list" && err == nil {
			err = misuse("leave one of them out", "--list runs no fake that --%s could be about", f.Name)
		}
	})
	return err
}

// listenAddress is what --listen says. Without remote it must be of this machine.
func listenAddress(addr string, remote bool) (host string, port int, err error) {
	host, digits, err := net.SplitHostPort(addr)
	number, wrong := strconv.ParseUint(digits, 10, 16)
	if err != nil || wrong != nil {
		return "", 0, misuse("give it as 127.0.0.1:PORT, with a port up to 65535", "--listen %s is not HOST:PORT", addr)
	}
	if !isLoopback(host) && !remote {
		return "", 0, misuse("if that is meant: --allow-remote", "--listen %s is open to other machines", addr)
	}
	return host, int(number), nil
}

// greeting is the base URL of OpenAI's dialects on a line, then what to export for clients of each dialect, for those
// of the admin API, and for whoever is to trust the fake's own certificate.
func greeting(addr string, t *trust) string {
	root := "http://" + addr
	if t.config != nil {
		root = "https://" + addr
	}
	lines := []string{root + "/v1"}
	for _, e := range [][2]string{
		{"OPENAI_BASE_URL", "/v1"},
		{"ANTHROPIC_BASE_URL", ""},
		{"GOOGLE_GEMINI_BASE_URL", ""},
		{"OLLAMA_HOST", ""},
		{"AWS_ENDPOINT_URL_BEDROCK_RUNTIME", ""},
		{"STALLWRIGHT_ADMIN_URL", strings.TrimSuffix(admin.Prefix, "/")},
	} {
		lines = append(lines, "export "+e[0]+"="+root+e[1])
	}
	lines = append(lines, "export AWS_DEFAULT_REGION=us-east-1") // AWS's clients want one, whatever the URL
	if t.file != "" {
		// For Go, Ruby and whatever asks OpenSSL; for Node; for Python's requests; for the SDKs of AWS.
		for _, name := range []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"} {
			lines = append(lines, "export "+name+"="+quoted(t.file))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// reachable is an address at which a client on this machine finds a listener.
func reachable(a net.Addr) string {
	host, port, _ := net.SplitHostPort(a.String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// show writes the events of sessions to stderr as they come. A terminal that does not keep up misses some: the fake
// must not wait for it.
type show struct {
	c        *cli
	events   chan shownEvent
	missed   atomic.Int64
	watching sync.WaitGroup
	printed  chan struct{}
}

type shownEvent struct {
	marker string
	timeline.Event
}

func (c *cli) newShow() *show {
	s := &show{c: c, events: make(chan shownEvent, 1024), printed: make(chan struct{})}
	go func() {
		defer close(s.printed)
		for e := range s.events {
			s.print(e)
		}
	}()
	return s
}

// watch shows a session until its end.
func (s *show) watch(marker string, tl *timeline.Timeline) {
	s.watching.Go(func() {
		tl.Await(math.MaxInt64, func(e timeline.Event) bool {
			select {
			case s.events <- shownEvent{marker, e}:
			default:
				s.missed.Add(1)
			}
			return admin.Last(e)
		})
	})
}

func (s *show) print(e shownEvent) {
	line := eventLine(e.Event)
	if e.marker != "" {
		line = "[" + text.Escape(e.marker) + "] " + line
	}
	fmt.Fprintln(s.c.stderr, line)
	if e.Seq == timeline.Limit {
		fmt.Fprintln(s.c.stderr, "no more events of this session are shown; requests are still answered")
	}
}

// end waits for the sessions, which must have been told to end, and for the terminal.
func (s *show) end() {
	s.watching.Wait()
	close(s.events)
	<-s.printed
	if n := s.missed.Load(); n > 0 {
		fmt.Fprintf(s.c.stderr, "%d events were not shown\n", n)
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

// Validate keeps the power of a dialect that has it.
func (g guarded) Validate(r *http.Request, body []byte) (status int, why string) {
	if v, ok := g.Dialect.(provider.Validator); ok {
		return v.Validate(r, body)
	}
	return 0, ""
}

// other answers what no dialect knows.
type other struct {
	guard
	admin *admin.Handler
}

func (o other) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, admin.Prefix) {
		o.admin.ServeHTTP(w, r)
		return
	}
	status, why := http.StatusNotFound, fmt.Sprintf("no dialect knows %.20s %.200s with a body of %d bytes", r.Method, r.URL.Path, r.ContentLength)
	if !o.admits(r) {
		status, why = http.StatusForbidden, fmt.Sprintf("the host %.200q is not this fake's", r.Host)
	}
	if tl := o.admin.Timeline(""); tl != nil {
		tl.Add(provider.Lane, "", "violation", why)
	}
	http.Error(w, "stallwright: "+why, status)
}

// beside answers what is the admin API's, refuses the hosts that are not this fake's, and leaves the rest to the fake itself.
func beside(handler *admin.Handler, own guard) func(http.Handler) http.Handler {
	return func(fake http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasPrefix(r.URL.Path, admin.Prefix):
				handler.ServeHTTP(w, r)
			case !own.admits(r):
				http.Error(w, fmt.Sprintf("stallwright: the host %.200q is not this fake's", r.Host), http.StatusForbidden)
			default:
				fake.ServeHTTP(w, r)
			}
		})
	}
}
