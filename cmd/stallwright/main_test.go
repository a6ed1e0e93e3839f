package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/scenarios"
	"github.com/stallwright/stallwright/scenarios/mutants"
)

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){
		"stallwright": func() { os.Exit(newCLI().run(context.Background(), os.Args[1:])) },
		"stub":        func() { os.Exit(newStub().run(context.Background(), os.Args[1:])) },
		"ask":         ask,
	})
}

// leakChecked looks for goroutines that the tests left.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// newCLI is the command as main makes it, but for its own path: that of a test binary would run the tests again.
func newCLI() *cli {
	c := &cli{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, lookup: os.LookupEnv, environ: os.Environ, library: builtin(),
		executable: func() (string, error) { return exec.LookPath("stallwright") },
	}
	c.player = (*cli).newPlayer
	return c
}

// newStub is the command with a small library and a player that plays nothing.
func newStub() *cli {
	c := newCLI()
	c.library = stubLibrary()
	c.player = func(c *cli, _ plan) (harness.Player, error) {
		return &stubPlayer{library: c.library, verdicts: os.Getenv("STUB"), mood: os.Getenv("STUB_PLAYER")}, nil
	}
	if os.Getenv("STUB_START") == "wait" { // for a signal, before anything is chosen
		received := make(chan os.Signal, 1)
		signal.Notify(received, syscall.SIGINT, syscall.SIGTERM)
		c.environ = func() []string {
			fmt.Fprintln(os.Stderr, "starting up")
			<-received
			return os.Environ()
		}
	}
	return c
}

func stubLibrary() library {
	check := func(name, guarantee string) harness.Check {
		return harness.Check{Name: name, Guarantee: guarantee, Noun: "thing"}
	}
	return library{
		canary: scenarios.Canary(),
		scenarios: []harness.Scenario{
			{
				ID: "first-chunk/fires", Claim: "a silent model is given up at the window", Needs: []harness.Feature{harness.Streaming},
				Variants: []harness.Variant{{Name: "headers"}, {Name: "no-headers", Needs: []harness.Feature{harness.ErrorFrames}}},
				Checks:   []harness.Check{check("at-the-window", "first-chunk.fires"), check("aborts", "cancel.aborts")},
			},
			{ID: "cancel/leaves", Claim: "a client that leaves takes the model call with it", Checks: []harness.Check{check("aborts", "cancel.aborts")}},
			{ID: "size/bound", Claim: "a long header is refused", Checks: []harness.Check{check("refused", "size.bound")}},
		},
		guarantees: []verdict.Guarantee{
			{ID: "first-chunk.fires", Level: verdict.Must, Source: verdict.Seed, Statement: "A silent model is given up.", Why: "The user waits."},
			{ID: "cancel.aborts", Level: verdict.Must, Source: verdict.Seed, Statement: "A cancelled call ends."},
			{ID: "size.bound", Level: verdict.Should, Source: verdict.Field, Statement: "Headers have a bound."},
			{ID: "leak.goroutines", Level: verdict.Must, Source: verdict.Seed, Statement: "No goroutine is left."},
			{ID: "approval.asked", Level: verdict.Must, Source: verdict.Protocol, Statement: "A person is asked."},
		},
		seed: []scenarios.Paragraph{{ID: "timeouts.first-chunk", Title: "First chunk timeout", Guarantees: []string{"first-chunk.fires"}}},
		mutants: func() ([]mutants.Mutant, error) {
			return []mutants.Mutant{{ID: "deaf-clock", Breaks: []string{"first-chunk.fires"}, Why: "The window never ends."}}, nil
		},
	}
}

// stubPlayer gives the verdicts it is told: CASE=verdict with commas between, pass for the others.
type stubPlayer struct {
	library  library
	verdicts string
	mood     string
}

func (p *stubPlayer) Run(ctx context.Context, jobs []harness.Job, w harness.Watch) error {
	told := map[string]verdict.Verdict{}
	for _, pair := range strings.Split(p.verdicts, ",") {
		id, v, _ := strings.Cut(pair, "=")
		told[id] = verdict.Verdict(v)
	}
	for i, j := range jobs {
		if ctx.Err() != nil {
			return nil
		}
		if i == 1 {
			switch p.mood {
			case "target":
				return &harness.TargetError{Subject: "starting the server under test", Hint: "start it by hand", Err: errors.New("it exited \x1b[31mearly")}
			case "error":
				return errors.New("worker: no such thing")
			case "panic":
				panic("the player fell")
			case "lose":
				return nil
			case "wait":
				fmt.Fprintln(os.Stderr, "waiting")
				<-ctx.Done()
				return nil
			case "deaf":
				fmt.Fprintln(os.Stderr, "waiting")
				select {} // it ends with the process
			}
		}
		w.Started(j)
		c, ok := p.library.finder()(j.Case)
		if !ok {
			return fmt.Errorf("no case %s", j.Case)
		}
		w.Played(j, stubResult(c, j, told[j.Case]))
	}
	return nil
}

func stubResult(c harness.Case, j harness.Job, v verdict.Verdict) verdict.Result {
	if v == "" {
		v = verdict.Pass
	}
	r := verdict.Result{
		Case: c.ID(), Claim: c.Scenario.Claim, Verdict: v, Seed: j.Seed, Virtual: 90 * time.Second, Wall: time.Millisecond, Events: 3,
	}
	for _, check := range c.Checks() {
		f := verdict.Finding{
			Check: c.ID() + "::" + check.Name, Guarantee: check.Guarantee, Verdict: v, Promised: "it ends at 90 s", Observed: "it ended",
		}
		switch v {
		case verdict.Fail:
			f.Signature, f.Observed = "deadline/thing", "it had not ended \x1b[2J"
			f.Evidence = verdict.Evidence{Kind: verdict.Deadline, At: 90 * time.Second, Limit: 90 * time.Second}
			f.Excerpt = []verdict.Moment{{At: time.Second, Lane: "client", Ref: "r1", Kind: "request"}}
		case verdict.Inconclusive:
			f.Observed, r.Why = "the fault never struck", "the fault never struck"
		case verdict.Skip:
			f.Reason, r.Reason = verdict.NotClaimed, verdict.NotClaimed
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

// ask is a client for scripts: ask URL [HOST] posts a Chat Completions request and prints status and body.
func ask() {
	body := strings.NewReader(`{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
	req, err := http.NewRequest(http.MethodPost, os.Args[1], body)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(os.Args) > 2 {
		req.Host = os.Args[2]
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(resp.StatusCode)
	io.Copy(os.Stdout, resp.Body)
	os.Exit(0)
}

func TestScripts(t *testing.T) {
	setup := func(env *testscript.Env) error {
		env.Setenv("GORACE", "atexit_sleep_ms=0") // each of the many processes would wait for a second
		return nil
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: setup, RequireExplicitExec: true, RequireUniqueNames: true, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		// exits CODE PROGRAM ARG... runs a program and wants that exit code.
		"exits": func(ts *testscript.TestScript, neg bool, args []string) {
			err := ts.Exec(args[1], args[2:]...)
			got := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				got = exit.ExitCode()
			} else if err != nil {
				ts.Fatalf("%v", err)
			}
			if fmt.Sprint(got) != args[0] {
				ts.Fatalf("%s exited with %d, want %s", strings.Join(args[1:], " "), got, args[0])
			}
		},
	}})
}
