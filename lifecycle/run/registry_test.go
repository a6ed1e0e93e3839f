package run

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestRegistryIsIdleWhenTheLastRunIsReleased(t *testing.T) {
	g := NewRegistry()
	require.True(t, closed(g.Idle()))
	one, two := New("one", Config{}), New("two", Config{})
	require.True(t, g.Admit(one))
	require.True(t, g.Admit(two))
	idle := g.Idle()
	require.ElementsMatch(t, []*Run{one, two}, g.Running())
	g.Release(one)
	g.Release(one)
	require.False(t, closed(idle))
	g.Release(two)
	require.True(t, closed(idle))
	require.Empty(t, g.Running())
}

func TestADrainingRegistryAdmitsNothing(t *testing.T) {
	g := NewRegistry()
	running, late := New("running", Config{}), New("late", Config{})
	require.True(t, g.Admit(running))
	require.False(t, g.Draining())
	g.Drain()
	require.True(t, g.Draining())
	require.False(t, g.Admit(late))
	require.Equal(t, []*Run{running}, g.Running())
	g.Release(late)
	require.False(t, closed(g.Idle()))
	g.Release(running)
	require.True(t, closed(g.Idle()))
}

func TestNoAdmissionIsMissedByADrain(t *testing.T) {
	g := NewRegistry()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if r := New("r", Config{}); g.Admit(r) {
				defer g.Release(r)
			}
		})
	}
	all.Go(g.Drain)
	all.Wait()
	require.True(t, closed(g.Idle()))
}
