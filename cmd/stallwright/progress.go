package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports/text"
)

// redraw is the pause between two drawings of the status line.
const redraw = 100 * time.Millisecond

// progress shows on one stream how a run goes: live as one line that is drawn anew, plain as lines that stay. It is
// safe for concurrent use.
type progress struct {
	w         io.Writer
	style     text.Style
	mode      string        // live, plain or none
	heartbeat time.Duration // of plain
	width     int           // of the terminal
	level     func(guarantee string) verdict.Level
	header    string

	quit, ended chan struct{}

	mu    sync.Mutex
	tally tally
	drawn bool // the status line is on the screen
}

// tally is what is known of a run so far.
type tally struct {
	start   time.Time
	total   int
	done    int
	counts  map[verdict.Verdict]int
	running []underway // the longest first
}

type underway struct {
	job   harness.Job
	since time.Time
}

func (s *session) newProgress() *progress {
	mode := s.flags.progress
	if mode == "auto" {
		mode = "plain"
		if isTerminal(s.cli.stderr) && s.cli.getenv("CI") == "" && s.cli.getenv("TERM") != "dumb" {
			mode = "live"
		}
	}
	width, err := strconv.Atoi(s.cli.getenv("COLUMNS"))
	if err != nil || width < 20 {
		width = 80
	}
	p := &progress{
		w: s.cli.stderr, style: s.cli.style(s.cli.stderr, s.flags.color, s.flags.ascii), mode: mode, heartbeat: s.flags.heartbeat,
		width: width, level: s.cli.library.level, quit: make(chan struct{}), ended: make(chan struct{}),
		tally: tally{total: s.total, counts: map[verdict.Verdict]int{}},
		header: fmt.Sprintf("stallwright %s  %s  %s time  %s  %d at once  seed %d",
			s.run.Version, s.run.Server, s.run.Time, plural(s.total/s.flags.repeat, "case"), s.plan.jobs, s.run.Seed),
	}
	if s.flags.repeat > 1 {
		p.header += fmt.Sprintf("  each %d times", s.flags.repeat)
	}
	if s.flags.quiet {
		p.mode, p.header = "none", ""
	}
	return p
}

// begin writes the first line and starts to show how it goes, until finish.
func (p *progress) begin() {
	p.tally.start = time.Now()
	if p.header != "" {
		p.say(p.header)
	}
	every := p.heartbeat
	switch p.mode {
	case "live":
		every = redraw
	case "none":
		close(p.ended)
		return
	}
	go func() {
		defer close(p.ended)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.tick()
			case <-p.quit:
				return
			}
		}
	}()
}

// finish takes the status line away. Nothing is drawn after it.
func (p *progress) finish() {
	close(p.quit)
	<-p.ended
	p.above(func() {})
}

func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode == "plain" {
		fmt.Fprintln(p.w, p.tally.beat(p.style, time.Now()))
		return
	}
	fmt.Fprint(p.w, "\r", p.tally.status(p.style, p.width), "\x1b[K")
	p.drawn = true
}

// above writes lines where the status line stands; that comes again with the next tick.
func (p *progress) above(write func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
	write()
}

// say writes a line of our own.
func (p *progress) say(line string) {
	p.above(func() { fmt.Fprintln(p.w, p.style.Escape(line)) })
}

func (p *progress) started(j harness.Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tally.running = append(p.tally.running, underway{j, time.Now()})
}

// played counts a result, unless it is no part of the selection, and shows it if it did not pass.
func (p *progress) played(j harness.Job, r verdict.Result, counts bool) {
	p.mu.Lock()
	p.tally.running = slices.DeleteFunc(p.tally.running, func(u underway) bool { return u.job == j })
	if counts {
		p.tally.done++
		p.tally.counts[r.Verdict]++
	}
	p.mu.Unlock()
	if p.mode != "none" && r.Verdict != verdict.Pass && r.Verdict != verdict.Skip {
		p.above(func() { p.style.Result(p.w, r, p.level) })
	}
}

// status is the live line, cut to fit a terminal.
func (t tally) status(style text.Style, width int) string {
	marks := []struct {
		verdict      verdict.Verdict
		glyph, ascii string
	}{
		{verdict.Pass, "✓", "+"}, {verdict.Fail, "✗", "x"}, {verdict.Inconclusive, "?", "?"}, {verdict.Skip, "–", "-"}, {verdict.Error, "!", "!"},
	}
	line := fmt.Sprintf("%d of %d ", t.done, t.total)
	for _, m := range marks {
		if m.verdict == verdict.Error && t.counts[m.verdict] == 0 {
			continue // nobody should have to know what it means
		}
		glyph := m.glyph
		if style.ASCII {
			glyph = m.ascii
		}
		line += fmt.Sprintf(" %s %d", glyph, t.counts[m.verdict])
	}
	if len(t.running) > 0 {
		line += "   " + t.running[0].job.Case
	}
	if len(t.running) > 1 {
		line += fmt.Sprintf(" +%d", len(t.running)-1)
	}
	// The last column stays free: a line that fills it wraps on some terminals.
	for utf8.RuneCountInString(line) >= width {
		_, size := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-size]
	}
	return line
}

// beat is the line that says, in a log, that all is well.
func (t tally) beat(style text.Style, now time.Time) string {
	dots := "…"
	if style.ASCII {
		dots = "..."
	}
	s := int(now.Sub(t.start).Round(time.Second).Seconds())
	line := fmt.Sprintf("%s %02d:%02d:%02d  %d of %d, %d running", dots, s/3600, s/60%60, s%60, t.done, t.total, len(t.running))
	if len(t.running) > 0 {
		u := t.running[0]
		line += fmt.Sprintf(", longest: %s (%s)", u.job.Case, text.Duration(now.Sub(u.since).Round(time.Second)))
	}
	return line
}
