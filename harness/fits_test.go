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
