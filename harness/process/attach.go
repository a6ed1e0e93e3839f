package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/harness"
)

const (
	// askWait bounds one look at whether an attached server is up.
	askWait = 2 * time.Second
	// firstPause and longestPause are between such looks: a stranger gives no sign that could be waited for.
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

// targetError says that the server under test could not be had.
func targetError(subject, hint string, err error) error {
	return &harness.TargetError{Subject: subject, Hint: hint, Err: err}
}

// attach finds the server at a URL and waits until it answers.
func (r *run) attach(ctx context.Context) (host, error) {
	h, err := parse(r.Target.URL, r.AllowRemote)
	if err != nil {
		return host{}, targetError("attaching to "+redacted(r.Target.URL), "give the address as http://127.0.0.1:PORT", err)
	}
	h.windows = harness.Short().With(harness.Set{})
	if r.Windows != nil {
		h.windows = *r.Windows
	}
	h.usual = h.windows
	if hint, err := answers(ctx, h, r.wait()); err != nil {
		return host{}, targetError("attaching to "+redacted(r.Target.URL), hint, err)
	}
	return h, nil
}

// redacted is a URL without what may be secret in it.
func redacted(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "the server"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// parse reads the address of a server to attach to. A path that ends in /v1 means the same without it.
func parse(raw, remote string) (host, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return host{}, errors.New("that is not a URL") // the error of url.Parse quotes it, keys and all
	}
	switch {
	case u.Scheme == "https":
		return host{}, errors.New("https is not supported: the faults that are played need the plain connection")
	case u.Scheme != "http", u.Hostname() == "":
		return host{}, errors.New("it is not an http:// address")
	case u.User != nil, u.RawQuery != "":
		return host{}, errors.New("a user or a query has no meaning in it")
	}
	name := u.Hostname()
	if ip := net.ParseIP(name); name != "localhost" && (ip == nil || !ip.IsLoopback()) && name != remote {
		return host{}, fmt.Errorf("%s is not this machine; faults are played to another only when it is allowed by name", name)
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return host{address: net.JoinHostPort(name, port), base: strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/v1")}, nil
}

// answers polls until the server gives any HTTP answer but a 5xx: nothing else tells when a stranger is up. When it
// does not within wait, the error is of the last try.
func answers(ctx context.Context, h host, wait time.Duration) (hint string, err error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		for _, path := range []string{"/health", "/v1/models"} {
			failed := look(waiting, client, "http://"+h.address+h.base+path)
			if failed == nil {
				return "", nil
			}
			if err == nil || waiting.Err() == nil { // a look that was cut short tells nothing new
				err = failed
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-waiting.Done():
			timer.Stop()
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			hint = "start the server first, and check its address"
			if strings.Contains(err.Error(), "malformed HTTP") {
				hint = "something else than an HTTP server answers there"
			}
			return hint, fmt.Errorf("it did not answer within %s: %w", wait, err)
		}
	}
}

// look asks once.
func look(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode >= 500 {
		return fmt.Errorf("GET %s: %s", url, http.StatusText(resp.StatusCode))
	}
	return nil
}

// Unfit says why a case cannot be played on a server that runs already, whose clocks are w and which has these MCP servers of
// ours, and what to do about it; both are empty when it can.
func Unfit(c harness.Case, w harness.Windows, has harness.Tooling) (why, hint string) {
	needs := c.Variant.Set.Tools
	switch {
	case needs != harness.NoTools && alone(c):
		// Its sessions are older than the case and shared with others, and what is done to its MCP servers stays done.
		return "the case needs MCP servers that no other case uses, and stallwright did not start the server",
			"no server that runs already can play it: stallwright's own can"
	case slices.Contains(needs.Servers(), harness.StdioTools) && !c.Scenario.Anywhere:
		return "the case needs an MCP server over stdio, and what the server starts as a child is not stallwright's",
			"no server that runs already can play it: stallwright's own can"
	case needs != harness.NoTools && has == harness.NoTools:
		return "the case needs MCP servers of stallwright's, and the server was not said to have any (--tools)",
			fmt.Sprintf("give the server fake MCP servers and say so: --tools %s; the first listens on %s unless --tools-listen says otherwise, each other one port higher", enough(c), DefaultTools)
	case c.Scenario.Anywhere:
		return "", ""
	case c.Variant.Set.Orchestrated:
		return "the case needs an orchestrated agent with workers of stallwright's, and stallwright did not start the server",
			"no server that runs already can play it: stallwright's own can"
	case !has.Begins(needs):
		return fmt.Sprintf("the case needs %s to be the first of the MCP servers, and the server has %s (--tools)", needs, has),
			fmt.Sprintf("give the server these fake MCP servers and say so: --tools %s; further ones may stand behind them", needs)
	}
	if why := w.Fits(c.Variant.Set); why != "" {
		return why, "set the server's clocks so, and say what they are with --window"
	}
	return "", ""
}

// enough are MCP servers that the case can be played on.
func enough(c harness.Case) harness.Tooling {
	if c.Scenario.Anywhere {
		return harness.HTTPTools + "+" + harness.HTTPTools
	}
	return c.Variant.Set.Tools
}

// DefaultTools is where the first MCP server of an attached server usually listens.
const DefaultTools = "127.0.0.1:4011"

// openPeers starts the MCP servers that an attached server has.
func (r *run) openPeers() (*harness.Peers, error) {
	at := cmp.Or(r.ToolsListen, "127.0.0.1:0")
	name, port, err := net.SplitHostPort(at)
	if err != nil {
		return nil, err
	}
	first, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	next := first
	return harness.OpenPeers(harness.Set{Tools: r.Tools}, true, r.Child, func(string) (net.Listener, error) {
		l, err := net.Listen("tcp", net.JoinHostPort(name, strconv.Itoa(next)))
		if first != 0 {
			next++
		}
		return l, err
	})
}
