package tools

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// mcp-go stops reading when its transport is closed, at times before it has seen the end of the output.
func TestTheEndOfAChildIsSeenWhenNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			_, _ = io.Copy(io.Discard, far)
		}()
		c := attach(near, newLink(), func(error) {})
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		began := time.Now()
		c.close(ctx)
		require.Zero(t, time.Since(began))
	})
}
