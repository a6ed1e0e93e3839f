package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/scenarios/mutants"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// core is what the mutants of these tests change.
const core = `package core

import (
	"io"
	"net"
	"os"
	"os/exec"
)

func End() string { return "pass" }

func Order() string { return "pass" }

func Signature() string { return "deadline/end" }

func Canary() string { return "pass" }

func Before() {}

// Hang never returns, in a process below this one that tells the test that it is there.
func Hang() {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		conn, err := net.Dial("tcp", os.Getenv("FIXTURE_HANG"))
		if err != nil {
			os.Exit(9)
		}
		io.Copy(io.Discard, conn)
	}
	cmd := exec.Command(os.Args[0], "worker")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Run()
	select {}
}

// Crash ends the process as a command does that has lost its way.
func Crash() {
	os.Stderr.WriteString("fatal: \x1b[31mred\n")
	os.Exit(70)
}
`

// command stands in for stallwright.
const command = `package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"fixture.test/m/lifecycle/core"
)

func main() {
	if slices.Equal(os.Args[1:], []string{"list", "--guarantees", "--json"}) {
		fmt.Println(` + "`" + `{"guarantees": [
			{"id": "stream.end", "scenarios": ["stream/end"], "mutants": []},
			{"id": "stream.order", "scenarios": ["stream/order"], "mutants": []},
			{"id": "stream.later", "scenarios": null}]}` + "`" + `)
		return
	}
	core.Before()
	args := strings.Replace(strings.Join(os.Args[1:], " "), "--time real", "--time virtual", 1)
	if !strings.HasPrefix(args, "run ") || !strings.HasSuffix(args, " --time virtual --format json -j 1") || os.Getenv("STALLWRIGHT_PROFILE") != "" {
		fmt.Fprintln(os.Stderr, "bad arguments:", args)
		os.Exit(2)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		fmt.Fprintln(os.Stderr, "the folder is not empty")
		os.Exit(2)
	}
	var cases []string
	one := func(id, guarantee, verdict string) {
		cases = append(cases, fmt.Sprintf(` + "`" + `{"case": %q, "verdict": %q, "findings": [{"check": "%s::it", "guarantee": %q, "verdict": %q, "signature": %q}]}` + "`" + `,
			id, verdict, id, guarantee, verdict, map[bool]string{true: core.Signature()}[verdict == "fail"]))
	}
	one("canary/plain@before", "canary.plain", core.Canary())
	end, order := core.End(), core.Order()
	if strings.Contains(args, "stream.end") {
		one("stream/end", "stream.end", end)
	}
	if strings.Contains(args, "stream.order") || strings.Contains(args, "stream/order") {
		one("stream/order", "stream.order", order)
	}
	one("canary/plain@after", "canary.plain", core.Canary())
	fmt.Printf(` + "`" + `{"version": 1, "results": [%s]}` + "`" + `, strings.Join(cases, ","))
	if end != "pass" || order != "pass" {
		os.Exit(1)
	}
}
`

// fixture is a session on a small module, with the given mutants.
func fixture(t *testing.T, ms ...mutants.Mutant) (s session, stdout, stderr *buffer) {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                  "module fixture.test/m\n\ngo 1.26\n",
		"lifecycle/core/core.go":  core,
		"cmd/stallwright/main.go": command,
	} {
		to := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, []byte(text), 0o644))
	}
	stdout, stderr = new(buffer), new(buffer)
	return session{stdout: stdout, stderr: stderr, root: root, all: ms, jobs: 2, timeout: 30 * time.Second}, stdout, stderr
}

// buffer is a bytes.Buffer that a heartbeat may write to as well.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func mutant(id, fn, find, replace string, breaks ...string) mutants.Mutant {
	return mutants.Mutant{ID: id, File: "lifecycle/core/core.go", Func: fn, Find: find, Replace: replace,
		Breaks: breaks, Signature: "deadline/end", Why: "It never ends."}
}

var (
	endFails   = mutant("end-fails", "End", `"pass"`, `"fail"`, "stream.end")
	endSkips   = mutant("end-skips", "End", `"pass"`, `"skip"`, "stream.end")
	orderFails = func() mutants.Mutant {
		m := mutant("order-fails", "Order", `"pass"`, `"fail"`, "stream.order")
		m.Scenario = "stream/order"
		return m
	}()
	noCanary = mutant("no-canary", "Canary", `"pass"`, `"fail"`, "stream.end")
	hangs    = mutant("hangs", "Before", "", "", "stream.end")
	crashes  = mutant("crashes", "Before", "", "", "stream.end")
)

func inReal(m mutants.Mutant) mutants.Mutant {
	m.Time = mutants.Real
	return m
}

func TestPlay(t *testing.T) {
	t.Setenv("STALLWRIGHT_PROFILE", "full") // must not reach the binary
	sign := mutant("other-sign", "End", `return "pass"`, `return "fail"`, "stream.end")
	sign.Signature = "count/end"
	unknown := endFails
	unknown.Breaks = []string{"stream.edn"}
	tests := []struct {
		name    string
		mutants []mutants.Mutant
		ids     []string
		change  func(*session)
		code    int
		stdout  []string
		stderr  []string
	}{
		{"all killed is quiet", []mutants.Mutant{endFails, orderFails}, nil, nil, exitOK, []string{"2 passed, 0 failed\n"}, nil},
		{"all killed, told at length", []mutants.Mutant{endFails, orderFails}, nil, func(s *session) { s.verbose = true }, exitOK,
			[]string{"✓ killed end-fails  stream.end  ", "✓ killed order-fails  stream.order  ", " ms\n", "\n2 passed, 0 failed\n"}, nil},
		{"survivors tell what was expected and seen", []mutants.Mutant{endFails, endSkips, noCanary, sign}, nil, nil, exitSurvived, []string{
			"✗ survived end-skips  stream.end  ",
			"  mutant    lifecycle/core/core.go, func End: It never ends.\n" +
				"  expected  a failing finding for stream.end, one with the signature deadline/end, and the canary to pass\n" +
				"  but       stream.end has no failing finding\n",
			"  seen      stream.end: 1 skip\n",
			"  replay    go run ./scenarios/mutants/play -keep bin/mutants end-skips; STALLWRIGHT_MUTANT=end-skips bin/mutants/stallwright run stream.end --time virtual --format text -j 1\n",
			"✗ survived no-canary  stream.end  ",
			"  but       canary/plain@before is fail\n",
			"✗ survived other-sign",
			"  but       no failing finding has the signature count/end\n",
			"  seen      stream.end: 1 fail deadline/end\n",
			"\n1 passed, 3 failed\n",
		}, nil},
		{"one of real time is played in it, after the others", []mutants.Mutant{inReal(endFails), inReal(endSkips), orderFails}, nil, nil, exitSurvived,
			[]string{"bin/mutants/stallwright run stream.end --time real --format text -j 1\n", "\n2 passed, 1 failed\n"}, nil},
		{"a crash is no kill, and is shown without its control characters", []mutants.Mutant{crashes}, nil, func(s *session) {
			edit(t, s.root, "lifecycle/core/core.go", "func Before() {}", "func Before() { none() }\n\nfunc none() {}")
			s.all[0].Find, s.all[0].Replace = "none()", "Crash()"
		}, exitSurvived, []string{"but       it exited with 70 and without results", "  stderr    fatal: ·[31mred\n", "0 passed, 1 failed\n"}, nil},
		{"one of several is chosen", []mutants.Mutant{endFails, noCanary}, []string{"end-fails"}, nil, exitOK, []string{"1 passed, 0 failed\n"}, nil},
		{"an unknown ID", []mutants.Mutant{endFails}, []string{"end-fail"}, nil, exitUsage, nil,
			[]string{"play: error: there is no mutant end-fail; the nearest is end-fails\n"}},
		{"no mutants at all", nil, nil, nil, exitUsage, nil, []string{"there are no mutants"}},
		{"an unknown guarantee", []mutants.Mutant{unknown}, nil, nil, exitUsage, nil,
			[]string{"play: error: scenarios/mutants/end-fails.toml: breaks: there is no guarantee stream.edn; the nearest is stream.end\n"}},
		{"mutants that do not fit the source, each told", []mutants.Mutant{
			mutant("a", "Ende", "x", "", "stream.end"), mutant("b", "End", "x", "", "stream.end"),
		}, nil, nil, exitUsage, nil, []string{
			"play: error: scenarios/mutants/a.toml: lifecycle/core/core.go has no function Ende; the nearest is End\n",
			"play: error: scenarios/mutants/b.toml: lifecycle/core/core.go: find occurs 0 times in func End, want 1",
		}},
		{"a mutant that does not compile", []mutants.Mutant{mutant("a", "End", `"pass"`, `3`, "stream.end")}, nil, nil, exitUsage, nil,
			[]string{"play: error: scenarios/mutants/a.toml: lifecycle/core/core.go:10: func End with its replacement does not compile: cannot use 3"}},
		{"a source that does not compile", []mutants.Mutant{endFails}, nil, func(s *session) {
			edit(t, s.root, "cmd/stallwright/main.go", "core.Before()", "core.Nothing()")
		}, exitInternal, nil, []string{"play: error: the source does not build", "undefined: core.Nothing"}},
		{"a server that fails without a mutant", []mutants.Mutant{endFails}, nil, func(s *session) {
			edit(t, s.root, "cmd/stallwright/main.go", "core.End()", `"fail" + core.End()[4:]`)
		}, exitInternal, nil, []string{"play: error: the server without a mutant does not pass", "  it exited with 1\n", "stream.end: stream/end::it is fail deadline/end"}},
		{"guarantees with a scenario and fewer than two mutants", []mutants.Mutant{endFails}, nil, func(s *session) { s.requireTwo = true }, exitSurvived,
			[]string{"✗ uncovered  stream.end has one mutant, end-fails, want two\n✗ uncovered  stream.order has no mutant, want two\n1 passed, 0 failed\n"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, stdout, stderr := fixture(t, append([]mutants.Mutant(nil), test.mutants...)...)
			if test.change != nil {
				test.change(&s)
			}
			require.Equal(t, test.code, s.play(t.Context(), test.ids), "%s\n%s", stdout, stderr)
			for _, want := range test.stdout {
				require.Contains(t, stdout.String(), want)
			}
			for _, want := range test.stderr {
				require.Contains(t, stderr.String(), want)
			}
			if test.code == exitOK || test.code == exitSurvived {
				require.Empty(t, stderr.String())
				require.Regexp(t, `(^|\n)\d+ passed, \d+ failed\n$`, stdout.String(), "the last line")
			}
			if !strings.Contains(test.name, "at length") {
				require.NotContains(t, stdout.String(), "✓")
			}
		})
	}
}

// edit changes a file of a fixture.
func edit(t *testing.T, root, name, from, to string) {
	t.Helper()
	at := filepath.Join(root, filepath.FromSlash(name))
	text, err := os.ReadFile(at)
	require.NoError(t, err)
	require.Contains(t, string(text), from)
	require.NoError(t, os.WriteFile(at, []byte(strings.ReplaceAll(string(text), from, to)), 0o644))
}

// hanging is a session whose only mutant hangs in a worker, and a listener that the worker dials.
func hanging(t *testing.T) (s session, ln net.Listener, stdout, stderr *buffer) {
	if runtime.GOOS == "windows" {
		t.Skip("workers end with their process group, which only Unix has")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { ln.Close() })
	t.Setenv("FIXTURE_HANG", ln.Addr().String())
	m := hangs
	m.Find, m.Replace = "none()", "Hang()"
	s, stdout, stderr = fixture(t, m)
	edit(t, s.root, "lifecycle/core/core.go", "func Before() {}", "func Before() { none() }\n\nfunc none() {}")
	return s, ln, stdout, stderr
}

func TestPlayBoundsAHang(t *testing.T) {
	s, ln, stdout, _ := hanging(t)
	s.timeout = 3 * time.Second // of wall-clock time: it also has to suffice for the server without a mutant
	ended := make(chan error, 1)
	go func() { ended <- readToEnd(ln) }()
	require.Equal(t, exitSurvived, s.play(t.Context(), nil))
	require.NoError(t, <-ended, "the worker ends too")
	require.Contains(t, stdout.String(), "  but       it had not ended after 3s\n")
	require.Contains(t, stdout.String(), "\n0 passed, 1 failed\n")
}

func TestPlayStops(t *testing.T) {
	s, ln, stdout, stderr := hanging(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	code := make(chan int, 1)
	go func() { code <- s.play(ctx, nil) }()
	conn, err := ln.Accept()
	require.NoError(t, err)
	defer conn.Close()
	cancel()
	require.Equal(t, exitStopped, <-code)
	_, err = io.Copy(io.Discard, conn)
	if err != nil {
		require.ErrorContains(t, err, "reset")
	}
	require.Equal(t, "0 passed, 0 failed\n", stdout.String())
	require.Equal(t, "play: stopped: 0 of 1 mutants played\n", stderr.String())
}

// readToEnd waits for a connection and for its end.
func readToEnd(ln net.Listener) error {
	conn, err := ln.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
		return err
	}
	return nil
}

func TestRunUsage(t *testing.T) {
	tests := []struct {
		name string
		args []string
		code int
		want string
	}{
		{"help", []string{"-h"}, exitOK, "usage: play [flags] [ID...]"},
		{"an unknown flag", []string{"-nothing"}, exitUsage, "flag provided but not defined: -nothing"},
		{"no mutants at once", []string{"-j", "0"}, exitUsage, "must be above 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			require.Equal(t, test.code, run(t.Context(), test.args, &stdout, &stderr))
			require.Contains(t, stderr.String(), test.want)
			require.Empty(t, stdout.String())
		})
	}
}
