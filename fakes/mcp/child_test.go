package mcp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
)

func TestAnExitEndsThePipesThatStandForAProcess(t *testing.T) {
	s := playing(script.Pause{For: time.Second}, mcp.Exit{Code: 3})
	s.Programs[0].When.Tool = "any"
	s.Tools = []mcp.Tool{{Name: "other", Takes: time.Hour}}
	inBubble(t, s, func(w *world) {
		p := w.pipes()
		p.send(initialize)
		p.line()
		p.send(call("2", "other", ""))
		p.send(call("3", "any", ""))
		require.Empty(t, p.line())
		require.Error(t, <-p.done)
		p.stop()
		require.Equal(t, []string{"3"}, w.details("exit"))
		require.Equal(t, []string{"closed", "closed"}, w.details("ended")[1:])
		require.Empty(t, w.details("left"))
	})
}

func TestPipesHaveTheStartOfAProcess(t *testing.T) {
	s := mcp.Script{Manners: mcp.Manners{Process: mcp.Process{StartsAfter: time.Minute, Dies: mcp.Exit{Code: 1}}}}
	inBubble(t, s, func(w *world) {
		began := time.Now()
		p := w.pipes()
		require.Empty(t, p.line())
		require.Equal(t, time.Minute, time.Since(began))
		require.Error(t, <-p.done)
		p.stop()
		require.Equal(t, []string{"1"}, w.details("exit"))
	})
}

func TestAnExitNeedsAPipe(t *testing.T) {
	inBubble(t, playing(mcp.Exit{}, mcp.Result{}), func(w *world) {
		w.begin()
		w.ask(call("2", "any", ""))
		require.Contains(t, w.details("violation"), "exit needs a pipe")
	})
}
