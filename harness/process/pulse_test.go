package process

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/verdict"
)

func TestThePulseKnowsTheWorstGapOfATrial(t *testing.T) {
	now := time.Now()
	p := &pulse{gaps: []gap{{now.Add(-time.Minute), time.Second}, {now, 300 * time.Millisecond}, {now.Add(time.Second), 200 * time.Millisecond}}}
	require.Equal(t, 300*time.Millisecond, p.worst(now.Add(-time.Second)))
	require.Equal(t, 200*time.Millisecond, p.worst(now))
	require.Zero(t, p.worst(now.Add(time.Minute)))
}

func TestThePulseEnds(t *testing.T) {
	p := startPulse()
	p.stop()
	require.Zero(t, p.worst(time.Now()))
}

func TestWhatABusyMachineExcuses(t *testing.T) {
	late := func(by time.Duration) expect.Judgement {
		return expect.Judgement{Evidence: verdict.Evidence{Kind: verdict.Deadline}, Missed: by}
	}
	of := func(k verdict.Kind) expect.Judgement { return expect.Judgement{Evidence: verdict.Evidence{Kind: k}} }
	gap := func(d time.Duration) strain { return strain{gap: d, trips: tick} }
	crowd := strain{crowd: 0.5, trips: tick}
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		s       strain
		j       expect.Judgement
		excused bool
	}{
		{"a deadline that a gap may have missed", gap(100 * ms), late(250 * ms), true},
		{"not one that was missed by more than a few gaps", gap(100 * ms), late(300 * ms), false},
		{"not one that was missed by a second beyond gap and slack", gap(time.Second), late(2200 * ms), false},
		{"one that was missed by less than that", gap(time.Second), late(2199 * ms), true},
		{"not what cannot come any more", gap(time.Minute), late(expect.Forever), false},
		{"a deadline missed by little where many wait", crowd, late(999 * ms), true},
		{"not one missed by a second", crowd, late(time.Second), false},
		{"not without any strain", strain{trips: tick}, late(210 * ms), false},
		{"what came too early after a gap", gap(200 * ms), expect.Judgement{Evidence: verdict.Evidence{Kind: verdict.Early}, Missed: 300 * ms}, true},
		{"a value after a gap that may trip a clock", gap(tick), of(verdict.Value), true},
		{"not a value after a shorter gap", gap(tick - 1), of(verdict.Value), false},
		{"not a count, whoever waits", crowd, of(verdict.Count), false},
		{"not an order after a shorter gap", gap(tick - 1), of(verdict.Order), false},
		{"not what is forbidden after a shorter gap", gap(tick - 1), of(verdict.Forbidden), false},
		{"what is left over when the server had no time to let go", gap(150 * ms), of(verdict.State), true},
		{"not what is left over otherwise", crowd, of(verdict.State), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.excused, c.s.excuses(c.j) != "", c.s.excuses(c.j))
		})
	}
}

func TestAClockIsTrippedByTheLeastOfATickAndTheWindows(t *testing.T) {
	require.Equal(t, tick, host{windows: harness.Short()}.trips())
	require.Equal(t, 100*time.Millisecond, host{windows: harness.Windows{Stream: time.Second, Heartbeat: 100 * time.Millisecond}}.trips())
}
