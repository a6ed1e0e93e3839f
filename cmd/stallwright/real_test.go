package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/process"
	"github.com/stallwright/stallwright/harness/verdict"
)

// The first case of every area, on a server process over TCP, one trial at a time: after each nothing of ours is left.
func TestEveryAreaPlaysInRealTimeAndLeavesNothing(t *testing.T) {
	c := newCLI()
	var areas []string
	for _, play := range c.library.cases() {
		if slices.Contains(areas, area(play.Scenario.ID)) {
			continue
		}
		areas = append(areas, area(play.Scenario.ID))
		t.Run(play.ID(), func(t *testing.T) {
			player, err := c.newPlayer(plan{jobs: 1})
			require.NoError(t, err)
			require.IsType(t, &process.Pool{}, player)
			before := goleak.IgnoreCurrent()
			var results []verdict.Result
			err = player.Run(t.Context(), []harness.Job{{Case: play.ID(), Attempt: 1, Seed: 1}}, harness.Watch{
				Started: func(harness.Job) {},
				Played:  func(_ harness.Job, r verdict.Result) { results = append(results, r) },
			})
			require.NoError(t, err)
			require.Len(t, results, 1)
			require.Contains(t, []verdict.Verdict{verdict.Pass, verdict.Skip}, results[0].Verdict, "%+v", results[0])
			goleak.VerifyNone(t, before)
		})
	}
}
