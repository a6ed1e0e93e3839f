package approval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRules(t *testing.T) {
	for _, tt := range []struct {
		pattern, tool string
		want          bool
	}{
		{"book", "book", true}, {"book", "books", false}, {"book", "Book", false}, {"book*", "book", true}, {"book*", "booking", true},
		{"*", "", true}, {"*", "a/b.c-d", true}, {"*ook", "book", true}, {"*o*k", "bookk", true}, {"b??k", "book", true}, {"b??k", "bok", false},
		{"a*b*c", "aXbXbYc", true}, {"a*b*c", "aXbXbY", false}, {"", "a", false}, {"**", "x", true}, {"*a", "aaab", false},
	} {
		_, got := Rules{"never", tt.pattern}.Match(tt.tool)
		require.Equal(t, tt.want, got, "%q %q", tt.pattern, tt.tool)
	}
	pattern, _ := Rules{"b*", "book"}.Match("book")
	require.Equal(t, "b*", pattern, "the first one is told")
}

func TestParseDecision(t *testing.T) {
	for body, want := range map[string]Decision{
		`{"approved":true}`: {Approved: true}, ` {"reason":"no", "approved":false} `: {Reason: "no"}, `{"approved":true,"reason":null}`: {Approved: true},
	} {
		d, err := ParseDecision([]byte(body))
		require.NoError(t, err, body)
		require.Equal(t, want, d, body)
	}
	for _, body := range []string{
		`{}`, `[]`, `null`, `true`, `"yes"`, `{"approved":"true"}`, `{"approved":1}`, `{"approved":null}`, `{"Approved":true}`, `{"approved":true,"more":1}`,
		`{"approved":true,"reason":1}`, `{"approved":true,"reason":{"a":"b"}}`, `{"approved":false,"approved":true}`, `{"approved":[true]}`, `{"reason":"yes"}`,
	} {
		d, err := ParseDecision([]byte(body))
		require.ErrorIs(t, err, ErrForm, body)
		require.False(t, d.Approved && err == nil, body)
	}
	for _, body := range []string{"", "{", `{"approved":true`, `{"approved":true}{}`, `{"approved":true} x`, "\xff"} {
		_, err := ParseDecision([]byte(body))
		require.Error(t, err, body)
		require.NotErrorIs(t, err, ErrForm, body)
	}
}

func FuzzParseDecision(f *testing.F) {
	f.Add([]byte(`{"approved":true,"reason":"x"}`))
	f.Add([]byte(`{"approved":true,"approved":false}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseDecision(data)
		if err != nil || !d.Approved {
			return
		}
		var loose map[string]any
		require.NoError(t, json.Unmarshal(data, &loose))
		require.Equal(t, true, loose["approved"])
	})
}

func TestIDsAreOnesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := newID()
		require.True(t, ValidID(id), id)
		require.False(t, seen[id])
		seen[id] = true
	}
	for at := range 36 {
		found := map[byte]bool{}
		for id := range seen {
			found[id[at]] = true
		}
		want := map[int]int{8: 1, 13: 1, 14: 1, 18: 1, 19: 4, 23: 1}[at] // where an id of this version is not free
		require.Len(t, found, cmp.Or(want, 16), "nothing of an id can be told from others: character %d", at)
	}
	for _, id := range []string{"", "../../etc/passwd", strings.Repeat("a", 36), strings.ToUpper("0b0e7e5c-32c1-4d3a-9c1b-aaaaaaaaaaaa"), strings.Repeat("x", 10<<20)} {
		require.False(t, ValidID(id))
	}
}

func TestOneOfManyDecisionsCounts(t *testing.T) {
	var d Desk
	p, err := d.enter(context.Background(), "r", true)
	require.NoError(t, err)
	var taken atomic.Int32
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			if d.Decide(p.id, Decision{Approved: n%2 == 0}) {
				taken.Add(1)
			}
		})
	}
	all.Go(func() {
		if p.leave() {
			taken.Add(1)
		}
	})
	all.Wait()
	require.EqualValues(t, 1, taken.Load())
	require.Zero(t, d.Pending())
}

func TestTheDeskIsBounded(t *testing.T) {
	var d Desk
	for range MaxPendingOfRun {
		_, err := d.enter(context.Background(), "r", true)
		require.NoError(t, err)
	}
	_, err := d.enter(context.Background(), "r", true)
	require.Equal(t, errTooMany, err)
	for n := range MaxPending - MaxPendingOfRun {
		_, err = d.enter(context.Background(), strconv.Itoa(n), true)
		require.NoError(t, err)
	}
	_, err = d.enter(context.Background(), "another", true)
	require.Equal(t, errTooMany, err)
	require.Equal(t, MaxPending, d.Pending())
}

// asked is one question to a gate, in a bubble.
type asked struct {
	run    *run.Run
	desk   Desk
	events []run.Event
	got    agent.Permission
	err    error
	done   chan struct{}
}

// ask has a gate asked about a call of book, and reads the run's events when it has answered.
func ask(g Gate, started func(a *asked)) *asked {
	r := run.New("r", run.Config{Buffer: 8})
	return askOf(r.Context(), r, g, started)
}

// askWithin does it for a call that ends with ctx.
func askWithin(ctx context.Context, g Gate, started func(a *asked)) *asked {
	return askOf(ctx, run.New("r", run.Config{Buffer: 8}), g, started)
}

func askOf(ctx context.Context, r *run.Run, g Gate, started func(a *asked)) *asked {
	a := &asked{run: r, done: make(chan struct{})}
	g.Rules, g.Desk, g.RequestID = Rules{"book*"}, &a.desk, "r"
	go func() {
		defer close(a.done)
		a.got, a.err = g.Ask(ctx, a.run, llm.ToolCall{Name: "book", Arguments: `{"a":1}`})
	}()
	synctest.Wait()
	if started != nil {
		started(a)
	}
	<-a.done
	for len(a.run.Events()) > 0 {
		a.events = append(a.events, <-a.run.Events())
	}
	a.run.End(run.Ending{How: run.Completed})
	return a
}

// id is of the approval that was asked for.
func (a *asked) id() string { return (<-a.run.Events()).(run.ApprovalRequested).ID }

func (a *asked) outcome() run.ApprovalOutcome {
	return a.events[len(a.events)-1].(run.ApprovalCompleted).Outcome
}

func TestAGateLetsOtherCallsThrough(t *testing.T) {
	got, err := Gate{Rules: Rules{"book"}}.Ask(context.Background(), nil, llm.ToolCall{Name: "lookup"})
	require.NoError(t, err)
	require.Equal(t, agent.Permission{Granted: true}, got)
}

func TestConversation(t *testing.T) {
	route := Conversation{Timeout: time.Minute}
	for _, tt := range []struct {
		name     string
		decision Decision
		want     agent.Permission
		outcome  run.ApprovalOutcome
	}{
		{"yes", Decision{Approved: true, Reason: "fine"}, agent.Permission{Granted: true}, run.ApprovalOutcome{Kind: "approved"}},
		{"no", Decision{Reason: "too dear"}, agent.Permission{Told: "Tool call blocked by human approval denial: too dear. Do not execute this action."}, run.ApprovalOutcome{Kind: "denied", Reason: "too dear"}},
		{"no without a reason", Decision{}, agent.Permission{Told: "Tool call blocked by human approval denial: no reason provided. Do not execute this action."}, run.ApprovalOutcome{Kind: "denied"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := ask(Gate{Route: route}, func(a *asked) {
					time.Sleep(time.Second)
					id := a.id()
					require.True(t, a.desk.Decide(id, tt.decision))
					require.False(t, a.desk.Decide(id, Decision{Approved: true}))
				})
				require.NoError(t, a.err)
				require.Equal(t, tt.want, a.got)
				require.IsType(t, run.ApprovalPending{}, a.events[0])
				require.JSONEq(t, `{"a":1}`, string(a.events[0].(run.ApprovalPending).Arguments))
				require.Equal(t, tt.outcome, a.outcome())
				require.Equal(t, time.Second, a.events[1].(run.ApprovalCompleted).Duration)
				require.Zero(t, a.desk.Pending())
			})
		})
	}
}

func TestAConversationEndsAtItsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var id string
		a := ask(Gate{Route: Conversation{Timeout: time.Minute}}, func(a *asked) { id = a.id() })
		require.NoError(t, a.err)
		require.Equal(t, agent.Permission{Told: "tool call denied: approval timed out", Failed: true}, a.got)
		waited := int64(60_000)
		require.Equal(t, run.ApprovalOutcome{Kind: "timed_out", WaitedMS: &waited}, a.outcome())
		require.False(t, a.desk.Decide(id, Decision{Approved: true}))
	})
}

func TestAnApprovalEndsWithItsCall(t *testing.T) {
	gone := errors.New("the task failed")
	for _, route := range []Route{Conversation{Timeout: time.Minute}, &Webhook{URL: "http://h.test/", Timeout: time.Minute, Client: NewClient(silence)}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			began := time.Now()
			a := askWithin(ctx, Gate{Route: route}, func(a *asked) {
				time.Sleep(time.Second)
				cancel(gone)
				require.False(t, a.desk.Decide(a.id(), Decision{Approved: true}), "not a moment longer")
			})
			require.Equal(t, gone, a.err)
			require.Equal(t, time.Second, time.Since(began))
			require.Equal(t, run.ApprovalOutcome{Kind: "cancelled", Reason: "task_ended"}, a.outcome())
			require.Zero(t, a.desk.Pending())
		})
		synctest.Test(t, func(t *testing.T) {
			ended := run.Ending{How: run.ShutDown}
			a := ask(Gate{Route: route}, func(a *asked) {
				a.run.End(ended)
				require.False(t, a.desk.Decide(a.id(), Decision{Approved: true}))
			})
			require.Equal(t, ended, a.err)
			require.Zero(t, a.desk.Pending())
		})
	}
}

func TestAPanicLeavesNothingPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d Desk
		r := run.New("r", run.Config{Buffer: 8})
		defer r.End(run.Ending{How: run.Failed})
		g := Gate{Rules: Rules{"*"}, Desk: &d, Route: Conversation{Timeout: time.Minute}, Asked: func(context.Context, llm.ToolCall) {
			require.Equal(t, 1, d.Pending())
			panic("a fault")
		}}
		require.Panics(t, func() { _, _ = g.Ask(r.Context(), r, llm.ToolCall{Name: "book"}) })
		require.Zero(t, d.Pending())
	})
}

// silence is a network on which nobody answers.
func silence(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	context.AfterFunc(ctx, func() { far.Close() })
	return near, nil
}

// hook is a webhook on a network of its own.
type hook struct {
	client   *http.Client
	requests atomic.Int32
	dialled  []string
}

// listen answers on pipes until the test has ended.
func listen(t *testing.T, handle http.HandlerFunc) *hook {
	h := &hook{}
	conns, closed := make(chan net.Conn), make(chan struct{})
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.requests.Add(1)
		handle(w, r)
	})}
	go s.Serve(&pipes{conns, closed}) //nolint:errcheck // it says that it was closed
	t.Cleanup(func() {
		s.Close()
	})
	h.client = NewClient(func(_ context.Context, _, addr string) (net.Conn, error) {
		h.dialled = append(h.dialled, addr)
		near, far := net.Pipe()
		conns <- far
		return near, nil
	})
	return h
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

var keys = Keys{Primary: strings.Repeat("p", 32), Tolerance: 5 * time.Minute}

func TestWebhook(t *testing.T) {
	says := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, body) //nolint:errcheck // a test
		}
	}
	for _, tt := range []struct {
		name    string
		answer  http.HandlerFunc
		outcome run.ApprovalOutcome
	}{
		{"yes", says(200, `{"approved":true}`), run.ApprovalOutcome{Kind: "approved"}},
		{"no", says(202, `{"approved":false,"reason":"no"}`), run.ApprovalOutcome{Kind: "denied", Reason: "no"}},
		{"a failure", says(500, `{"approved":true}`), run.ApprovalOutcome{Kind: "errored", Message: "the webhook answered 500"}},
		{"nothing", says(204, ""), run.ApprovalOutcome{Kind: "errored", Message: "the webhook's answer: not valid JSON"}},
		{"words", says(200, "yes"), run.ApprovalOutcome{Kind: "errored", Message: "the webhook's answer: not valid JSON"}},
		{"more than asked", says(200, `{"approved":true,"all":true}`), run.ApprovalOutcome{Kind: "errored", Message: "the webhook's answer: " + ErrForm.Error()}},
		{"too much", says(200, `{"approved":true,"reason":"`+strings.Repeat("x", MaxDecision)+`"}`), run.ApprovalOutcome{Kind: "errored", Message: "the webhook's answer is longer than 65536 bytes"}},
		{"another address", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.test/", http.StatusTemporaryRedirect)
		}, run.ApprovalOutcome{Kind: "errored", Message: "the webhook answered 307"}},
		{"half an answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"approved":true}`) //nolint:errcheck // a test
		}, run.ApprovalOutcome{Kind: "errored", Message: "the webhook's answer broke off"}},
		{"a broken connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			run.ApprovalOutcome{Kind: "errored", Message: "the webhook cannot be reached"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := listen(t, tt.answer)
				a := ask(Gate{Route: &Webhook{URL: "http://decide.test/x", Timeout: time.Minute, Client: h.client}}, nil)
				require.NoError(t, a.err)
				require.Equal(t, tt.outcome, a.outcome())
				require.Equal(t, tt.outcome.Kind == "approved", a.got.Granted)
				require.EqualValues(t, 1, h.requests.Load())
				require.Equal(t, []string{"decide.test:80"}, h.dialled)
				require.Len(t, a.events, 2, "a webhook's approval is never pending for the client")
			})
		})
	}
}

func TestASilentWebhookTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		h := listen(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})
		a := ask(Gate{Route: &Webhook{URL: "http://decide.test/x", Timeout: time.Minute, Client: h.client}}, nil)
		require.Equal(t, time.Minute, time.Since(began))
		require.Equal(t, "timed_out", a.outcome().Kind)
	})
}

func TestASignedWebhook(t *testing.T) {
	sign := func(w http.ResponseWriter, key, id, body string, at time.Time) {
		stamp := strconv.FormatInt(at.Unix(), 10)
		w.Header().Set(TimestampHeader, stamp)
		w.Header().Set(SignatureHeader, fmt.Sprintf("sha256=%x", mac(key, stamp, "approval-decision:"+id, []byte(body))))
	}
	const yes = `{"approved":true}`
	old := strings.Repeat("o", 32)
	for _, tt := range []struct {
		name   string
		sign   func(w http.ResponseWriter, id string)
		signed bool
	}{
		{"with the key", func(w http.ResponseWriter, id string) { sign(w, keys.Primary, id, yes, time.Now()) }, true},
		{"with the other key", func(w http.ResponseWriter, id string) { sign(w, old, id, yes, time.Now()) }, true},
		{"at the edge of the tolerance", func(w http.ResponseWriter, id string) {
			sign(w, old, id, yes, time.Now().Add(-keys.Tolerance))
		}, true},
		{"not at all", func(http.ResponseWriter, string) {}, false},
		{"with a wrong key", func(w http.ResponseWriter, id string) { sign(w, strings.Repeat("w", 32), id, yes, time.Now()) }, false},
		{"another approval's", func(w http.ResponseWriter, _ string) { sign(w, keys.Primary, newID(), yes, time.Now()) }, false},
		{"another body", func(w http.ResponseWriter, id string) { sign(w, keys.Primary, id, `{"approved":false}`, time.Now()) }, false},
		{"long ago", func(w http.ResponseWriter, id string) {
			sign(w, keys.Primary, id, yes, time.Now().Add(-keys.Tolerance-2*time.Second))
		}, false},
		{"in the future", func(w http.ResponseWriter, id string) {
			sign(w, keys.Primary, id, yes, time.Now().Add(keys.Tolerance+2*time.Second))
		}, false},
		{"twice", func(w http.ResponseWriter, id string) {
			sign(w, keys.Primary, id, yes, time.Now())
			w.Header().Add(SignatureHeader, "sha256=00")
		}, false},
		{"with half of it", func(w http.ResponseWriter, id string) {
			sign(w, keys.Primary, id, yes, time.Now())
			w.Header().Set(SignatureHeader, w.Header().Get(SignatureHeader)[:len("sha256=")+32])
		}, false},
		{"with nothing of it", func(w http.ResponseWriter, id string) {
			sign(w, keys.Primary, id, yes, time.Now())
			w.Header().Set(SignatureHeader, "sha256=")
		}, false},
		{"without its form", func(w http.ResponseWriter, id string) {
			sign(w, keys.Primary, id, yes, time.Now())
			w.Header().Set(SignatureHeader, strings.TrimPrefix(w.Header().Get(SignatureHeader), "sha256="))
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := listen(t, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					var q webhookBody
					require.NoError(t, json.Unmarshal(body, &q))
					require.Equal(t, []webhookItem{{"book", json.RawMessage(`{"a":1}`)}}, q.Items)
					want := fmt.Sprintf("sha256=%x", mac(keys.Primary, r.Header.Get(TimestampHeader), "approval-request:"+q.DecisionID, body))
					require.Equal(t, want, r.Header.Get(SignatureHeader))
					require.Equal(t, "t", r.Header.Get("X-Team"))
					tt.sign(w, q.DecisionID)
					io.WriteString(w, yes) //nolint:errcheck // a test
				})
				k := keys
				k.Secondary = old
				a := ask(Gate{Route: &Webhook{URL: "http://decide.test/x", Timeout: time.Minute, Client: h.client, Keys: k, Headers: http.Header{"X-Team": {"t"}}}}, nil)
				require.Equal(t, tt.signed, a.got.Granted, a.outcome())
				if !tt.signed {
					require.Equal(t, run.ApprovalOutcome{Kind: "errored", Message: "invalid or missing webhook signature"}, a.outcome())
				}
			})
		})
	}
}

func TestTooManyApprovalsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run.New("r", run.Config{Buffer: 8})
		defer r.End(run.Ending{How: run.Completed})
		var d Desk
		for range MaxPendingOfRun {
			_, err := d.enter(r.Context(), "r", true)
			require.NoError(t, err)
		}
		got, err := Gate{Rules: Rules{"*"}, Desk: &d, RequestID: "r", Route: Conversation{Timeout: time.Minute}}.Ask(r.Context(), r, llm.ToolCall{Name: "book"})
		require.NoError(t, err)
		require.Equal(t, agent.Permission{Told: "tool call blocked: approval channel error: too many approvals are pending", Failed: true}, got)
	})
}
