package harness_test

import (
	"cmp"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

// order lists the names of the windows from the shortest to the longest; equal ones share a place.
func order(w harness.Windows) [][]string {
	v := reflect.ValueOf(w)
	type window struct {
		name string
		d    time.Duration
	}
	var all []window
	for i := range v.NumField() {
		all = append(all, window{v.Type().Field(i).Name, time.Duration(v.Field(i).Int())})
	}
	slices.SortStableFunc(all, func(a, b window) int { return cmp.Compare(a.d, b.d) })
	var out [][]string
	for i, x := range all {
		if i > 0 && all[i-1].d == x.d {
			out[len(out)-1] = append(out[len(out)-1], x.name)
			continue
		}
		out = append(out, []string{x.name})
	}
	return out
}

func TestShortWindowsKeepTheOrderOfTheProductionWindows(t *testing.T) {
	require.Equal(t, order(harness.Production()), order(harness.Short()))
}

func TestASetTurnsClocksOff(t *testing.T) {
	w := harness.Production()
	require.Zero(t, w.With(harness.Set{}).Inactivity, "off by default")
	require.Equal(t, w.Inactivity, w.With(harness.Set{Inactivity: true}).Inactivity)
	off := w.With(harness.Set{NoFirstChunk: true, NoStream: true, NoHeartbeat: true, NoGrace: true})
	require.Zero(t, off.FirstChunk+off.Stream+off.Heartbeat+off.Shutdown)
}

func scenario() harness.Scenario {
	never := func(harness.At) expect.Expectation { return expect.Times{} }
	return harness.Scenario{
		ID: "run/one", Claim: "it works", Needs: []harness.Feature{harness.Streaming},
		Variants: []harness.Variant{{Name: "a"}, {Name: "b", Needs: []harness.Feature{harness.Signals}, Checks: []harness.Check{{Name: "third", Guarantee: "run.three", Expect: never}}}},
		Checks:   []harness.Check{{Name: "first", Guarantee: "run.one", Expect: never}, {Name: "second", Guarantee: "run.one", Expect: never}},
	}
}

func TestCasesAreScenariosInTheirVariants(t *testing.T) {
	cases := scenario().Cases()
	require.Equal(t, "run/one@a", cases[0].ID())
	require.Equal(t, "run/one@b", cases[1].ID())
	require.Equal(t, []string{"run.one"}, cases[0].Guarantees())
	require.Equal(t, []string{"run.one", "run.three"}, cases[1].Guarantees())
	require.Equal(t, []harness.Feature{harness.Streaming, harness.Signals}, cases[1].Needs())
	plain := harness.Scenario{ID: "run/two"}
	require.Equal(t, "run/two", plain.Cases()[0].ID())
}

func TestCasesArePlayedOnEachDialectThatTheyAreAbout(t *testing.T) {
	s := scenario()
	s.Variants = append(s.Variants, harness.Variant{Name: "c", Dialects: []string{"gemini", "openai"}}, harness.Variant{Name: "d", Dialects: []string{"bedrock"}})
	var ids, dialects []string
	for _, c := range s.Cases("openai", "gemini") {
		ids, dialects = append(ids, c.ID()), append(dialects, c.Dialect())
	}
	require.Equal(t, []string{"run/one@a", "run/one@a.gemini", "run/one@b", "run/one@b.gemini", "run/one@c", "run/one@c.gemini"}, ids)
	require.Equal(t, []string{"openai", "gemini", "openai", "gemini", "openai", "gemini"}, dialects)
	plain := harness.Scenario{ID: "run/two", Dialects: []string{"gemini"}}
	require.Equal(t, "run/two@gemini", plain.Cases("openai", "gemini")[0].ID())
	require.Empty(t, plain.Cases())
}

func TestACaseThatTheStageCannotPlayIsSkippedWithItsReason(t *testing.T) {
	lacks := map[harness.Feature]harness.Lack{harness.Signals: {Claimed: true, Why: "attached"}}
	cases := scenario().Cases()
	_, skipped := harness.Skipped(cases[0], lacks, 7)
	require.False(t, skipped)
	r, skipped := harness.Skipped(cases[1], lacks, 7)
	require.True(t, skipped)
	require.Equal(t, verdict.Skip, r.Verdict)
	require.Equal(t, verdict.Unavailable, r.Reason)
	require.Equal(t, "attached", r.Why)
	require.Len(t, r.Findings, 3)

	lacks[harness.Signals] = harness.Lack{Why: "not offered"}
	r, _ = harness.Skipped(cases[1], lacks, 7)
	require.Equal(t, verdict.NotClaimed, r.Reason)
}

func TestADeathIsOneFindingThatBlocksTheRest(t *testing.T) {
	r := harness.Fell(scenario().Cases()[1], 7, verdict.Fail, verdict.Crash, "panic", "boom")
	require.Equal(t, verdict.Fail, r.Verdict)
	require.Equal(t, "crash/panic", r.Findings[0].Signature)
	for _, f := range r.Findings[1:] {
		require.Equal(t, verdict.Skip, f.Verdict)
		require.Equal(t, verdict.Blocked, f.Reason)
	}
}

func TestLogLinesAreReportedInWords(t *testing.T) {
	tl := timeline.New()
	w := &harness.LogWriter{Timeline: tl}
	for _, part := range []string{`{"time":"x","level":"INFO","msg":"shutdown `, "complete\",\"unaborted_tasks\":false,\"clean_shutdown\":true}\nplain ", "text\nhalf"} {
		n, err := w.Write([]byte(part))
		require.NoError(t, err)
		require.Equal(t, len(part), n)
	}
	events := tl.Events()
	require.Len(t, events, 2)
	require.Equal(t, "shutdown complete clean_shutdown=true unaborted_tasks=false", events[0].Detail)
	require.Equal(t, timeline.Reported, events[0].Source)
	require.Equal(t, "plain text", events[1].Detail)
}

func TestADoubtTakesFailuresUnlessTheTrialWaitedInVain(t *testing.T) {
	seen, never := expect.Event{Kind: "signal"}, expect.Event{Kind: "exit"}
	check := func(name string, x expect.Expectation) harness.Check {
		return harness.Check{Name: name, Noun: "thing", Expect: func(harness.At) expect.Expectation { return x }}
	}
	judged := func(play func(*harness.Trial)) verdict.Result {
		s := harness.Scenario{ID: "run/one", Play: play, Checks: []harness.Check{
			check("passes", expect.Times{What: seen, Min: 1, Max: 1}), check("fails", expect.Times{What: never, Min: 1, Max: 1}),
		}}
		tl := timeline.New()
		tl.Add(harness.ProcessLane, "", "signal", "SIGTERM")
		trial := harness.NewTrial(s.Cases()[0], &harness.Stage{Timeline: tl, Patience: time.Millisecond, Settle: func() {}}, 1, 1)
		trial.Doubt = func(expect.Judgement) string { return "too busy" }
		trial.Play()
		trial.Strike()
		return trial.Judge()
	}
	r := judged(func(*harness.Trial) {})
	require.Equal(t, verdict.Inconclusive, r.Verdict)
	require.Equal(t, "too busy", r.Why)
	require.Equal(t, verdict.Pass, r.Findings[0].Verdict)
	require.Equal(t, verdict.Inconclusive, r.Findings[1].Verdict)
	require.Empty(t, r.Findings[1].Signature)
	require.Equal(t, "too busy", r.Findings[1].Observed)

	r = judged(func(t *harness.Trial) { t.Await(never) })
	require.Equal(t, verdict.Fail, r.Verdict)
	require.Equal(t, "count/thing", r.Findings[1].Signature)
	require.Equal(t, verdict.Inconclusive, r.Findings[0].Verdict, "what passes proves nothing")
}
