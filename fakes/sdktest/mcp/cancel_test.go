package mcp_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
)

func TestClientsGiveUpACall(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			v := start(t, mcp.Script{Tools: tools()})
			a := w.connect(t, v)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			given := make(chan error, 1)
			go func() {
				_, err := a.call(ctx, "held")
				given <- err
			}()
			call := v.await("await", "never").Ref
			stop()
			if err := <-given; !w.mayLose || errors.Is(err, context.Canceled) {
				require.ErrorIs(t, err, context.Canceled)
			} else {
				require.ErrorContains(t, err, "unexpected nil response")
			}
			if w.cancelled != "" {
				v.await("cancelled", w.cancelled)
			}
			if w.left {
				require.Equal(t, call, v.await("left", "").Ref)
			}
			if w.stops {
				require.Equal(t, call, v.await("ended", "cancelled").Ref)
			}

			// The session goes on.
			got, err := a.call(t.Context(), "search")
			require.NoError(t, err)
			require.Contains(t, got.Text, "fjord")
			require.NoError(t, a.close())
			require.Equal(t, w.cancelled != "", len(v.details("cancelled")) == 1, "%v", v.details("cancelled"))
			if !w.stops {
				require.NotContains(t, v.details("ended"), "cancelled")
			}
			require.Equal(t, w.violation, v.details("violation"))
		})
	}
}
