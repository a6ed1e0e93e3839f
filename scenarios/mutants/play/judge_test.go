package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/scenarios/mutants"
)

func ok(id string) result { return result{Case: id, Verdict: verdict.Pass} }

// played is a run in which the canary passed and one case has the given findings.
func played(fs ...finding) []result {
	return []result{ok("canary/plain@before"), {Case: "stream/end@openai", Verdict: verdict.Fail, Findings: fs}, ok("canary/plain@after")}
}

func found(guarantee string, v verdict.Verdict, signature string) finding {
	return finding{Check: "stream/end@openai::end", Guarantee: guarantee, Verdict: v, Signature: signature}
}

func TestMissed(t *testing.T) {
	one := mutants.Mutant{ID: "m", Breaks: []string{"stream.end"}, Signature: "deadline/end"}
	two := mutants.Mutant{ID: "m", Breaks: []string{"stream.end", "stream.order"}, Signature: "deadline/end"}
	noEnd := []string{"stream.end has no failing finding", "no failing finding has the signature deadline/end"}
	tests := []struct {
		name   string
		mutant mutants.Mutant
		playing
		want []string
	}{
		{"a failing finding with the signature kills", one,
			playing{results: played(found("stream.end", verdict.Fail, "deadline/end"))}, nil},
		{"other findings beside it do not matter", one,
			playing{results: played(found("stream.end", verdict.Pass, ""), found("stream.end", verdict.Fail, "count/end"),
				found("stream.end", verdict.Fail, "deadline/end"), found("leak.goroutines", verdict.Fail, "state/goroutine"))}, nil},
		{"the exit code does not matter", one,
			playing{exit: 70, results: played(found("stream.end", verdict.Fail, "deadline/end"))}, nil},
		{"nothing judged", one, playing{}, append(noEnd, "canary/plain@before was not played", "canary/plain@after was not played")},
		{"only the canary played", one, playing{results: played()}, noEnd},
		{"a pass", one, playing{results: played(found("stream.end", verdict.Pass, ""))}, noEnd},
		{"inconclusive only", one, playing{results: played(found("stream.end", verdict.Inconclusive, "deadline/end"))}, noEnd},
		{"skip only", one, playing{results: played(found("stream.end", verdict.Skip, "deadline/end"))}, noEnd},
		{"an error of ours only", one, playing{results: played(found("stream.end", verdict.Error, "deadline/end"))}, noEnd},
		{"another signature", one, playing{results: played(found("stream.end", verdict.Fail, "count/end"))},
			[]string{"no failing finding has the signature deadline/end"}},
		{"the signature on a finding that passed", one,
			playing{results: played(found("stream.end", verdict.Fail, "count/end"), found("stream.end", verdict.Pass, "deadline/end"))},
			[]string{"no failing finding has the signature deadline/end"}},
		{"another guarantee with the signature", one, playing{results: played(found("stream.order", verdict.Fail, "deadline/end"))}, noEnd},
		{"the canary failed before", one,
			playing{results: append(played(found("stream.end", verdict.Fail, "deadline/end"))[1:], result{Case: "canary/plain@before", Verdict: verdict.Fail})},
			[]string{"canary/plain@before is fail"}},
		{"the canary failed after", one,
			playing{results: append(played(found("stream.end", verdict.Fail, "deadline/end")), result{Case: "canary/plain@after", Verdict: verdict.Inconclusive})},
			[]string{"canary/plain@after is inconclusive"}},
		{"the canary was not played", one, playing{results: played(found("stream.end", verdict.Fail, "deadline/end"))[:2]},
			[]string{"canary/plain@after was not played"}},
		{"two guarantees, the signature on either", two,
			playing{results: played(found("stream.end", verdict.Fail, "count/end"), found("stream.order", verdict.Fail, "deadline/end"))}, nil},
		{"two guarantees, one of them kept", two,
			playing{results: played(found("stream.end", verdict.Fail, "deadline/end"), found("stream.order", verdict.Pass, ""))},
			[]string{"stream.order has no failing finding"}},
		{"a run that was cut off", one,
			playing{trouble: "it had not ended after 30s", results: played(found("stream.end", verdict.Fail, "deadline/end"))},
			[]string{"it had not ended after 30s"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, missed(test.mutant, test.playing))
		})
	}
}

func TestUnfit(t *testing.T) {
	tests := []struct {
		name string
		playing
		want []string
	}{
		{"a pass and the canary", playing{results: played(found("stream.end", verdict.Pass, ""))}, nil},
		{"skips beside a pass", playing{results: played(found("stream.end", verdict.Pass, ""), found("stream.end", verdict.Skip, ""))}, nil},
		{"a failure", playing{exit: 1, results: played(found("stream.end", verdict.Pass, ""), found("stream.end", verdict.Fail, "count/end"))},
			[]string{"it exited with 1", "stream.end: stream/end@openai::end is fail count/end"}},
		{"nothing judged", playing{results: played()}, []string{"stream.end has no passing finding"}},
		{"skip only", playing{results: played(found("stream.end", verdict.Skip, ""))}, []string{"stream.end has no passing finding"}},
		{"the canary failed", playing{results: append(played(found("stream.end", verdict.Pass, "")), result{Case: "canary/plain@after", Verdict: verdict.Fail})},
			[]string{"canary/plain@after is fail"}},
		{"trouble", playing{trouble: "it had not ended after 30s"}, []string{"it had not ended after 30s"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, unfit([]string{"stream.end"}, test.playing))
		})
	}
}

func TestSeen(t *testing.T) {
	results := played(found("stream.end", verdict.Pass, ""), found("stream.end", verdict.Fail, "count/end"), found("stream.end", verdict.Pass, ""),
		found("leak.goroutines", verdict.Fail, "state/goroutine"))
	results = append(results, result{Case: "stream/order", Verdict: verdict.Error, Why: "the worker died"})
	require.Equal(t, []string{
		"stream.end: 1 fail count/end, 2 pass",
		"stream.order: nothing",
		"canary/plain@before: pass",
		"leak.goroutines: fail state/goroutine in stream/end@openai::end",
		"canary/plain@after: pass",
		"stream/order: error the worker died",
	}, seen([]string{"stream.end", "stream.order"}, results))

	for range 100 {
		results = append(results, result{Case: "stream/order", Verdict: verdict.Skip})
	}
	lines := seen([]string{"stream.end"}, results)
	require.Len(t, lines, 1+maxSeen+1)
	require.Equal(t, "and 92 more", lines[len(lines)-1])
}

func TestUncovered(t *testing.T) {
	ms := []mutants.Mutant{{ID: "a", Breaks: []string{"x.one", "x.two"}}, {ID: "b", Breaks: []string{"x.two"}}}
	require.Equal(t, []string{"x.none has no mutant, want two", "x.one has one mutant, a, want two"},
		uncovered([]string{"x.two", "x.one", "x.none"}, ms))
}

func TestUndecided(t *testing.T) {
	tests := []struct {
		name string
		fs   []finding
		want bool
	}{
		{"a machine too busy to judge", []finding{found("stream.end", verdict.Inconclusive, ""), found("stream.end", verdict.Skip, "")}, true},
		{"a failure decides whatever stands beside it", []finding{found("stream.end", verdict.Inconclusive, ""), found("stream.end", verdict.Fail, "count/end")}, false},
		{"passes are a verdict", []finding{found("stream.end", verdict.Pass, "")}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, undecided(playing{results: played(test.fs...)}))
		})
	}
}
