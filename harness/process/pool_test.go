package process

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/census"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

var (
	clientText = expect.Event{Lane: "client", Kind: "text"}
	clientEnd  = expect.Event{Lane: "client", Kind: "end"}
)

// answered plays a request with a prompt that must be answered.
func answered(id, prompt string) harness.Scenario {
	return harness.Scenario{
		ID: id, Claim: "a request is answered",
		Play: func(t *harness.Trial) {
			t.Script(script.Answer("hello ", "there"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: prompt, Stream: true}))
		},
		Checks: []harness.Check{{Name: "answer", Guarantee: "test.answered", Noun: "answer", Expect: func(harness.At) expect.Expectation {
			return expect.Reads{What: clientText, Text: "hello there"}
		}}},
	}
}

// has checks that an event is there.
func has(name string, what expect.Event, needs ...harness.Feature) harness.Check {
	return harness.Check{Name: name, Guarantee: "test.event", Noun: name, Needs: needs, Expect: func(harness.At) expect.Expectation {
		return expect.Times{What: what, Min: 1, Max: 9}
	}}
}

func find(scenarios ...harness.Scenario) func(string) (harness.Case, bool) {
	return func(id string) (harness.Case, bool) {
		for _, s := range scenarios {
			for _, c := range s.Cases() {
				if c.ID() == id {
					return c, true
				}
			}
		}
		return harness.Case{}, false
	}
}

func jobs(ids ...string) []harness.Job {
	var out []harness.Job
	for i, id := range ids {
		out = append(out, harness.Job{Case: id, Attempt: 1 + i, Seed: 7})
	}
	return out
}

// played runs a pool and returns the results by attempt. Nothing may be left of it.
func played(t *testing.T, p *Pool, ctx context.Context, js []harness.Job) (map[int]verdict.Result, error) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	started, results := map[int]bool{}, map[int]verdict.Result{}
	err := p.Run(ctx, js, harness.Watch{
		Started: func(j harness.Job) { started[j.Attempt] = true },
		Played: func(j harness.Job, r verdict.Result) {
			require.True(t, started[j.Attempt], "a job is played that was not started")
			require.NotContains(t, results, j.Attempt, "a job is played twice")
			require.Equal(t, j.Attempt, r.Attempt)
			results[j.Attempt] = r
		},
	})
	require.NoError(t, goleak.Find(before))
	require.Len(t, results, len(started), "a job was started and not played")
	return results, err
}

func only(t *testing.T, rs map[int]verdict.Result, err error) verdict.Result {
	t.Helper()
	require.NoError(t, err)
	require.Len(t, rs, 1)
	return rs[1]
}

func TestCasesOfOneSetShareAServer(t *testing.T) {
	s := answered("test/shared", "hello")
	s.Variants = []harness.Variant{{Name: "a"}, {Name: "b"}, {Name: "c", Set: harness.Set{NoStream: true}}}
	var mu sync.Mutex
	var streams []time.Duration
	tgt := target(t, "")
	start := tgt.Command
	tgt.Command = func(s harness.Setup) harness.Command {
		mu.Lock()
		defer mu.Unlock()
		streams = append(streams, s.Windows.Stream)
		return start(s)
	}
	var js []harness.Job
	for i := range 20 {
		js = append(js, harness.Job{Case: []string{"test/shared@a", "test/shared@b", "test/shared@c"}[i%3], Attempt: 1 + i})
	}
	var log bytes.Buffer
	began := time.Now()
	rs, err := played(t, &Pool{Target: tgt, Find: find(s), Log: &log}, t.Context(), js)
	require.NoError(t, err)
	require.Len(t, rs, 20)
	for _, r := range rs {
		require.Equal(t, verdict.Pass, r.Verdict, r.Why)
		require.Positive(t, r.Wall)
		require.Zero(t, r.Virtual)
	}
	slices.Sort(streams)
	require.Equal(t, []time.Duration{0, harness.Short().Stream}, streams, "one server for each set")
	require.Less(t, time.Since(began), 20*(rest+slack), "trials play side by side")
	require.Contains(t, log.String(), "listens on 127.0.0.1:")
}

func TestACaseThatSignalsHasAServerOfItsOwn(t *testing.T) {
	s := harness.Scenario{
		ID: "test/exit", Alone: true, Needs: []harness.Feature{harness.Signals},
		Play: func(t *harness.Trial) {
			t.Script(script.Answer("hello"))
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "log", Stream: true}))
			t.Signal("SIGTERM")
			t.AwaitExit()
		},
		Checks: []harness.Check{
			has("exits", expect.Event{Lane: "process", Kind: "exit", Detail: "0"}),
			has("logs", expect.Event{Lane: "server", Kind: "log", Detail: "asked prompt=log"}, harness.LogFields),
			has("logs-its-leave", expect.Event{Lane: "server", Kind: "log", Detail: "leaving signal=terminated"}, harness.LogFields),
		},
	}
	rs, err := played(t, &Pool{Target: target(t, ""), Find: find(s)}, t.Context(), jobs("test/exit", "test/exit"))
	require.NoError(t, err)
	require.Len(t, rs, 2)
	for _, r := range rs {
		require.Equal(t, verdict.Pass, r.Verdict, r)
	}
}

func TestTheCensusSeesWhatTheServerHolds(t *testing.T) {
	if !census.Countable()[harness.Children] {
		t.Skip("this system does not show it")
	}
	held := func(name string, f harness.Feature, count string) harness.Check {
		return has(name, expect.Event{Lane: "process", Kind: string(f), Detail: count}, f)
	}
	s := harness.Scenario{
		ID: "test/census", Alone: true,
		Play: func(t *harness.Trial) {
			t.Script(script.Program{Times: 1, Steps: []script.Step{script.Headers{}, fault.Stall{}}})
			t.Census()
			r := t.Ask(caller.Ask{Prompt: "spawn", Stream: true})
			t.Await(expect.Event{Lane: "provider", Kind: "stall"})
			t.Census()
			r.Leave(caller.Reset)
			t.Census()
		},
		Checks: []harness.Check{
			held("no-child", harness.Children, "0"), held("a-child", harness.Children, "1"),
			held("one-socket", harness.Sockets, "1"), held("three-sockets", harness.Sockets, "3"),
			has("files", expect.Event{Lane: "process", Kind: "files"}, harness.Files),
			has("goroutines", expect.Event{Lane: "process", Kind: "goroutines"}, harness.Goroutines),
		},
	}
	rs, err := played(t, &Pool{Target: target(t, ""), Find: find(s)}, t.Context(), jobs("test/census"))
	r := only(t, rs, err)
	require.Equal(t, verdict.Pass, r.Verdict, r)
	last := r.Findings[5]
	require.Equal(t, verdict.Unavailable, last.Reason)
	require.Contains(t, last.Observed, "goroutines of another process are not visible")
}

func TestASharedServerShowsNothingOfItself(t *testing.T) {
	s := answered("test/shared", "log")
	s.Checks = append(s.Checks, has("log", expect.Event{Lane: "server"}, harness.LogFields))
	play := s.Play
	s.Play = func(t *harness.Trial) { play(t); t.Census() }
	rs, err := played(t, &Pool{Target: target(t, ""), Find: find(s)}, t.Context(), jobs("test/shared"))
	r := only(t, rs, err)
	require.Equal(t, verdict.Pass, r.Verdict)
	require.Equal(t, verdict.Unavailable, r.Findings[1].Reason)
}

func TestAServerThatDiesIsReplaced(t *testing.T) {
	pool := &Pool{Target: target(t, ""), Find: find(answered("test/ok", "hello"), answered("test/crash", "crash")), Parallel: 1}
	rs, err := played(t, pool, t.Context(), jobs("test/ok", "test/crash", "test/ok"))
	require.NoError(t, err)
	require.Equal(t, verdict.Pass, rs[1].Verdict)
	require.Equal(t, verdict.Pass, rs[3].Verdict)
	// The answer never came, which is a failure of its own.
	require.Equal(t, verdict.Fail, rs[2].Verdict)
}

func TestATrialInFlightFallsWithItsServer(t *testing.T) {
	quiet := harness.Scenario{
		ID: "test/quiet",
		Play: func(t *harness.Trial) {
			t.Script(script.Program{Times: script.Any, Steps: []script.Step{fault.Stall{}}})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "crash"}))
		},
		Checks: []harness.Check{{Name: "silent", Guarantee: "test.silent", Noun: "text", Expect: func(harness.At) expect.Expectation {
			return expect.Never{What: clientText}
		}}},
	}
	rs, err := played(t, &Pool{Target: target(t, ""), Find: find(quiet)}, t.Context(), jobs("test/quiet"))
	r := only(t, rs, err)
	require.Equal(t, verdict.Fail, r.Verdict)
	require.Equal(t, "crash/exit", r.Findings[0].Signature)
	require.Contains(t, r.Why, "the server exited with status 3; its last log lines:")
	require.Contains(t, r.Why, "about to crash")
	// A server of its own that nobody signalled must live as well.
	quiet.Alone = true
	rs, err = played(t, &Pool{Target: target(t, ""), Find: find(quiet)}, t.Context(), jobs("test/quiet"))
	require.Equal(t, "crash/exit", only(t, rs, err).Findings[0].Signature)
}

func TestAServerThatKeepsDyingIsGivenUp(t *testing.T) {
	pool := &Pool{Target: target(t, "crashes"), Find: find(answered("test/ok", "hello")), Parallel: 1}
	rs, err := played(t, pool, t.Context(), jobs("test/ok", "test/ok", "test/ok", "test/ok", "test/ok"))
	var failed *harness.TargetError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, back, failed.Subject)
	require.ErrorContains(t, err, "exited with status 3")
	require.Len(t, rs, 3, "the first server and two more")
}

func TestAServerThatDoesNotStart(t *testing.T) {
	missing := target(t, "")
	missing.Command = func(harness.Setup) harness.Command {
		return harness.Command{Args: []string{"./no-such-server"}, Ready: func(string) string { return "" }}
	}
	escaping := target(t, "")
	start := escaping.Command
	escaping.Command = func(s harness.Setup) harness.Command {
		c := start(s)
		c.Files = map[string]string{"../escape": ""}
		return c
	}
	for _, c := range []struct {
		name   string
		target harness.Target
		want   string
	}{
		{"exits before it is ready", target(t, "exits"), "it exited with status 3 before it was ready; its last log lines:\nno config�[31m here"},
		{"is never ready", target(t, "mute"), "it was not ready within 500ms; its last log lines:\nthinking about it"},
		{"has no executable", missing, "no such file"},
		{"has a file outside of its folder", escaping, `file "../escape" lies outside`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := answered("test/ok", "hello")
			for _, s.Alone = range []bool{false, true} {
				rs, err := played(t, &Pool{Target: c.target, Find: find(s), Wait: 500 * time.Millisecond}, t.Context(), jobs("test/ok", "test/ok"))
				var failed *harness.TargetError
				require.ErrorAs(t, err, &failed)
				require.ErrorContains(t, err, starting+": ")
				require.ErrorContains(t, err, c.want)
				require.NotEmpty(t, failed.Hint)
				require.Empty(t, rs)
			}
		})
	}
}

func TestWindowsThatAreOpenAtTheEndAreDecided(t *testing.T) {
	within := func(what, after expect.Event) harness.Scenario {
		return harness.Scenario{
			ID: "test/" + what.Kind,
			Play: func(t *harness.Trial) {
				t.Script(script.Program{Steps: []script.Step{script.Headers{}, script.Text{Chunks: []string{"a"}}, script.Await{Gate: "more"}, script.Done{}, script.End{}}})
				r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
				t.Await(expect.Event{Lane: caller.Lane, Kind: "text"})
				if what.Kind == "error" {
					t.Open("more")
					t.AwaitEnd(r)
				}
			},
			Checks: []harness.Check{{Name: "check", Noun: "thing", Expect: func(at harness.At) expect.Expectation {
				return expect.Happens{What: what, After: after, To: at.Once}
			}}},
		}
	}
	for _, c := range []struct {
		name  string
		s     harness.Scenario
		least time.Duration // that it takes
		found string
	}{
		{"what may still come is waited for", within(expect.Event{Lane: harness.ProviderLane, Kind: "left"}, expect.Event{Lane: caller.Lane, Kind: "text"}), once + slack, "it never came"},
		{"what cannot come any more is not", within(expect.Event{Lane: caller.Lane, Kind: "error"}, clientEnd), 0, "it never came, and the request was over"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs, err := played(t, &Pool{Target: target(t, ""), Find: find(c.s)}, t.Context(), jobs(c.s.ID))
			r := only(t, rs, err)
			require.Equal(t, verdict.Fail, r.Verdict, "%+v", r)
			require.Equal(t, "deadline/thing", r.Findings[0].Signature)
			require.Equal(t, c.found, r.Findings[0].Observed)
			require.GreaterOrEqual(t, r.Wall, c.least)
		})
	}
}

func TestATrialPastItsLimitIsCut(t *testing.T) {
	s := harness.Scenario{
		ID: "test/stalls",
		Play: func(t *harness.Trial) {
			t.Script(script.Program{Steps: []script.Step{script.Headers{}, fault.Stall{}}})
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		},
		Checks: []harness.Check{has("end", clientEnd)},
	}
	pool := &Pool{Target: target(t, ""), Find: find(s), CaseLimit: 500 * time.Millisecond}
	rs, err := played(t, pool, t.Context(), jobs("test/stalls"))
	r := only(t, rs, err)
	require.Equal(t, verdict.Fail, r.Verdict)
	require.Equal(t, "hang/no-end", r.Findings[0].Signature)
	require.Less(t, r.Wall, host{usual: harness.Short()}.patience())
}

func TestWhatIsOursIsAnError(t *testing.T) {
	panics := answered("test/panics", "")
	panics.Play = func(*harness.Trial) { panic("a scenario's own") }
	judge := answered("test/judge", "hello")
	judge.Checks[0].Expect = func(harness.At) expect.Expectation { panic("a check's own") }
	rs, err := played(t, &Pool{Target: target(t, ""), Find: find(panics, judge)}, t.Context(), jobs("test/panics", "test/judge", "test/unknown"))
	require.NoError(t, err)
	for _, r := range rs {
		require.Equal(t, verdict.Error, r.Verdict)
	}
	require.Error(t, (&Pool{Target: harness.Target{Name: "empty"}}).Run(t.Context(), nil, harness.Watch{}))
	require.ErrorContains(t, (&Pool{Target: target(t, ""), Listen: "256.0.0.1:1"}).Run(t.Context(), nil, harness.Watch{}), "the fake provider")
}

func TestAStopLetsTrialsFinish(t *testing.T) {
	var ctx context.Context
	var cancel func()
	s := answered("test/ok", "hello")
	play := s.Play
	s.Play = func(t *harness.Trial) { cancel(); play(t) }
	for name, alone := range map[string]bool{"shared": false, "alone": true} {
		s.Alone = alone
		ctx, cancel = context.WithCancel(t.Context())
		rs, err := played(t, &Pool{Target: target(t, ""), Find: find(s), Parallel: 1, Instances: 1}, ctx, jobs("test/ok", "test/ok"))
		require.Equal(t, verdict.Pass, only(t, rs, err).Verdict, name)
	}
	// One that comes while a server starts.
	ctx, cancel = context.WithCancel(t.Context())
	mute := target(t, "mute")
	ready := mute.Command
	mute.Command = func(s harness.Setup) harness.Command {
		c := ready(s)
		c.Ready = func(string) string { cancel(); return "" }
		return c
	}
	rs, err := played(t, &Pool{Target: mute, Find: find(s)}, ctx, jobs("test/ok"))
	require.NoError(t, err)
	require.Empty(t, rs)
}

func TestAnUnclaimedFeatureIsSkipped(t *testing.T) {
	s := answered("test/hooks", "hello")
	s.Needs = []harness.Feature{harness.FaultHooks}
	tgt := target(t, "exits") // is not even started
	tgt.Features = nil
	rs, err := played(t, &Pool{Target: tgt, Find: find(s)}, t.Context(), jobs("test/hooks"))
	r := only(t, rs, err)
	require.Equal(t, verdict.Skip, r.Verdict)
	require.Equal(t, verdict.NotClaimed, r.Reason)
}

// free is an address on which nothing listens.
func free(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func TestAnAttachedServer(t *testing.T) {
	listen := free(t)
	proxy := agent("http://"+listen+"/v1", func(string) {})
	ups := 0
	server := httptest.NewServer(http.StripPrefix("/agents/one", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.UserAgent(), "Go-http-client") {
			if ups++; ups < 4 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
		}
		proxy.ServeHTTP(w, r)
	})))
	defer server.Close()
	ok := answered("test/ok", "hello")
	ok.Variants = []harness.Variant{{}, {Name: "inactive", Set: harness.Set{Inactivity: true}}}
	ok.Checks = append(ok.Checks, has("log", expect.Event{Lane: "server"}, harness.LogFields))
	alone := answered("test/alone", "hello")
	alone.Alone = true
	signals := answered("test/signals", "hello")
	signals.Alone, signals.Needs = true, []harness.Feature{harness.Signals}
	tgt := harness.Target{Name: "stranger", Features: harness.Features(), URL: server.URL + "/agents/one/v1/"}
	pool := &Pool{Target: tgt, Find: find(ok, alone, signals), Listen: listen}
	rs, err := played(t, pool, t.Context(), jobs("test/alone", "test/ok", "test/ok@inactive", "test/signals"))
	require.NoError(t, err)
	require.Equal(t, 4, ups)
	require.Equal(t, verdict.Pass, rs[1].Verdict, rs[1])
	require.Equal(t, verdict.Pass, rs[2].Verdict, rs[2])
	require.Equal(t, verdict.Unavailable, rs[2].Findings[1].Reason)
	require.Equal(t, verdict.Unavailable, rs[3].Reason)
	require.Contains(t, rs[3].Why, "needs the inactivity clock, which the server has off")
	require.Equal(t, verdict.Unavailable, rs[4].Reason)
	require.Contains(t, rs[4].Why, "did not start the server")
}

func TestAServerThatCannotBeAttachedTo(t *testing.T) {
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var answering sync.WaitGroup
	answering.Go(func() {
		for {
			c, err := raw.Accept()
			if err != nil {
				return
			}
			http.ReadRequest(bufio.NewReader(c)) // unread it would make the close a reset
			c.Write([]byte("220 mail.test ready\r\n"))
			c.Close()
		}
	})
	defer answering.Wait()
	defer raw.Close()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer broken.Close()
	for _, c := range []struct{ name, url, want, hint string }{
		{"refuses connections", "http://" + free(t), "connection refused", "start the server first"},
		{"is no HTTP server", "http://" + raw.Addr().String(), "malformed HTTP", "something else than an HTTP server"},
		{"has only errors", broken.URL, "Bad Gateway", "start the server first"},
		{"wants https", "https://127.0.0.1:1", "https is not supported", "http://127.0.0.1:PORT"},
		{"is elsewhere", "http://agent.test", "agent.test is not this machine", ""},
		{"has a key in its address", "http://user:key@127.0.0.1:1/?key=2", "a user or a query has no meaning in it", ""},
		{"has no address", "http://", "not an http:// address", ""},
		{"is not a URL", "http://key%zz", "that is not a URL", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			pool := &Pool{Target: harness.Target{Name: "stranger", URL: c.url}, Wait: 300 * time.Millisecond}
			rs, err := played(t, pool, t.Context(), nil)
			var failed *harness.TargetError
			require.ErrorAs(t, err, &failed)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "key")
			require.Contains(t, failed.Hint, c.hint)
			require.Empty(t, rs)
		})
	}
}

func TestAnAddressIsRead(t *testing.T) {
	for _, c := range []struct{ name, url, remote, address, base string }{
		{"a port", "http://127.0.0.1:8080", "", "127.0.0.1:8080", ""},
		{"no port", "http://localhost/", "", "localhost:80", ""},
		{"another loopback", "http://[::1]:8080/v1", "", "[::1]:8080", ""},
		{"a path", "http://127.0.0.9:1/a/b/v1/", "", "127.0.0.9:1", "/a/b"},
		{"a host that is allowed", "http://agent.test:1", "agent.test", "agent.test:1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := parse(c.url, c.remote)
			require.NoError(t, err)
			require.Equal(t, host{address: c.address, base: c.base}, h)
		})
	}
}
