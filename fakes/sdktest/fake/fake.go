// Package fake starts a fake provider on loopback TCP, for tests in which an SDK is its client.
package fake

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// Key is the key that clients send. The fake does not look at it.
const Key = "key-of-a-test"

// Main runs the tests of a package, in which no goroutine may be left at the end, those aside that options name.
func Main(m *testing.M, options ...goleak.Option) { goleak.VerifyTestMain(m, options...) }

// Provider is a fake that runs until the end of its test.
type Provider struct {
	URL    string       // without a path, such as http://127.0.0.1:34567
	Client *http.Client // the only way to the fake: no proxy, no connection shared with another test

	t      *testing.T
	tl     *timeline.Timeline
	gates  script.Gates
	mu     sync.Mutex
	header http.Header // of the last request
	last   http.Header // of the last answer
}

// Start plays programs in a dialect. At the end of the test every program must have been taken by as many requests
// as it is for, every fault and keepalive in them must have struck, and no request may have come that no program was
// for. The
// variables from which SDKs read keys, addresses and proxies are not there until then.
func Start(t *testing.T, d provider.Dialect, programs ...script.Program) *Provider {
	t.Helper()
	clearEnvironment(t)
	f := &Provider{t: t, tl: timeline.New()}
	p := &provider.Provider{Dialects: []provider.Dialect{d}}
	require.NoError(t, p.Open("", &provider.Session{Script: programs, Timeline: f.tl, Gates: &f.gates, Strict: true}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	f.URL = "http://" + l.Addr().String()
	transport := &http.Transport{}
	f.Client = &http.Client{Transport: recorder{f, transport}}
	t.Cleanup(func() {
		f.struck(programs)
		transport.CloseIdleConnections()
		left := p.Release("")
		require.NoError(t, p.Close())
		require.NoError(t, <-served)
		require.Empty(t, left, "programs that the SDK did not ask for")
		require.Empty(t, f.kind("violation"))
		require.Empty(t, f.kind("refused"), "requests of an SDK that a strict fake does not take")
	})
	return f
}

// recorder notes the headers that go either way.
//
// It hands over no answer before net/http is done with the request. The SDK of AWS closes the body of its request as
// soon as it has the answer, and net/http, which looks once more whether the body has ended, then takes that for an
// error (smithy-go 1.28.9: WriteTo of a closed body is io.EOF) and closes the connection under the answer. A real
// provider takes long enough for this not to be seen; the fake does not.
type recorder struct {
	f    *Provider
	next *http.Transport
}

func (r recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	wrote := make(chan struct{})
	done := sync.OnceFunc(func() { close(wrote) }) // a request may be written again, on another connection
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { done() }}
	resp, err := r.next.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err == nil {
		<-wrote
	}
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.f.header = req.Header.Clone()
	if err == nil {
		r.f.last = resp.Header.Clone()
	}
	return resp, err
}

// CloseIdleConnections lets the http.Client around the recorder close what its transport keeps.
func (r recorder) CloseIdleConnections() { r.next.CloseIdleConnections() }

// clearEnvironment takes away, for the length of the test, what SDKs look for.
func clearEnvironment(t *testing.T) {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		for _, prefix := range []string{"OPENAI_", "AZURE_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "OLLAMA_", "AWS_", "HTTP_PROXY", "HTTPS_PROXY"} {
			if strings.HasPrefix(strings.ToUpper(name), prefix) {
				t.Setenv(name, "") // puts it back at the end
				os.Unsetenv(name)
			}
		}
	}
	t.Setenv("HOME", t.TempDir()) // profiles and credentials are read from files under it
}

// Patience is the timeout of a client that is to meet a stall: long enough for a busy machine to begin an answer.
const Patience = 500 * time.Millisecond

// enough is for what happens at once: only a test that fails waits for it.
const enough = 10 * time.Second

// Heard tells the fake that the client has got something: the gate heard opens. A second call does nothing.
func (f *Provider) Heard() { f.gates.Open("heard") }

// Await returns the detail of the first event of a kind, as the provider names them.
func (f *Provider) Await(kind string) string {
	f.t.Helper()
	e, ok := f.tl.Await(enough, func(e timeline.Event) bool { return e.Kind == kind })
	require.True(f.t, ok, "no %s in %v", kind, f.tl.Events())
	return e.Detail
}

// Left waits until the client has left an exchange in the middle, and says how: fin or rst.
func (f *Provider) Left() string {
	f.t.Helper()
	how, _, _ := strings.Cut(f.Await("left"), " ")
	return how
}

// Attempts are the requests so far, each by the number that its SDK gives the attempt, 0 where it gives none.
func (f *Provider) Attempts() []int {
	var list []int
	for _, e := range f.kind("request") {
		_, after, _ := strings.Cut(e.Detail, " attempt=")
		var n int
		_, err := fmt.Sscanf(after, "%d", &n)
		require.NoError(f.t, err, e.Detail)
		list = append(list, n)
	}
	return list
}

// Gap is the time between the first two requests.
func (f *Provider) Gap() time.Duration {
	f.t.Helper()
	list := f.kind("request")
	require.GreaterOrEqual(f.t, len(list), 2)
	return list[1].At - list[0].At
}

// Sent is a header of the last request that the SDK sent.
func (f *Provider) Sent(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.header.Get(name)
}

// Got is a header of the last answer that the SDK got.
func (f *Provider) Got(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last.Get(name)
}

func (f *Provider) kind(kind string) []timeline.Event {
	var list []timeline.Event
	for _, e := range f.tl.Events() {
		if e.Kind == kind {
			list = append(list, e)
		}
	}
	return list
}

// struck waits for every fault of the programs to be recorded: a client may be done before that. Those inside a
// Repeat are not looked for.
func (f *Provider) struck(programs []script.Program) {
	f.t.Helper()
	want := map[string]int{}
	for _, p := range programs {
		for _, step := range p.Steps {
			switch step.(type) {
			case script.Keepalive, fault.Stall, fault.Cut, fault.Reset, fault.HalfClose, fault.Drip, fault.Split, fault.Batch, fault.Lines,
				fault.Status, fault.Garble:
				want[step.Kind()] += max(p.Times, 1)
			}
		}
	}
	for kind, times := range want {
		seen := 0
		_, ok := f.tl.Await(enough, func(e timeline.Event) bool {
			if e.Kind == kind {
				seen++
			}
			return seen == times
		})
		require.True(f.t, ok, "%s struck %d times, want %d: %v", kind, seen, times, f.tl.Events())
	}
}

// Heard is what an SDK hands to its caller.
type Heard struct {
	Text      string
	Thought   string
	Signature string
	Refusal   string
	Calls     []Call
	Finish    string // in the SDK's word
	Usage     Usage
}

// Call is a tool call. Args is JSON text.
type Call struct{ ID, Name, Args string }

// Usage is in tokens, as the SDK counts them.
type Usage struct{ In, Out, Reasoning, Cached int64 }

// Is wants an error that wraps another one.
func Is(target error) require.ErrorAssertionFunc {
	return func(t require.TestingT, err error, args ...any) { require.ErrorIs(t, err, target, args...) }
}

// Says wants an error with this text in it.
func Says(text string) require.ErrorAssertionFunc {
	return func(t require.TestingT, err error, args ...any) { require.ErrorContains(t, err, text, args...) }
}

// Cut is what Go says of a stream that ended with a FIN and no last chunk.
var Cut = Is(io.ErrUnexpectedEOF)
