package run

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheEndingIsDecidedOnce(t *testing.T) {
	r := New("r", Config{Stream: time.Hour, Buffer: 1})
	var decided atomic.Int32
	var all sync.WaitGroup
	for _, how := range []How{Completed, Failed, TimedOut, Disconnected, ShutDown} {
		for range 20 {
			all.Go(func() {
				if r.End(Ending{How: how}) {
					decided.Add(1)
				}
			})
		}
	}
	all.Wait()
	require.EqualValues(t, 1, decided.Load())
	require.Equal(t, r.Ending(), context.Cause(r.Context()))
	before := r.Ending()
	require.False(t, r.End(Ending{How: Failed, Code: InternalError}))
	require.Equal(t, before, r.Ending())
}

func TestNothingFollowsTheEnding(t *testing.T) {
	r := New("r", Config{Buffer: 4})
	require.NoError(t, r.Emit(r.Context(), Text{"before"}))
	r.End(Ending{How: ShutDown})
	require.Equal(t, Ending{How: ShutDown}, r.Emit(context.Background(), Text{"after"}))
	require.Equal(t, Text{"before"}, <-r.Events())
	require.Empty(t, r.Events())
}

func TestAFullChannelBlocksAndPausesInactivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := New("r", Config{Stream: whole, Buffer: 1})
		r.WatchItems(first, gap)
		emitted := make(chan error, 2)
		go func() {
			r.Item()
			emitted <- r.Emit(r.Context(), Text{"one"})
			emitted <- r.Emit(r.Context(), Text{"two"})
		}()
		time.Sleep(10 * gap)
		require.NoError(t, <-emitted)
		require.Empty(t, emitted, "the second is still blocked")
		require.Zero(t, r.Ending())
		<-r.Events()
		require.NoError(t, <-emitted)
		<-r.Context().Done()
		require.Equal(t, InactivityTimeout, r.Ending().Code)
		require.Equal(t, 11*gap, time.Since(start))
	})
}

func TestABlockedProducerIsFreedByTheEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := New("r", Config{Stream: whole, Buffer: 1})
		r.WatchItems(first, gap)
		require.NoError(t, r.Emit(r.Context(), Text{"one"}))
		r.Item()
		err := r.Emit(context.Background(), Text{"two"})
		require.Equal(t, r.Ending(), err)
		require.Equal(t, StreamTimeout, r.Ending().Code, "the stream clock does not pause")
		require.Equal(t, whole, time.Since(start))
	})
}

func TestABlockedProducerIsFreedByItsOwnContext(t *testing.T) {
	r := New("r", Config{Buffer: 1})
	require.NoError(t, r.Emit(r.Context(), Text{"one"}))
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	require.Equal(t, gone, r.Emit(ctx, Text{"two"}))
	r.End(Ending{How: Completed})
}

func TestFinishStopsTheItemClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New("r", Config{Buffer: 1})
		r.WatchItems(first, gap)
		r.Item()
		require.NoError(t, r.Finish(r.Context(), Finished{Reason: "stop"}))
		time.Sleep(2 * gap)
		require.Zero(t, r.Ending())
		require.Equal(t, Finished{Reason: "stop"}, <-r.Events())
		r.End(Ending{How: Completed})
	})
}

func TestAnEndedRunStartsNoClock(t *testing.T) {
	r := New("r", Config{Buffer: 1})
	r.WatchItems(first, gap)
	r.End(Ending{How: Disconnected})
	r.ModelCall()
	r.Item()
	require.Nil(t, r.firstChunk.timer)
	require.Nil(t, r.inactivity.timer)
}
