package reports

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/harness/verdict"
)

var catalogue = []verdict.Guarantee{
	{ID: "cancel.propagates", Level: verdict.Must, Source: verdict.Seed, Statement: "a cancel reaches the provider", Why: "cost"},
	{ID: "stream.heartbeat", Level: verdict.Should, Source: verdict.Field, Statement: "a silent stream beats"},
	{ID: "cancel.latency", Level: verdict.Info, Source: verdict.Field, Statement: "how fast"},
}

var covered = map[string]bool{"cancel.propagates": true, "stream.heartbeat": true, "cancel.latency": true}

func found(guarantee string, v verdict.Verdict, reason ...verdict.Reason) verdict.Finding {
	f := verdict.Finding{Check: "a/b::" + string(v), Guarantee: guarantee, Verdict: v}
	if len(reason) > 0 {
		f.Reason = reason[0]
	}
	return f
}

func played(id string, fs ...verdict.Finding) verdict.Result {
	return verdict.Result{Case: id, Verdict: verdict.Worst(fs), Findings: fs, Attempt: 1, Virtual: time.Minute, Wall: time.Millisecond}
}

func TestStatusOfAGuarantee(t *testing.T) {
	const g = "cancel.propagates"
	pass, fail := found(g, verdict.Pass), found(g, verdict.Fail)
	doubt, broke := found(g, verdict.Inconclusive), found(g, verdict.Error)
	unclaimed, unavailable := found(g, verdict.Skip, verdict.NotClaimed), found(g, verdict.Skip, verdict.Unavailable)
	blocked, filtered := found(g, verdict.Skip, verdict.Blocked), found(g, verdict.Skip, verdict.Filtered)
	for _, c := range []struct {
		name     string
		findings []verdict.Finding
		want     Status
	}{
		{"passes hold", []verdict.Finding{pass, pass}, Holds},
		{"skips that stand aside do not keep it from holding", []verdict.Finding{pass, unclaimed, unavailable}, Holds},
		{"a blocked check keeps it from holding", []verdict.Finding{pass, blocked}, NotShown},
		{"a filtered check keeps it from holding", []verdict.Finding{pass, filtered}, NotShown},
		{"one failure violates", []verdict.Finding{pass, fail, doubt, broke}, Violated},
		{"an inconclusive check shows nothing", []verdict.Finding{pass, doubt}, NotShown},
		{"an error shows nothing", []verdict.Finding{pass, broke}, NotShown},
		{"unavailable alone is not shown", []verdict.Finding{unavailable, unclaimed}, NotShown},
		{"all not claimed is not claimed", []verdict.Finding{unclaimed, unclaimed}, NotClaimed},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(Run{}, catalogue, covered, []verdict.Result{played("a/b", c.findings...)})
			require.Equal(t, c.want, r.Guarantees[0].Status)
			require.Equal(t, NotSelected, r.Guarantees[1].Status)
			require.Equal(t, 2, r.Summary.Guarantees.NotSelected)
			require.Equal(t, 1, r.Summary.Guarantees.Should.NotSelected)
		})
	}
	r := New(Run{}, catalogue, map[string]bool{"cancel.latency": true}, nil)
	require.Equal(t, []Status{NoScenario, NoScenario, NotSelected},
		[]Status{r.Guarantees[0].Status, r.Guarantees[1].Status, r.Guarantees[2].Status})
}

func TestWhatFailsARun(t *testing.T) {
	for _, c := range []struct {
		name                          string
		strict                        bool
		result                        verdict.Result
		violated, inconclusive, broke bool
	}{
		{"a pass fails nothing", false, played("a/b", found("cancel.propagates", verdict.Pass)), false, false, false},
		{"a failed must violates", false, played("a/b", found("cancel.propagates", verdict.Fail)), true, false, false},
		{"a failed should does not", false, played("a/b", found("stream.heartbeat", verdict.Fail)), false, false, false},
		{"a failed should violates a strict run", true, played("a/b", found("stream.heartbeat", verdict.Fail)), true, false, false},
		{"an info never violates", true, played("a/b", found("cancel.latency", verdict.Fail)), false, false, false},
		{"an info is never inconclusive", true, played("a/b", found("cancel.latency", verdict.Inconclusive)), false, false, false},
		{"an inconclusive should counts", false, played("a/b", found("stream.heartbeat", verdict.Inconclusive)), false, true, false},
		{"an error breaks, whatever the level", false, played("a/b", found("cancel.latency", verdict.Error)), false, false, true},
		{"a guarantee that the catalogue lacks is a must", false, played("a/b", found("no.such", verdict.Fail)), true, false, false},
		{"an error without findings breaks", false, verdict.Result{Case: "a/b", Verdict: verdict.Error}, false, false, true},
		{"an inconclusive case without findings counts", false, verdict.Result{Case: "a/b", Verdict: verdict.Inconclusive}, false, true, false},
		{"a failed case without findings violates", false, verdict.Result{Case: "a/b", Verdict: verdict.Fail}, true, false, false},
		{"a pass without findings shows nothing", false, verdict.Result{Case: "a/b", Verdict: verdict.Pass}, false, true, false},
		{"an error that no finding tells breaks", false, verdict.Result{Case: "a/b", Verdict: verdict.Error,
			Findings: []verdict.Finding{found("cancel.propagates", verdict.Pass)}}, false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(Run{Strict: c.strict}, catalogue, covered, []verdict.Result{c.result})
			require.Equal(t, c.violated, r.Violated())
			require.Equal(t, c.inconclusive, r.Inconclusive())
			require.Equal(t, c.broke, r.Broke())
		})
	}
}

func TestSummaryCountsCasesTrialsAndChecks(t *testing.T) {
	again := played("b/c", found("cancel.propagates", verdict.Fail), found("stream.heartbeat", verdict.Skip, verdict.Blocked))
	again.Attempt = 2
	results := []verdict.Result{
		again,
		played("b/c", found("cancel.propagates", verdict.Fail)),
		played("a/b", found("cancel.propagates", verdict.Pass), found("cancel.latency", verdict.Pass)),
		{Case: "a/z", Verdict: verdict.Error, Why: "the worker died", Attempt: 1},
	}
	r := New(Run{Wall: 1500 * time.Millisecond}, catalogue, covered, results)
	require.Equal(t, []string{"a/b", "a/z", "b/c", "b/c"},
		[]string{r.Results[0].Case, r.Results[1].Case, r.Results[2].Case, r.Results[3].Case})
	require.Equal(t, 1, r.Results[2].Attempt)
	require.Equal(t, "b/c", results[0].Case, "the caller's list keeps its order")
	s := r.Summary
	require.Equal(t, 3, s.Cases)
	require.Equal(t, 4, s.Trials)
	require.Equal(t, 6, s.Checks)
	require.Equal(t, Verdicts{Pass: 2, Fail: 2, Skip: 1, Error: 1}, s.Verdicts)
	require.Equal(t, map[verdict.Reason]int{verdict.Blocked: 1}, s.Skipped)
	require.Equal(t, 180.0, s.VirtualSeconds)
	require.Equal(t, 1.5, s.WallSeconds)
	require.Equal(t, Statuses{Violated: 1}, s.Guarantees.Must)
	require.Equal(t, Statuses{NotShown: 1}, s.Guarantees.Should)
	require.Equal(t, Statuses{Violated: 1, NotShown: 1, Holds: 1}, s.Guarantees.Statuses)
	require.Equal(t, []string{"b/c"}, r.Guarantees[0].Cases)
	require.Equal(t, 2, r.Guarantees[0].Failed)
}

func TestAgainIsACommandForAShell(t *testing.T) {
	res := verdict.Result{Case: "a/b@c", Seed: 7}
	for _, c := range []struct {
		name string
		run  Run
		want string
	}{
		{"the reference in virtual time", Run{Server: "reference", Time: "virtual"}, "stallwright run a/b@c --seed 7"},
		{"the reference in real time", Run{Server: "reference", Time: "real"}, "stallwright run a/b@c --seed 7 --time real"},
		{"a case file", Run{Server: "reference", Time: "real", Files: map[string]string{"a/b": "my case.yaml"}}, "stallwright repro 'my case.yaml' --dialect c --seed 7 --time real"},
		{"a URL", Run{Server: "http://127.0.0.1:80/?a&b", Time: "real"}, "stallwright run a/b@c --seed 7 --url 'http://127.0.0.1:80/?a&b'"},
		{"a named server", Run{Server: "it's", Time: "real"}, `stallwright run a/b@c --seed 7 --server 'it'\''s'`},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, c.run.Again(res)) })
	}
}

// full has every field of the document set.
func full() Report {
	f := found("cancel.propagates", verdict.Fail)
	f.Signature, f.Promised, f.Observed = "deadline/connection-open", "within 2s", "still <open>\x1b[2J\xff"
	f.Evidence = verdict.Evidence{Kind: verdict.Deadline, At: 4300 * time.Millisecond, ArmedBy: 2, Because: []int{2, 3},
		Limit: 2 * time.Second, Measured: 1500 * time.Microsecond, Expected: "closed", Found: "open"}
	f.Excerpt = []verdict.Moment{{At: 90 * time.Minute, Lane: "provider", Ref: "#1", Kind: "stall", Detail: "30s", Here: true}}
	run := Run{ID: "7f3c5a01", Version: "1.4.0", Server: "reference", Time: "virtual", Seed: 1 << 63,
		Started: time.Date(2026, 11, 30, 6, 0, 0, 5, time.FixedZone("", 3600)), Wall: 3100 * time.Millisecond, Jobs: 2,
		Args: []string{"cancel/*"}, Strict: true, Stopped: "SIGINT"}
	skipped := played("c/d", found("stream.heartbeat", verdict.Skip, verdict.Unavailable))
	skipped.Reason, skipped.Why = verdict.Unavailable, "no process"
	return New(run, catalogue, covered, []verdict.Result{played("a/b@c", f), skipped})
}

func TestReportsFitTheSchema(t *testing.T) {
	schema := compiled(t)
	bare := Run{ID: "00000000", Server: "http://127.0.0.1:1", Time: "real"}
	for _, c := range []struct {
		name   string
		report Report
	}{
		{"every field set", full()},
		{"nothing ran", New(bare, nil, nil, nil)},
		{"a case broke", New(bare, catalogue, nil, []verdict.Result{{Case: "a/b", Verdict: verdict.Error, Why: "died"}})},
		{"a guarantee that the catalogue lacks", New(bare, nil, nil, []verdict.Result{played("a/b", found("x.y", verdict.Pass))})},
		{"a skip without a reason", New(bare, catalogue, covered, []verdict.Result{played("a/b", found("cancel.latency", verdict.Skip))})},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, Write(&b, c.report))
			require.NoError(t, validate(t, schema, b.String()), b.String())
			line, err := json.Marshal(c.report)
			require.NoError(t, err)
			require.JSONEq(t, b.String(), string(line))
		})
	}
}

func TestDurationsAreWrittenAsInFlags(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Write(&b, full()))
	for _, want := range []string{`"at": "4.3s"`, `"at": "1h30m0s"`, `"limit": "2s"`, `"measured": "1.5ms"`, `"virtual": "1m0s"`,
		`"wall": "3.1s"`, `"wallSeconds": 3.1`, `"virtualSeconds": 120`, `"started": "2026-11-30T05:00:00.000000005Z"`, `"seed": 9223372036854775808`} {
		require.Contains(t, b.String(), want)
	}
	require.NotContains(t, b.String(), `"why": "cost"`)
}

func TestTheSchemaRefuses(t *testing.T) {
	schema := compiled(t)
	var b bytes.Buffer
	require.NoError(t, Write(&b, full()))
	for _, c := range []struct{ name, old, new string }{
		{"another version", `"schemaVersion": 1`, `"schemaVersion": 2`},
		{"an unknown key", `"strict": true`, `"strict": true, "extra": 1`},
		{"an unknown verdict", `"verdict": "fail"`, `"verdict": "flaky"`},
		{"a duration in nanoseconds", `"at": "4.3s"`, `"at": 4300000000`},
		{"a duration without a unit", `"at": "4.3s"`, `"at": "4.3"`},
		{"a missing count", `"trials": 2,`, ``},
		{"a date that is none", `"2026-11-30T05:00:00.000000005Z"`, `"yesterday"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, b.String(), c.old)
			require.Error(t, validate(t, schema, strings.Replace(b.String(), c.old, c.new, 1)))
		})
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("results.schema.json", doc))
	s, err := c.Compile("results.schema.json")
	require.NoError(t, err)
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	return s.Validate(doc)
}
