// Package scenarios holds every claim that is made about agent servers, one file each, and the catalogue of their
// guarantees.
package scenarios

import (
	"github.com/stallwright/stallwright/harness"
)

// All lists the scenarios by area, in the order of the catalogue; the canary is not among them.
func All() []harness.Scenario {
	return []harness.Scenario{
		runReleasedAtEnd(),
		runOneEnding(),
		runTextBeforeEnding(),
		runNothingAfterEnding(),
		runEventsReachResponse(),
		runIsolated(),
		runSurvivesPanic(),
		runSlowReaderIsAlone(),
		firstChunkFires(),
		firstChunkNotFedByKeepalive(),
		firstChunkNotBefore(),
		firstChunkEndsWithOutput(),
		firstChunkCountsReasoning(),
		firstChunkNonStreamingExempt(),
		inactivityOffByDefault(),
		inactivityFires(),
		inactivityRearmedByItems(),
		inactivityNotFedByKeepalive(),
		inactivitySilentThinkingTrips(),
		inactivityVisibleThinkingDoesNot(),
		inactivityWindowNamed(),
		streamCapFires(),
		streamCapZeroIsNoCap(),
		streamCapOnlyCapWithoutStreaming(),
		streamCapProgressDoesNotExtend(),
		heartbeatBeats(),
		heartbeatIsComment(),
		heartbeatDetectsDisconnect(),
		cancelAbortsProvider(),
		cancelAbortsProviderAtFailure(),
		cancelNonStreamingToo(),
		cancelNextRequestUnharmed(),
		providerErrorIsAnError(),
		providerTruncationIsNotSuccess(),
		providerFramesTolerated(),
		providerDeltasTolerated(),
		providerNoSilentRetryAfterOutput(),
		providerRetriesBounded(),
		providerUsageOnce(),
		endingFailureIsVisible(),
		shutdownRefusesNew(),
		shutdownLetsFinish(),
		shutdownEarlyExit(),
		shutdownIdleExitsAtOnce(),
		shutdownDrainsAfterGrace(),
		shutdownAbortsStragglers(),
		shutdownExitNotHeld(),
		shutdownNonStreamingDrained(),
		shutdownReportsClean(),
		shutdownReportsUnaborted(),
		shutdownSecondSignal(),
		leakGoroutines(),
		leakSockets(),
		leakFiles(),
	}
}
