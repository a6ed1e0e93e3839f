package run

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWatch(t *testing.T) {
	type step struct {
		when time.Duration
		what func(*Watch)
	}
	tests := []struct {
		name  string
		steps []step
		fires time.Duration // 0 is never
	}{
		{"nothing is expected before it is armed", nil, 0},
		{"it expires a window after it was armed", []step{{second, (*Watch).Arm}}, second + gap},
		{"arming anew puts it off", []step{{0, (*Watch).Arm}, {gap - tick, (*Watch).Arm}}, 2*gap - tick},
		{"a pause holds what is left", []step{{0, (*Watch).Arm}, {gap - second, (*Watch).Pause}, {whole, (*Watch).Resume}}, whole + second},
		{"a restart begins the window anew", []step{{0, (*Watch).Arm}, {gap - second, (*Watch).Pause}, {whole, (*Watch).Restart}}, whole + gap},
		{"a restart of a watch that is not armed arms nothing", []step{{0, (*Watch).Pause}, {second, (*Watch).Restart}}, 0},
		{"pauses nest", []step{{0, (*Watch).Arm}, {0, (*Watch).Pause}, {0, (*Watch).Pause}, {second, (*Watch).Restart}, {whole, (*Watch).Resume}}, whole + gap},
		{"a stop takes it back", []step{{0, (*Watch).Arm}, {second, (*Watch).Stop}}, 0},
		{"it expires once", []step{{0, (*Watch).Arm}, {2 * gap, (*Watch).Arm}}, gap},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, fired := time.Now(), make(chan time.Duration, 2)
				w := NewWatch(gap, func() { fired <- time.Since(start) })
				for _, s := range test.steps {
					time.Sleep(time.Until(start.Add(s.when)))
					s.what(w)
				}
				time.Sleep(24 * time.Hour)
				if test.fires == 0 {
					require.Empty(t, fired)
					return
				}
				require.Equal(t, test.fires, <-fired)
				require.Empty(t, fired)
			})
		})
	}
}

func TestAWatchWithoutAWindowNeverExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWatch(0, func() { t.Error("expired") })
		w.Arm()
		time.Sleep(24 * time.Hour)
	})
}
