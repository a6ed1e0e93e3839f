package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stallwright/stallwright/scenarios/mutants"
)

// self is how this command is started.
const self = "go run ./scenarios/mutants/play"

// session is one run of the command.
type session struct {
	stdout, stderr io.Writer
	root           string // of the module
	all            []mutants.Mutant

	jobs       int
	verbose    bool
	race       bool
	requireTwo bool
	timeout    time.Duration
	keep       string
}

// fail prints err and returns code. A line of it that is not indented is an error of its own.
func (s session) fail(code int, err error) int {
	for line := range strings.Lines(err.Error()) {
		line = printable(strings.TrimRight(line, "\n"))
		if !strings.HasPrefix(line, " ") {
			line = "play: error: " + line
		}
		fmt.Fprintln(s.stderr, line)
	}
	return code
}

// play builds, checks that the server without a mutant passes, and plays the mutants with the given IDs, or all.
func (s session) play(ctx context.Context, ids []string) int {
	selected := s.all
	if len(ids) > 0 {
		var err error
		if selected, err = mutants.Select(s.all, ids); err != nil {
			return s.fail(exitUsage, err)
		}
	}
	if len(selected) == 0 {
		return s.fail(exitUsage, errors.New("there are no mutants"))
	}
	dir, err := os.MkdirTemp("", "stallwright-mutants-")
	if err != nil {
		return s.fail(exitInternal, err)
	}
	defer os.RemoveAll(dir)
	build := cmp.Or(s.keep, filepath.Join(dir, "build"))

	beat := startHeartbeat(s.stderr)
	defer beat.stop()
	beat.say("building %d mutants", len(selected))
	var flags []string
	if s.race {
		flags = append(flags, "-race")
	}
	bin, err := mutants.Build(ctx, s.root, "./cmd/stallwright", selected, build, flags...)
	switch {
	case ctx.Err() != nil:
		return s.fail(exitStopped, errors.New("stopped while building"))
	case errors.Is(err, mutants.ErrSource):
		return s.fail(exitInternal, err)
	case err != nil:
		return s.fail(exitUsage, err)
	}

	b := binary{path: bin, dir: dir}
	catalogue, err := b.guarantees(ctx, s.timeout)
	if ctx.Err() != nil {
		return s.fail(exitStopped, errors.New("stopped before the first mutant"))
	} else if err != nil {
		return s.fail(exitInternal, err)
	}
	var known, shown []string
	for _, g := range catalogue {
		known = append(known, g.ID)
		if len(g.Scenarios) > 0 {
			shown = append(shown, g.ID)
		}
	}
	if err := mutants.Check(s.all, known); err != nil {
		return s.fail(exitUsage, err)
	}

	beat.say("playing the server without a mutant")
	if code := s.playWhole(ctx, b, selected); code != exitOK {
		return code
	}

	passed, failed := s.playAll(ctx, b, selected, beat)
	if ctx.Err() != nil {
		fmt.Fprintf(s.stderr, "play: stopped: %d of %d mutants played\n", passed+failed, len(selected))
	}
	code := exitOK
	if s.requireTwo {
		for _, line := range uncovered(shown, s.all) {
			fmt.Fprintf(s.stdout, "✗ uncovered  %s\n", line)
			code = exitSurvived
		}
	}
	beat.stop() // so that nothing is printed beside the last line
	fmt.Fprintf(s.stdout, "%d passed, %d failed\n", passed, failed)
	switch {
	case ctx.Err() != nil:
		return exitStopped
	case failed > 0:
		return exitSurvived
	}
	return code
}

// playWhole plays, on the server without a mutant, all that the mutants will play.
func (s session) playWhole(ctx context.Context, b binary, ms []mutants.Mutant) int {
	for _, in := range []string{"", mutants.Real} {
		timed := slices.DeleteFunc(slices.Clone(ms), func(m mutants.Mutant) bool { return m.Time != in })
		if len(timed) == 0 {
			continue
		}
		if code := s.playWholeIn(ctx, b, timed, in); code != exitOK {
			return code
		}
	}
	return exitOK
}

// playWholeIn plays what these mutants will play, in the time that is theirs.
func (s session) playWholeIn(ctx context.Context, b binary, ms []mutants.Mutant, in string) int {
	var patterns, guarantees []string
	for _, m := range ms {
		patterns = append(patterns, m.Patterns()...)
		guarantees = append(guarantees, m.Breaks...)
	}
	slices.Sort(patterns)
	slices.Sort(guarantees)
	patterns, guarantees = slices.Compact(patterns), slices.Compact(guarantees)
	// It plays what all mutants together play, in one process: ten times the bound of one of them.
	p := b.play(ctx, "", patterns, in, 10*s.timeout)
	if ctx.Err() != nil {
		return s.fail(exitStopped, errors.New("stopped before the first mutant"))
	}
	why := unfit(guarantees, p)
	if len(why) == 0 {
		return exitOK
	}
	var t strings.Builder
	fmt.Fprintln(&t, "the server without a mutant does not pass, so nothing can be said of the mutants")
	for _, w := range why {
		fmt.Fprintln(&t, "  "+w)
	}
	writeTail(&t, p.stderr)
	fmt.Fprintf(&t, "  replay    %s\n", s.replay("", patterns, in))
	return s.fail(exitInternal, errors.New(t.String()))
}

// outcome is a mutant that was played.
type outcome struct {
	mutant mutants.Mutant
	playing
}

// playAll plays each mutant in a process of its own, s.jobs at once, and then those of real time one after another, since
// what is seen on a busy machine proves nothing. It prints as they end, and counts the killed and the survivors. It
// returns early when ctx ends; what was in flight then is not counted.
func (s session) playAll(ctx context.Context, b binary, ms []mutants.Mutant, beat *heartbeat) (killed, survived int) {
	beat.say("0 of %d played", len(ms))
	isReal := func(m mutants.Mutant) bool { return m.Time == mutants.Real }
	virtual, real := slices.DeleteFunc(slices.Clone(ms), isReal), slices.DeleteFunc(slices.Clone(ms), func(m mutants.Mutant) bool { return !isReal(m) })
	outcomes := make(chan outcome)
	go func() {
		defer close(outcomes)
		s.playSome(ctx, b, virtual, s.jobs, outcomes)
		s.playSome(ctx, b, real, 1, outcomes)
	}()
	for o := range outcomes {
		if s.print(o) {
			killed++
		} else {
			survived++
		}
		beat.say("%d of %d played, %d survived", killed+survived, len(ms), survived)
	}
	return killed, survived
}

// playSome plays mutants, so many at once, and returns when all are played or ctx ends.
func (s session) playSome(ctx context.Context, b binary, ms []mutants.Mutant, jobs int, outcomes chan<- outcome) {
	queue := make(chan mutants.Mutant, len(ms))
	for _, m := range ms {
		queue <- m
	}
	close(queue)
	var players sync.WaitGroup
	for range min(jobs, len(ms)) {
		players.Go(func() {
			for m := range queue {
				if p := s.playOne(ctx, b, m); ctx.Err() == nil {
					outcomes <- outcome{m, p}
				}
			}
		})
	}
	players.Wait()
}

// mostTries is how often a mutant of real time is played while the machine is too busy to judge it.
const mostTries = 3

func (s session) playOne(ctx context.Context, b binary, m mutants.Mutant) (p playing) {
	for try := 0; try < mostTries && ctx.Err() == nil; try++ {
		p = b.play(ctx, m.ID, m.Patterns(), m.Time, s.timeout)
		if m.Time != mutants.Real || !undecided(p) {
			break
		}
	}
	return p
}

// print says what became of a mutant and tells whether it was killed.
func (s session) print(o outcome) (killed bool) {
	m := o.mutant
	why := missed(m, o.playing)
	word, mark := "killed", "✓"
	if len(why) > 0 {
		word, mark = "survived", "✗"
	} else if !s.verbose {
		return true
	}
	var t strings.Builder
	fmt.Fprintf(&t, "%s %s %s  %s  %d ms\n", mark, word, m.ID, strings.Join(m.Breaks, ", "), o.wall.Milliseconds())
	if len(why) > 0 {
		fmt.Fprintf(&t, "  mutant    %s, func %s: %s\n", m.File, m.Func, m.Why)
		fmt.Fprintf(&t, "  expected  a failing finding for %s, one with the signature %s, and the canary to pass\n",
			strings.Join(m.Breaks, " and for "), m.Signature)
		for _, w := range why {
			fmt.Fprintln(&t, "  but       "+w)
		}
		if len(o.results) > 0 {
			for _, line := range seen(m.Breaks, o.results) {
				fmt.Fprintln(&t, "  seen      "+line)
			}
		}
		if o.trouble != "" {
			writeTail(&t, o.stderr)
		}
		fmt.Fprintf(&t, "  replay    %s\n", s.replay(m.ID, m.Patterns(), m.Time))
	}
	io.WriteString(s.stdout, printable(t.String()))
	return len(why) == 0
}

// replay is the command line that builds again and plays one mutant, or none, by hand.
func (s session) replay(id string, patterns []string, in string) string {
	dir := filepath.ToSlash(cmp.Or(s.keep, filepath.Join("bin", "mutants")))
	build := self + " -keep " + dir
	if id != "" {
		build += " " + id
	}
	return fmt.Sprintf("%s; %s=%s %s/stallwright %s", build, mutants.Variable, id, dir, strings.Join(runArgs(patterns, in, "text"), " "))
}

// writeTail adds the last lines that the binary wrote to stderr.
func writeTail(t *strings.Builder, stderr string) {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for _, line := range lines[max(0, len(lines)-20):] {
		if line != "" {
			fmt.Fprintln(t, "  stderr    "+line)
		}
	}
}

// printable replaces control characters other than newline and tab, which could move the cursor or change the colours.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '·'
		}
		return r
	}, text)
}
