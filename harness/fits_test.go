package harness

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWindowsFitTheirOwnSet(t *testing.T) {
	usual := Short().With(Set{})
	for _, c := range []struct {
		name string
		set  Set
		want string
	}{
		{"the usual", Set{}, ""},
		{"a clock more", Set{Inactivity: true}, "the case needs the inactivity clock, which the server has off"},
		{"a clock less", Set{NoStream: true}, "the case needs the stream clock to be off, and the server has it on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, usual.Fits(c.set))
			require.Empty(t, Short().With(c.set).Fits(c.set))
		})
	}
	require.NotEmpty(t, Short().Fits(Set{}))
}

func TestWindowsMustKeepTheirDistance(t *testing.T) {
	require.Empty(t, Short().Bears())
	require.Empty(t, Production().Bears())
	require.Empty(t, Production().With(Set{NoHeartbeat: true, NoStream: true}).Bears())
	twice := func(w Windows) Windows {
		return Windows{FirstChunk: 2 * w.FirstChunk, Inactivity: 2 * w.Inactivity, Stream: 2 * w.Stream, Heartbeat: 2 * w.Heartbeat}
	}
	require.Empty(t, twice(Short()).Bears())
	w := Production()
	w.FirstChunk = w.Heartbeat * 2
	w.Inactivity = 0
	require.Equal(t, "first-chunk 30s is too short beside heartbeat 15s: at least 48s", w.Bears())
	w = Short()
	w.Heartbeat /= 2
	require.Equal(t, "heartbeat 250ms is too short to be told from the noise of a busy machine: at least 500ms", w.Bears())
}
