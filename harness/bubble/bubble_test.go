package bubble_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/bubble"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// echo is a server under test that passes the provider's bytes on, and does wrong as its field says.
type echo struct {
	s    harness.Setup
	leak bool
	done chan struct{}
}

func target(leak bool) harness.Target {
	return harness.Target{Name: "echo", Features: harness.Features(), Start: func(s harness.Setup) (harness.Server, error) {
		e := &echo{s: s, leak: leak, done: make(chan struct{})}
		srv := &http.Server{Handler: e}
		go func() {
			<-e.done
			srv.Close()
		}()
		go srv.Serve(s.Listener)
		return e, nil
	}}
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e.leak {
		go func(never chan struct{}) { <-never }(make(chan struct{}))
	}
	body, _ := io.ReadAll(r.Body)
	transport := &http.Transport{DialContext: e.s.Dial, DisableKeepAlives: true}
	req, _ := http.NewRequestWithContext(r.Context(), "POST", e.s.Provider+"/chat/completions", strings.NewReader(string(body)))
	resp, err := transport.RoundTrip(req)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	for b := make([]byte, 4096); ; {
		n, err := resp.Body.Read(b)
		w.Write(b[:n])
		w.(http.Flusher).Flush()
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

func (e *echo) Signal(string) {
	select {
	case <-e.done:
	default:
		close(e.done)
	}
}
func (e *echo) Done() <-chan struct{} { return e.done }
func (e *echo) Exit() int             { return 0 }

var (
	text = expect.Event{Lane: "client", Kind: "text"}
)

// scenario plays one script for one streaming request and checks x.
func scenario(p script.Program, x expect.Expectation) harness.Case {
	return harness.Case{Scenario: harness.Scenario{
		ID: "test/one", Claim: "it works",
		Play: func(t *harness.Trial) {
			t.Script(p)
			t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
		},
		Checks: []harness.Check{{Name: "check", Guarantee: "run.one-ending", Noun: "thing", Expect: func(harness.At) expect.Expectation { return x }}},
	}}
}

func find(t *testing.T, r verdict.Result, check string) verdict.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Check == r.Case+"::"+check {
			return f
		}
	}
	require.Fail(t, "no such check", "%s in %+v", check, r)
	return verdict.Finding{}
}

func TestAHourOfStallPassesInNoTime(t *testing.T) {
	stalled := script.Program{Steps: []script.Step{script.Text{Chunks: []string{"a"}}, fault.Stall{For: 50 * time.Minute}, script.Text{Chunks: []string{"b"}}, script.Done{}, script.End{}}}
	r := bubble.Play(t, target(false), scenario(stalled, expect.Happens{What: expect.Event{Lane: "client", Kind: "text", Nth: 2}, After: text, From: 50 * time.Minute, To: 50 * time.Minute}), 1)
	require.Equal(t, verdict.Pass, r.Verdict, "%+v", r)
	require.Greater(t, r.Virtual, 50*time.Minute)
	require.Less(t, r.Wall, 5*time.Second)
}

func TestAFailedCheckPointsAtItsMoment(t *testing.T) {
	r := bubble.Play(t, target(false), scenario(script.Answer("a"), expect.Never{What: text}), 1)
	f := find(t, r, "check")
	require.Equal(t, verdict.Fail, f.Verdict)
	require.Equal(t, "forbidden/thing", f.Signature)
	here := 0
	for _, m := range f.Excerpt {
		if m.Here {
			here++
			require.Equal(t, "text", m.Kind)
		}
	}
	require.Equal(t, 1, here)
}

func TestAGoroutineLeftBehindIsALeak(t *testing.T) {
	r := bubble.Play(t, target(true), scenario(script.Answer("a"), expect.Reads{What: text, Text: "a"}), 1)
	f := find(t, r, "no-goroutine-left")
	require.Equal(t, verdict.Fail, f.Verdict)
	require.Equal(t, "leak.goroutines", f.Guarantee)
	require.Contains(t, f.Observed, "ServeHTTP")
	require.Equal(t, verdict.Pass, find(t, r, "check").Verdict, "the leak takes nothing from what was shown")
	require.Equal(t, verdict.Fail, r.Verdict)
}

func TestNothingPassesWhenTheSituationWasNotReached(t *testing.T) {
	never := expect.Never{What: expect.Event{Kind: "error"}}
	tests := []struct {
		name string
		make func() harness.Case
		why  string
	}{
		{"a fault that never struck", func() harness.Case {
			p := script.Answer("a")
			p.Steps = append([]script.Step{script.Done{}, fault.Split{Every: 1 << 20}}, p.Steps[5:]...)
			return scenario(p, never)
		}, "a scripted fault never struck: split"},
		{"an event that was to be reached", func() harness.Case {
			c := scenario(script.Answer("a"), never)
			c.Scenario.Reached = []expect.Event{{Lane: "provider", Kind: "stall"}}
			return c
		}, "the situation was not reached: no provider stall"},
		{"a program that no request took", func() harness.Case {
			c := scenario(script.Answer("a"), never)
			c.Scenario.Play = func(t *harness.Trial) {
				t.Script(script.Answer("a"), script.Answer("b"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
			}
			return c
		}, "the script was not played to its end"},
		{"a wait that was in vain", func() harness.Case {
			c := scenario(script.Answer("a"), never)
			c.Scenario.Play = func(t *harness.Trial) {
				t.Script(script.Answer("a"))
				t.AwaitEnd(t.Ask(caller.Ask{Prompt: "hello", Stream: true}))
				t.Await(expect.Event{Lane: "client", Kind: "cheese"})
			}
			return c
		}, "the scenario stopped: waited 1h0m0s for client cheese (bubble_test.go:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := bubble.Play(t, target(false), tt.make(), 1)
			require.Equal(t, verdict.Inconclusive, r.Verdict, "%+v", r)
			require.Contains(t, r.Why, tt.why)
		})
	}
}

func TestAnEventAtTheInstantOfTheLimitIsNotMissed(t *testing.T) {
	for range 50 {
		late := script.Program{Steps: []script.Step{script.Pause{For: time.Hour}, script.Text{Chunks: []string{"a"}}, script.Done{}, script.End{}}}
		c := scenario(late, expect.Reads{What: text, Text: "a"})
		c.Scenario.Play = func(t *harness.Trial) {
			t.Script(late)
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true})
			t.Await(text) // patience is the hour
			t.AwaitEnd(r)
		}
		require.Equal(t, verdict.Pass, bubble.Play(t, target(false), c, 1).Verdict)
	}
}

func TestAPanicInPlayIsOurOwnError(t *testing.T) {
	c := scenario(script.Answer("a"), expect.Reads{What: text, Text: "a"})
	c.Scenario.Play = func(*harness.Trial) { panic("cheese") }
	r := bubble.Play(t, target(false), c, 1)
	require.Equal(t, verdict.Error, r.Verdict)
	require.Contains(t, r.Why, "cheese")
}

func TestAFeatureThatIsNotClaimedIsASkip(t *testing.T) {
	c := scenario(script.Answer("a"), expect.Reads{What: text, Text: "a"})
	c.Scenario.Needs = []harness.Feature{harness.FaultHooks}
	plain := target(false)
	plain.Features = nil
	r := bubble.Play(t, plain, c, 1)
	require.Equal(t, verdict.Skip, r.Verdict)
	require.Equal(t, verdict.NotClaimed, r.Reason)

	c.Scenario.Needs = []harness.Feature{harness.Children}
	r = bubble.Play(t, target(false), c, 1)
	require.Equal(t, verdict.Skip, r.Verdict)
	require.Equal(t, verdict.Unavailable, r.Reason)
}

func TestAServerThatDoesNotStartIsOurOwnError(t *testing.T) {
	broken := harness.Target{Name: "broken", Start: func(harness.Setup) (harness.Server, error) { return nil, fmt.Errorf("no disk") }}
	r := bubble.Play(t, broken, scenario(script.Answer("a"), expect.Reads{What: text, Text: "a"}), 1)
	require.Equal(t, verdict.Error, r.Verdict)
	require.Contains(t, r.Why, "no disk")
}

func TestWhatIsNotReadBecauseTheTrialStoppedIsNotHeldAgainstTheServer(t *testing.T) {
	blocked := expect.Event{Lane: harness.ProviderLane, Kind: "blocked"}
	check := func(name string, x expect.Expectation) harness.Check {
		return harness.Check{Name: name, Noun: "thing", Expect: func(harness.At) expect.Expectation { return x }}
	}
	c := harness.Case{Scenario: harness.Scenario{
		ID: "test/held", Claim: "it works", Reached: []expect.Event{blocked},
		Play: func(t *harness.Trial) {
			t.Script(script.Answer("word"))
			r := t.Ask(caller.Ask{Prompt: "hello", Stream: true, Hold: true})
			t.Await(blocked) // in vain: a word fits anywhere
			r.Read()
			t.AwaitEnd(r)
		},
		Checks: []harness.Check{check("all-is-read", expect.Times{What: text, Min: 1, Max: 1})},
	}}
	r := bubble.Play(t, target(false), c, 1)
	require.Equal(t, verdict.Inconclusive, find(t, r, "all-is-read").Verdict, "%+v", r)
	require.Contains(t, r.Why, "waited 1h0m0s for provider blocked")

	c.Scenario.Checks = append(c.Scenario.Checks, check("absent", expect.Times{What: text, Min: 2, Max: 2}), check("there", expect.Never{What: text}))
	r = bubble.Play(t, target(false), c, 1)
	require.Equal(t, verdict.Inconclusive, find(t, r, "absent").Verdict, "without its situation it proves nothing")
	require.Contains(t, find(t, r, "absent").Observed, "the situation was not reached: no provider blocked")
	require.Equal(t, verdict.Fail, find(t, r, "there").Verdict, "what happened stands")

	c.Scenario.Reached = nil
	r = bubble.Play(t, target(false), c, 1)
	require.Equal(t, verdict.Fail, find(t, r, "absent").Verdict, "a wait in vain alone excuses nothing")
}
