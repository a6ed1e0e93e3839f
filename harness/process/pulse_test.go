package process

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
