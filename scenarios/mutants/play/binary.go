package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/scenarios/mutants"
)

// binary is stallwright with the mutants in it.
type binary struct {
	path string
	dir  string // where the folders of its processes are made, outside of any module
}

// playing is one process that has ended.
type playing struct {
	results []result
	exit    int
	wall    time.Duration
	stderr  string // the end of it
	trouble string // why there are no results to judge, or empty
}

// Bounds of what is kept of a process: a report of all scenarios has some megabytes, and of the other output only the
// end is shown.
const (
	maxReport = 64 << 20
	maxStderr = 16 << 10
)

// runArgs is the command line that plays patterns, in real time or in virtual.
func runArgs(patterns []string, time, format string) []string {
	return slices.Concat([]string{"run"}, patterns, []string{"--time", cmp.Or(time, "virtual"), "--format", format, "-j", "1"})
}

// play plays patterns on the mutant with this ID, or on the whole server when it is empty, in the time of a mutant, for at
// most limit.
func (b binary) play(ctx context.Context, id string, patterns []string, in string, limit time.Duration) playing {
	start := time.Now()
	out, p := b.start(ctx, id, limit, runArgs(patterns, in, "json")...)
	p.wall = time.Since(start)
	if p.trouble != "" {
		return p
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		p.trouble = fmt.Sprintf("it exited with %d and without results: %v", p.exit, err)
	} else if len(r.Results) == 0 {
		p.trouble = fmt.Sprintf("it exited with %d and judged nothing", p.exit)
	}
	p.results = r.Results
	return p
}

// guarantee is an entry of the catalogue.
type guarantee struct {
	ID        string            `json:"id"`
	Scenarios []json.RawMessage `json:"scenarios"`
}

// guarantees asks the binary for its catalogue.
func (b binary) guarantees(ctx context.Context, limit time.Duration) ([]guarantee, error) {
	out, p := b.start(ctx, "", limit, "list", "--guarantees", "--json")
	if p.trouble == "" && p.exit != 0 {
		p.trouble = fmt.Sprintf("it exited with %d", p.exit)
	}
	var catalogue struct {
		Guarantees []guarantee `json:"guarantees"`
	}
	if p.trouble == "" {
		if err := json.Unmarshal(out, &catalogue); err != nil {
			p.trouble = err.Error()
		} else if len(catalogue.Guarantees) == 0 {
			p.trouble = "it names no guarantee"
		}
	}
	if p.trouble != "" {
		var t strings.Builder
		fmt.Fprintf(&t, "stallwright list --guarantees --json: %s\n", p.trouble)
		writeTail(&t, p.stderr)
		return nil, errors.New(t.String())
	}
	return catalogue.Guarantees, nil
}

// start runs the binary to its end in an empty folder, so that no configuration, baseline or earlier run is found and
// nothing is left behind, and returns what it printed.
func (b binary) start(ctx context.Context, id string, limit time.Duration, args ...string) ([]byte, playing) {
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		return nil, playing{trouble: err.Error()}
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, args...)
	cmd.Dir = dir
	// Settings of the person who starts this must not change what is judged.
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool { return strings.HasPrefix(v, "STALLWRIGHT_") })
	cmd.Env = append(cmd.Env, mutants.Variable+"="+id)
	stdout, stderr := &head{limit: maxReport}, &tail{limit: maxStderr}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = 2 * time.Second // for a worker that keeps the pipes open
	killWithChildren(cmd)
	err = cmd.Run()

	p := playing{stderr: stderr.String()}
	exited, _ := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		p.trouble = fmt.Sprintf("it had not ended after %s", limit)
	case err != nil && (exited == nil || exited.ExitCode() < 0):
		p.trouble = err.Error()
	case stdout.over:
		p.trouble = fmt.Sprintf("it printed more than %d MB", maxReport>>20)
	case exited != nil:
		p.exit = exited.ExitCode()
	}
	return stdout.Bytes(), p
}

// head keeps the first bytes written to it.
type head struct {
	bytes.Buffer
	limit int
	over  bool
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.limit-h.Len())
	h.over = h.over || n < len(p)
	h.Buffer.Write(p[:n])
	return len(p), nil
}

// tail keeps the last bytes written to it.
type tail struct {
	buf   []byte
	limit int
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.limit; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.buf), "·") }
