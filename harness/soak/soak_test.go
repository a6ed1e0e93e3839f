package soak

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachKindIsDrawnByItsWeight(t *testing.T) {
	all := alone()
	drawnOf := map[string]int{}
	for at := range weights(all) {
		drawnOf[drawn(all, at).name]++
	}
	require.Len(t, drawnOf, len(all), "no two share a name")
	for _, k := range all {
		require.Equal(t, k.weight, drawnOf[k.name], k.name)
		require.NotEmpty(t, k.ends, k.name)
	}
}

func TestSoakJudgesHowRunsEnd(t *testing.T) {
	s := &soak{Soak: Soak{Runs: 100}, kinds: alone(), seen: map[string]map[string]int{
		"answers": {completed: 98, "stream_timeout": 2}, "silent": {"first_chunk_timeout": 1},
	}, odd: map[string]string{}}
	s.Out = discard{}
	require.Empty(t, s.told(), "two of a hundred may be hurried")
	s.seen["answers"]["first_chunk_timeout"] = 1
	require.Len(t, s.told(), 1)
	s.seen["answers"] = map[string]int{"nothing": 1}
	require.ErrorContains(t, s.told(), "1 of the runs that are called answers ended so: nothing")
	s.Runs, s.seen["answers"] = enough, nil
	require.ErrorContains(t, s.told(), "no run that is called answers ended so: completed")
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
