package text

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// styled draws in the three styles, one below another; the escape of a colour is written as \e.
func styled(t *testing.T, draw func(s Style, b *bytes.Buffer) error) string {
	t.Helper()
	var all strings.Builder
	for _, c := range []struct {
		name  string
		style Style
	}{{"utf-8", Style{}}, {"ascii", Style{ASCII: true}}, {"colour", Style{Color: true}}} {
		var b bytes.Buffer
		require.NoError(t, draw(c.style, &b))
		if !c.style.Color {
			require.NotContains(t, b.String(), "\x1b")
		}
		if c.style.ASCII {
			for _, r := range b.String() {
				require.Less(t, r, rune(utf8.RuneSelf))
			}
		}
		all.WriteString("== " + c.name + "\n" + strings.ReplaceAll(b.String(), "\x1b", `\e`))
	}
	return all.String()
}

func s(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

const hostile = "\x1b[2J\x1b]8;;http://x\x07 \u202eevil\u2066 a\u200bb \x9b31m \u009b \xff\xfe\r\n✗ VIOLATED\u2028]]><x>&\x00\x7f"

var deadline = verdict.Finding{
	Check: "cancel/disconnect-mid-stream@anthropic::provider-abort", Guarantee: "cancel.propagates-to-provider",
	Verdict: verdict.Fail, Signature: "deadline/connection-open",
	Promised: "the provider request is aborted within 2 s of the client going away",
	Observed: "connection #2 still open 2 s later; it closed after 30.65 s, and 4 more chunks were read",
	Evidence: verdict.Evidence{Kind: verdict.Deadline, At: s(4.3), ArmedBy: 118, Limit: s(2), Measured: s(30.65), Found: "connection #2 still open"},
	Excerpt: []verdict.Moment{
		{At: s(2.1), Lane: "provider", Ref: "#2", Kind: "stall", Detail: "30 s, after chunk 3"},
		{At: s(2.3), Lane: "client", Kind: "left", Detail: "closes the connection"},
		{At: s(2.5), Lane: "mcp", Ref: "s1", Kind: "closed"},
		{At: s(32.95), Lane: "provider", Ref: "#2", Kind: "closed"},
	},
}

func blocks() map[string]Failure {
	again := "stallwright run cancel/disconnect-mid-stream@anthropic --seed 4182"
	forbidden := verdict.Finding{
		Check: "approval/late@openai::not-started", Guarantee: "approval.no-start-before-decision", Verdict: verdict.Fail,
		Signature: "forbidden/tool-started", Promised: "no tool starts before its approval", Observed: "the tool started 1.2 s early",
		Evidence: verdict.Evidence{Kind: verdict.Forbidden, At: s(3), Because: []int{3}},
		Excerpt: []verdict.Moment{
			{At: s(1), Lane: "approver", Kind: "asked"}, {At: s(3), Lane: "mcp", Ref: "c1", Kind: "call", Detail: "delete", Here: true},
			{At: s(4.2), Lane: "approver", Kind: "approved"},
		},
	}
	count := verdict.Finding{
		Check: "stream/cut@openai::one-ending", Guarantee: "run.one-ending", Verdict: verdict.Fail, Signature: "count/two-terminals",
		Promised: "one terminal frame", Observed: "two terminal frames",
		Evidence: verdict.Evidence{Kind: verdict.Count, At: s(75), Because: []int{4, 20}},
	}
	for i := range 20 {
		count.Excerpt = append(count.Excerpt, verdict.Moment{
			At: s(60 + float64(i)), Lane: "client", Ref: "r1", Kind: "text", Detail: "chunk", Here: i == 4 || i == 15})
	}
	doubt := verdict.Finding{
		Check: "approvals/late-decision@openai::tool-not-started", Guarantee: "approval.no-start-before-decision", Verdict: verdict.Inconclusive,
		Promised: "no tool starts before its approval", Observed: "the decision never reached the server",
		Evidence: verdict.Evidence{Kind: verdict.Forbidden, At: s(9), Found: "nothing"},
		Excerpt:  []verdict.Moment{{At: s(1), Lane: "approver", Kind: "asked"}},
	}
	broke := verdict.Finding{Check: "stream/cut@openai", Verdict: verdict.Error, Promised: "a cut stream ends in an error",
		Observed: "the scenario panicked: index out of range\ngoroutine 7"}
	h := deadline
	h.Check, h.Guarantee, h.Promised, h.Observed = "a/b::"+hostile, "a."+hostile, hostile, strings.Repeat(hostile, 20)
	h.Evidence.Found = hostile
	h.Excerpt = []verdict.Moment{
		{At: s(1), Lane: hostile, Ref: hostile, Kind: hostile, Detail: hostile},
		{At: s(1), Lane: "client", Kind: "text", Detail: "漢字 é"},
	}
	should := forbidden
	should.Excerpt = nil
	long := count
	long.Signature, long.Excerpt = "", nil
	for i := range 20 {
		long.Excerpt = append(long.Excerpt, verdict.Moment{At: s(70 + float64(i)), Lane: "client", Kind: "text"})
	}
	return map[string]Failure{
		"deadline":     {Finding: deadline, Level: verdict.Must, Again: again, Timeline: "out/report.html#c=x"},
		"forbidden":    {Finding: forbidden, Level: verdict.Must, Again: again},
		"count":        {Finding: count, Level: verdict.Must, Again: again},
		"crowded":      {Finding: long, Level: verdict.Must, Again: again, Timeline: "report.html"},
		"should":       {Finding: should, Level: verdict.Should, Again: again},
		"inconclusive": {Finding: doubt, Level: verdict.Must, Again: again},
		"error":        {Finding: broke, Level: verdict.Must, Again: again},
		"hostile":      {Finding: h, Level: verdict.Must, Again: again},
	}
}

func TestFailureBlocks(t *testing.T) {
	for name, f := range blocks() {
		t.Run(name, func(t *testing.T) {
			golden(t, name, styled(t, func(s Style, b *bytes.Buffer) error {
				err := s.Failure(b, f)
				require.LessOrEqual(t, strings.Count(b.String(), "\n"), blockLines)
				require.True(t, utf8.Valid(b.Bytes()))
				return err
			}))
		})
	}
}

func TestFailureTellsThatItCouldNotWrite(t *testing.T) {
	require.Error(t, Style{}.Failure(full{}, Failure{}))
	require.Error(t, Style{}.Closing(full{}, reports.Report{}, Closing{}))
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func report(run reports.Run, results ...verdict.Result) reports.Report {
	run.ID, run.Seed = "7f3c5a01", 4182
	return reports.New(run, []verdict.Guarantee{
		{ID: "cancel.propagates-to-provider", Level: verdict.Must}, {ID: "b.must", Level: verdict.Must}, {ID: "c.must", Level: verdict.Must},
		{ID: "d.should", Level: verdict.Should}, {ID: "e.none", Level: verdict.Must}, {ID: "f.none", Level: verdict.Should},
	}, map[string]bool{"b.must": true, "c.must": true}, results)
}

func finding(id, guarantee string, v verdict.Verdict, reason verdict.Reason) verdict.Finding {
	return verdict.Finding{Check: id + "::x", Guarantee: guarantee, Verdict: v, Reason: reason, Observed: "so"}
}

func TestClosingLines(t *testing.T) {
	virtual := reports.Run{Time: "virtual", Wall: s(3.1)}
	mixed := []verdict.Result{
		{Case: "cancel/x", Verdict: verdict.Fail, Findings: []verdict.Finding{deadline}, Virtual: 95 * time.Hour},
		{Case: "cancel/x", Verdict: verdict.Fail, Findings: []verdict.Finding{deadline}, Virtual: time.Hour, Attempt: 2},
		{Case: "b/x", Verdict: verdict.Fail, Findings: []verdict.Finding{
			finding("b/x", "b.must", verdict.Pass, ""), finding("b/x", "d.should", verdict.Fail, ""),
			finding("b/y", "b.must", verdict.Skip, verdict.Unavailable), finding("b/z", "b.must", verdict.Skip, verdict.NotClaimed),
			finding("b/w", "b.must", verdict.Skip, verdict.Unavailable)}},
		{Case: "c/x", Verdict: verdict.Error, Why: "the worker died"},
		{Case: "c/y", Verdict: verdict.Inconclusive, Findings: []verdict.Finding{finding("c/y", "c.must", verdict.Inconclusive, "")}},
	}
	good := verdict.Result{Case: "b/x", Verdict: verdict.Pass, Findings: []verdict.Finding{finding("b/x", "b.must", verdict.Pass, "")}}
	all := []verdict.Result{good, {Case: "c/x", Verdict: verdict.Pass, Findings: []verdict.Finding{
		finding("c/x", "c.must", verdict.Pass, ""), finding("c/x", "cancel.propagates-to-provider", verdict.Pass, "")}}}
	strict := virtual
	strict.Strict = true
	stopped := reports.Run{Time: "real", Wall: 232 * time.Second, Stopped: "SIGINT"}
	for _, c := range []struct {
		name    string
		report  reports.Report
		closing Closing
	}{
		{"closing-mixed", report(virtual, mixed...), Closing{Written: []string{"out/results.json", "junit.xml"}}},
		{"closing-strict", report(strict, mixed...), Closing{Profile: "full"}},
		{"closing-report-only", report(virtual, mixed[0]), Closing{ReportOnly: true}},
		{"closing-met", report(reports.Run{Time: "real", Wall: s(52.31)}, all...), Closing{}},
		{"closing-stopped", report(stopped, good), Closing{}},
		{"closing-nothing", report(virtual), Closing{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name, styled(t, func(s Style, b *bytes.Buffer) error { return s.Closing(b, c.report, c.closing) }))
		})
	}
}

func TestProgressLines(t *testing.T) {
	r := verdict.Result{Case: "cancel/x", Verdict: verdict.Fail, Findings: []verdict.Finding{
		deadline, finding("b/x", "d.should", verdict.Fail, ""), finding("b/x", "b.must", verdict.Pass, ""),
		finding("b/y", "b.must", verdict.Inconclusive, ""), finding("b/y", "b.must", verdict.Skip, verdict.Blocked)}}
	broke := verdict.Result{Case: "c/x", Verdict: verdict.Error, Why: hostile}
	golden(t, "progress", styled(t, func(s Style, b *bytes.Buffer) error {
		level := report(reports.Run{}).Level
		return errors.Join(s.Result(b, r, level), s.Result(b, broke, level),
			s.Passed(b, verdict.Result{Case: "a/b@c", Verdict: verdict.Pass}),
			s.Passed(b, verdict.Result{Case: "a/b@d", Verdict: verdict.Skip, Reason: verdict.Unavailable, Why: "no process"}))
	}))
}

func TestEscapeShowsWhatCannotBeSeen(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text stays", `a "b" \ é 漢 ✗`, `a "b" \ é 漢 ✗`},
		{"C0 controls", "\x00\x07\x1b[31m\n\r\t\x7f", `\x00\x07\x1b[31m\n\r\t\x7f`},
		{"C1 controls", "\u0085\u009b", `\u0085\u009b`},
		{"bytes that are not UTF-8", "a\xff\xc3", `a\xff\xc3`},
		{"a real replacement character", "\ufffd", "\ufffd"},
		{"bidirectional controls", "\u202a\u202e\u2066\u2069\u200e\u200f\u061c", `\u202a\u202e\u2066\u2069\u200e\u200f\u061c`},
		{"invisible characters", "\u200b\u200d\ufeff\u2060\u00ad\u3164\ufe0f\u034f", `\u200b\u200d\ufeff\u2060\u00ad\u3164\ufe0f\u034f`},
		{"line separators and odd spaces", "\u2028\u2029\u00a0\u3000", `\u2028\u2029\u00a0\u3000`},
		{"tags and private use", "\U000e0041\ue000", `\U000e0041\ue000`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, Escape(c.in))
			require.Equal(t, c.want, Escape(Escape(c.in)))
		})
	}
}

func TestEscapeCuts(t *testing.T) {
	exact := strings.Repeat("é", EscapeLimit)
	require.Equal(t, exact, Escape(exact))
	require.Equal(t, strings.Repeat("é", EscapeLimit-1)+"…", Escape(exact+"é"))
	require.Equal(t, "aaa…", escape("aaa\x1bbb", 6, false), "an escape is not cut in two")
	require.Equal(t, `ab...`, escape("abcdef", 5, true))
	require.Equal(t, `\u00e9`, Style{ASCII: true}.Escape("é"))
	require.Equal(t, EscapeLimit, utf8.RuneCountInString(Escape(strings.Repeat("a", 1<<20))))
}

func FuzzEscape(f *testing.F) {
	f.Add(hostile, 10)
	f.Fuzz(func(t *testing.T, in string, limit int) {
		limit = 8 + max(0, limit%100)
		for _, ascii := range []bool{false, true} {
			out := escape(in, limit, ascii)
			require.True(t, utf8.ValidString(out))
			require.LessOrEqual(t, utf8.RuneCountInString(out), limit)
			for _, r := range out {
				require.True(t, shown(r) && (!ascii || r < utf8.RuneSelf), "%q", out)
			}
		}
	})
}

func TestDurations(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0: "0s", 840 * time.Millisecond: "840ms", 1234567: "1.23ms", 999: "999ns", s(1.234): "1.23s", s(30.654): "30.65s", s(2): "2s",
		s(59.999): "1m", s(90): "1m30s", s(90.4): "1m30s", time.Hour: "1h", 90 * time.Minute: "1h30m", s(3605): "1h0m5s", -s(1.5): "-1.5s",
	} {
		require.Equal(t, want, Duration(in))
	}
	for in, want := range map[time.Duration]string{s(4.3): "+4.300", 0: "+0.000", s(32.9504): "+32.950", time.Hour: "+3600.000"} {
		require.Equal(t, want, Moment(in))
	}
	for in, want := range map[time.Duration]string{
		s(3.1): "3.1 s", s(52.31): "52.3 s", s(59.97): "1m", s(232): "3m52s", 0: "0 s", s(0.0123): "0.012 s",
	} {
		require.Equal(t, want, clock(in))
	}
	for in, want := range map[time.Duration]string{
		96*time.Hour + time.Minute: "96 h", 90 * time.Minute: "1 h 30 min", 2 * time.Hour: "2 h", 12 * time.Minute: "12 min", s(8): "8 s", s(3599): "1 h",
	} {
		require.Equal(t, want, total(in))
	}
}

func TestColorFor(t *testing.T) {
	for _, c := range []struct {
		name, flag string
		tty        bool
		env        map[string]string
		want       bool
	}{
		{"a terminal has colour", "auto", true, nil, true},
		{"a pipe has none", "auto", false, nil, false},
		{"the flag comes before NO_COLOR", "always", false, map[string]string{"NO_COLOR": "1"}, true},
		{"never is never", "never", true, map[string]string{"FORCE_COLOR": "1"}, false},
		{"NO_COLOR comes before FORCE_COLOR", "auto", true, map[string]string{"NO_COLOR": "1", "FORCE_COLOR": "1"}, false},
		{"FORCE_COLOR comes before a dumb terminal", "auto", false, map[string]string{"FORCE_COLOR": "1", "TERM": "dumb"}, true},
		{"CLICOLOR_FORCE forces", "auto", false, map[string]string{"CLICOLOR_FORCE": "1"}, true},
		{"a force of 0 forces nothing", "auto", false, map[string]string{"FORCE_COLOR": "0"}, false},
		{"a dumb terminal comes before GitHub", "auto", true, map[string]string{"TERM": "dumb", "GITHUB_ACTIONS": "true"}, false},
		{"GitLab has colour without a terminal", "auto", false, map[string]string{"GITLAB_CI": "true"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, ColorFor(c.flag, c.tty, func(name string) string { return c.env[name] }))
		})
	}
}

func TestASCIIFor(t *testing.T) {
	for _, c := range []struct {
		name string
		flag bool
		env  map[string]string
		want bool
	}{
		{"no locale is UTF-8", false, nil, false},
		{"the flag says so", true, map[string]string{"LANG": "en_US.UTF-8"}, true},
		{"a UTF-8 locale", false, map[string]string{"LANG": "C.utf8"}, false},
		{"the C locale", false, map[string]string{"LANG": "C"}, true},
		{"LC_ALL comes before LC_CTYPE and LANG", false, map[string]string{"LC_ALL": "C", "LC_CTYPE": "C.UTF-8", "LANG": "C.UTF-8"}, true},
		{"LC_CTYPE comes before LANG", false, map[string]string{"LC_CTYPE": "C.UTF-8", "LANG": "C"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, ASCIIFor(c.flag, func(name string) string { return c.env[name] }))
		})
	}
}
