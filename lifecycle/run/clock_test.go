package run

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	tick   = time.Nanosecond
	first  = 90 * time.Second
	gap    = 30 * time.Second
	whole  = 15 * time.Minute
	second = time.Second
)

// at is something done to a run at an instant after its admission.
type at struct {
	when time.Duration
	what func(r *Run)
}

func call(r *Run)   { r.ModelCall() }
func item(r *Run)   { r.Item() }
func pause(r *Run)  { r.pauseInactivity() }
func resume(r *Run) { r.resumeInactivity() }
func silent(r *Run) { r.stopItemClocks() }
func begin(r *Run)  { r.ToolBegins() }
func end(r *Run)    { r.ToolEnds() }

func TestClocks(t *testing.T) {
	tests := []struct {
		name  string
		acts  []at
		code  Code          // of the expiry
		fires time.Duration // after admission
	}{
		{"nothing happens before a model call but the stream clock", nil, StreamTimeout, whole},
		{"first chunk fires one window after the first call", []at{{second, call}}, FirstChunkTimeout, second + first},
		{"first chunk is not started anew by a second call", []at{{0, call}, {gap, call}}, FirstChunkTimeout, first},
		{"an item at the last tick ends first chunk and starts inactivity", []at{{0, call}, {first - tick, item}}, InactivityTimeout, first - tick + gap},
		{"an item after the expiry is too late", []at{{0, call}, {first + tick, item}}, FirstChunkTimeout, first},
		{"each item re-arms inactivity", []at{{0, call}, {0, item}, {gap - tick, item}, {2*gap - 2*tick, item}}, InactivityTimeout, 3*gap - 2*tick},
		{"a pause holds what is left of inactivity", []at{{0, item}, {gap - second, pause}, {whole / 2, resume}}, InactivityTimeout, whole/2 + second},
		{"pauses nest", []at{{0, item}, {0, pause}, {second, pause}, {gap, resume}, {2 * gap, resume}}, InactivityTimeout, 3 * gap},
		{"an item during a pause counts from the resume", []at{{0, item}, {second, pause}, {gap, item}, {2 * gap, resume}}, InactivityTimeout, 3 * gap},
		{"a pause that nobody ends leaves the stream clock", []at{{0, item}, {second, pause}}, StreamTimeout, whole},
		{"a model that has finished is not watched", []at{{0, call}, {0, item}, {second, silent}}, StreamTimeout, whole},
		{"a tool suspends inactivity, and the whole window begins after it", []at{{0, item}, {second, begin}, {whole / 2, end}}, InactivityTimeout, whole/2 + gap},
		{"tools that overlap suspend it until the last of them", []at{{0, item}, {second, begin}, {2 * second, begin}, {gap, end}, {whole / 2, end}}, InactivityTimeout, whole/2 + gap},
		{"a tool is no reason to outlive the stream clock", []at{{0, item}, {second, begin}}, StreamTimeout, whole},
		{"a resume does not start a stopped clock", []at{{0, item}, {0, pause}, {second, silent}, {gap, resume}}, StreamTimeout, whole},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r := New("r", Config{Stream: whole, Buffer: 1})
				r.WatchItems(first, gap)
				for _, a := range test.acts {
					time.Sleep(time.Until(start.Add(a.when)))
					a.what(r)
				}
				<-r.Context().Done()
				require.Equal(t, test.code, r.Ending().Code)
				require.Equal(t, TimedOut, r.Ending().How)
				if last := len(test.acts) - 1; last < 0 || test.acts[last].when <= test.fires {
					require.Equal(t, test.fires, time.Since(start))
				}
			})
		})
	}
}

func TestWindowsOfZeroNeverFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New("r", Config{Buffer: 1})
		r.ModelCall()
		time.Sleep(24 * time.Hour)
		r.Item()
		time.Sleep(24 * time.Hour)
		require.Zero(t, r.Ending())
		r.End(Ending{How: Completed})
	})
}

func TestTimeoutsNameTheClockAndItsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New("r", Config{Buffer: 1})
		r.WatchItems(first, 0)
		r.ModelCall()
		<-r.Context().Done()
		require.Equal(t, "first chunk: no output from the model within 1m30s", r.Ending().Message)
		require.Equal(t, r.Ending(), context.Cause(r.Context()))
	})
}

func TestAnExpiryOfAnOldArmingIsVoid(t *testing.T) {
	r := New("r", Config{Buffer: 1})
	r.WatchItems(time.Hour, time.Hour)
	r.Item()
	old := r.inactivity.generation
	r.Item()
	r.inactivityExpired(old)
	require.Zero(t, r.Ending(), "re-armed")
	current := r.inactivity.generation
	r.stopItemClocks()
	r.inactivityExpired(current)
	require.Zero(t, r.Ending(), "stopped")
	r.End(Ending{How: Completed})
	r.streamExpired(r.stream.generation)
	require.Equal(t, Completed, r.Ending().How)
}
