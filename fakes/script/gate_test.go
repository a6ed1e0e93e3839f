package script

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGateLetsAllGoOnNowAndLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Gates
		start := time.Now()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { <-g.Opened("a") })
		}
		time.AfterFunc(time.Minute, func() { g.Open("a") })
		wg.Wait()
		require.Equal(t, time.Minute, time.Since(start))
		g.Open("a")
		<-g.Opened("a")
		g.Open(Never)
		for _, gate := range []string{"b", Never} {
			select {
			case <-g.Opened(gate):
				t.Fatalf("the gate %s is open", gate)
			default:
			}
		}
	})
}

func TestGateOpensOnceForMany(t *testing.T) {
	var g Gates
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { g.Open("a") })
		wg.Go(func() { <-g.Opened("a") })
	}
	wg.Wait()
}
