package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports/text"
)

func TestQuoted(t *testing.T) {
	for _, test := range []struct{ name, path, want string }{
		{"a plain path", "/tmp/stallwright-1.pem", "/tmp/stallwright-1.pem"},
		{"a path with a space", "/tmp/my files/a.pem", "'/tmp/my files/a.pem'"},
		{"a path with a quote", "/tmp/it's", `'/tmp/it'\''s'`},
		{"a path with a dollar", "/tmp/$HOME", "'/tmp/$HOME'"},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, quoted(test.path)) })
	}
}

func TestPatternsSelectCases(t *testing.T) {
	all := []string{"first-chunk/fires@headers", "first-chunk/fires@no-headers", "cancel/leaves", "size/bound"}
	for _, tc := range []struct {
		name     string
		patterns []string
		want     []string
	}{
		{"no pattern selects all", nil, all},
		{"two stars select all", []string{"**"}, all},
		{"an area selects its scenarios", []string{"first-chunk"}, all[:2]},
		{"a scenario selects its cases", []string{"first-chunk/fires"}, all[:2]},
		{"a case selects itself", []string{"first-chunk/fires@headers"}, all[:1]},
		{"a star stays within a part", []string{"*/fires@no-*"}, all[1:2]},
		{"a star does not cross a part", []string{"first-chunk/*s"}, all[:2]},
		{"a check selects its case", []string{"first-chunk/fires@headers::aborts"}, all[:1]},
		{"a check without a variant selects all its cases", []string{"first-chunk/fires::aborts"}, all[:2]},
		{"a check of every case selects its case", []string{"cancel/leaves::one-terminal-frame"}, all[2:3]},
		{"a guarantee selects its evidence", []string{"cancel.aborts"}, all[:3]},
		{"a glob of guarantees selects their evidence", []string{"size.*"}, all[3:]},
		{"a guarantee that is looked at everywhere selects all", []string{"leak.goroutines"}, all},
		{"an area of guarantees only selects their evidence", []string{"leak"}, all},
		{"a guarantee without a scenario selects nothing", []string{"approval.asked"}, nil},
		{"two patterns select each case once, in order", []string{"size", "first-chunk/*", "first-chunk"}, []string{all[0], all[1], all[3]}},
		{"the canary can be asked for", []string{"canary/plain@before"}, []string{"canary/plain@before"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cases, err := stubLibrary().choose(tc.patterns)
			require.NoError(t, err)
			var got []string
			for _, c := range cases {
				got = append(got, c.ID())
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestARealRunPlaysEachCaseOnTheDialectWhoseTurnItIs(t *testing.T) {
	l := stubLibrary()
	l.dialects = []string{"openai", "gemini"}
	for _, tc := range []struct {
		name     string
		patterns []string
		want     []string
	}{
		{"the dialects take turns", nil, []string{"first-chunk/fires@headers", "first-chunk/fires@no-headers.gemini", "cancel/leaves", "size/bound@gemini"}},
		{"a choice does not change whose turn it is", []string{"size"}, []string{"size/bound@gemini"}},
		{"the ID of a scenario is that of a case too", []string{"size/bound"}, []string{"size/bound", "size/bound@gemini"}},
		{"and so is one whose turn it is not", []string{"first-chunk/fires@headers.gemini", "first-chunk"},
			[]string{"first-chunk/fires@headers", "first-chunk/fires@headers.gemini", "first-chunk/fires@no-headers.gemini"}},
		{"a check names its case", []string{"cancel/leaves@gemini::aborts"}, []string{"cancel/leaves@gemini"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			chosen, err := l.choose(tc.patterns)
			require.NoError(t, err)
			var got []string
			for _, c := range l.inRotation(chosen, tc.patterns) {
				got = append(got, c.ID())
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestPatternsThatMatchNothing(t *testing.T) {
	for _, tc := range []struct {
		name, pattern, hint string
	}{
		{"a typo in a scenario", "first-chunk/fire", "did you mean first-chunk/fires or first-chunk.fires?"},
		{"a typo in a guarantee", "cancel.abort", "did you mean cancel.aborts?"},
		{"letters swapped in an area", "szie", "did you mean size?"},
		{"a check that is not there", "cancel/leaves::abort", "did you mean cancel/leaves::aborts?"},
		{"a part of a word", "headers", "did you mean first-chunk/fires@headers or first-chunk/fires@no-headers?"},
		{"an expression is not a pattern", "first.chunk.(fires|not)", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := stubLibrary().choose([]string{tc.pattern})
			var wrong *trouble
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, exitUsage, wrong.code)
			require.Contains(t, wrong.Error(), tc.pattern)
			require.Contains(t, wrong.hint, tc.hint)
		})
	}
}

func TestSkipLeavesOutCasesAndChecks(t *testing.T) {
	l := stubLibrary()
	c, _ := l.finder()("first-chunk/fires@headers")
	result := func() verdict.Result { return stubResult(c, harness.Job{}, verdict.Fail) }
	for _, tc := range []struct {
		name    string
		pattern string
		whole   bool
		want    []verdict.Verdict // of at-the-window and aborts
		verdict verdict.Verdict
	}{
		{"an area takes the case", "first-chunk", true, nil, ""},
		{"the case's own ID takes it", "first-chunk/fires@headers", true, nil, ""},
		{"another variant leaves it", "first-chunk/fires@no-headers", false, []verdict.Verdict{verdict.Fail, verdict.Fail}, verdict.Fail},
		{"a guarantee takes its check only", "cancel.aborts", false, []verdict.Verdict{verdict.Fail, verdict.Skip}, verdict.Fail},
		{"a check is taken alone", "first-chunk/fires@headers::at-the-window", false, []verdict.Verdict{verdict.Skip, verdict.Fail}, verdict.Fail},
		{"all its checks take the case", "first-chunk/fires::*", true, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := l.leaveOut([]string{tc.pattern})
			require.NoError(t, err)
			require.Equal(t, tc.whole, out.whole(c))
			if tc.whole {
				return
			}
			r := out.filter(result())
			for i, want := range tc.want {
				require.Equal(t, want, r.Findings[i].Verdict)
			}
			require.Equal(t, tc.verdict, r.Verdict)
		})
	}
}

func TestExitPrecedence(t *testing.T) {
	all := ending{crashed: true, signal: "SIGTERM", violated: true, broke: true, target: true, inconclusive: true, empty: true}
	for _, tc := range []struct {
		name   string
		change func(*ending)
		want   int
	}{
		{"a crash goes before all", func(*ending) {}, 70},
		{"then a termination", func(e *ending) { e.crashed = false }, 143},
		{"or an interrupt", func(e *ending) { e.signal = "SIGINT" }, 130},
		{"then a proven violation", func(e *ending) { e.signal = "" }, 1},
		{"then trouble of stallwright", func(e *ending) { e.violated = false }, 70},
		{"then a target that is not there", func(e *ending) { e.broke = false }, 3},
		{"then no verdict", func(e *ending) { e.target = false }, 5},
		{"then an empty selection", func(e *ending) { e.inconclusive = false }, 4},
		{"else all is well", func(e *ending) { e.empty = false }, 0},
	} {
		tc.change(&all)
		require.Equal(t, tc.want, all.code(), tc.name)
	}
}

func TestProgressLines(t *testing.T) {
	start := time.Date(2026, 11, 30, 5, 0, 0, 0, time.UTC)
	busy := tally{
		start: start, total: 58, done: 31,
		counts: map[verdict.Verdict]int{verdict.Pass: 27, verdict.Fail: 2, verdict.Inconclusive: 1, verdict.Skip: 1},
		running: []underway{
			{harness.Job{Case: "shutdown/drain-with-stall"}, start.Add(40 * time.Second)}, {harness.Job{Case: "cancel/leaves"}, start.Add(50 * time.Second)},
		},
	}
	broken := tally{start: start, total: 1, done: 1, counts: map[verdict.Verdict]int{verdict.Error: 1}}
	now := start.Add(time.Hour + time.Minute)
	for _, tc := range []struct {
		name      string
		got, want string
	}{
		{"the status line", busy.status(text.Style{}, 80), "31 of 58  ✓ 27 ✗ 2 ? 1 – 1   shutdown/drain-with-stall +1"},
		{"the status line in ASCII", busy.status(text.Style{ASCII: true}, 80), "31 of 58  + 27 x 2 ? 1 - 1   shutdown/drain-with-stall +1"},
		{"the status line fits the terminal", busy.status(text.Style{}, 30), "31 of 58  ✓ 27 ✗ 2 ? 1 – 1   "},
		{"errors are shown when there are some", broken.status(text.Style{}, 80), "1 of 1  ✓ 0 ✗ 0 ? 0 – 0 ! 1"},
		{"the heartbeat", busy.beat(text.Style{}, now), "… 01:01:00  31 of 58, 2 running, longest: shutdown/drain-with-stall (1h0m20s)"},
		{"the heartbeat in ASCII", broken.beat(text.Style{ASCII: true}, now), "... 01:01:00  1 of 1, 0 running"},
	} {
		t.Run(tc.name, func(t *testing.T) { require.Equal(t, tc.want, tc.got) })
	}
}

func TestLiveProgressRedrawsOneLine(t *testing.T) {
	var out bytes.Buffer
	p := &progress{
		w: &out, mode: "live", width: 80, level: stubLibrary().level,
		tally: tally{total: 2, counts: map[verdict.Verdict]int{}}, quit: make(chan struct{}), ended: make(chan struct{}),
	}
	close(p.ended) // no ticker: the test ticks
	j := harness.Job{Case: "cancel/leaves", Attempt: 1}
	c, _ := stubLibrary().finder()(j.Case)
	p.started(j)
	p.tick()
	p.played(j, stubResult(c, j, verdict.Fail), true)
	p.tick()
	p.finish()
	require.Equal(t, "\r0 of 2  ✓ 0 ✗ 0 ? 0 – 0   cancel/leaves\x1b[K"+
		"\r\x1b[K✗ cancel/leaves::aborts   new\n"+
		"\r1 of 2  ✓ 0 ✗ 1 ? 0 – 0\x1b[K"+
		"\r\x1b[K", out.String())
}

func TestBuiltinScriptsAreSound(t *testing.T) {
	names := map[string]bool{}
	for _, s := range providerScripts() {
		require.NoError(t, s.file.Programs.Validate(), s.name)
		require.NotEmpty(t, s.about, s.name)
		require.False(t, names[s.name], "%s twice", s.name)
		names[s.name] = true
	}
}

func TestBuiltinLibraryIsWhole(t *testing.T) {
	l := builtin()
	find := l.finder()
	for _, c := range append(l.cases(), l.canaries()...) {
		found, ok := find(c.ID())
		require.True(t, ok, c.ID())
		require.Equal(t, c.ID(), found.ID())
	}
	for _, id := range l.words() {
		if _, ok := find(id); !ok {
			require.False(t, l.look(compile(id)).none(), id)
		}
	}
}

func TestAWrittenReportIsNeverAboutToFail(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	fs, err := openReports([]string{"json=a.json", "junit"})
	require.NoError(t, err)
	require.FileExists(t, "a.json")
	fs.close()
	require.NoFileExists(t, "a.json", "what the run never wrote is not left behind")
	require.NoFileExists(t, "stallwright-junit.xml")
	_, err = openReports([]string{"json=a.json", "junit=./a.json"})
	require.ErrorContains(t, err, "two reports go to ./a.json")
	require.NoFileExists(t, "a.json")
}
