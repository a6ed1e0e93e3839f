package reference

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/harness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheReferenceStartsInThisProcessAndEndsOnASignal(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s, err := Target("").Start(harness.Setup{Windows: harness.Short().With(harness.Set{}), Provider: "http://127.0.0.1:1/v1", Listener: l, Log: io.Discard})
	require.NoError(t, err)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("http://" + l.Addr().String() + "/health")
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	s.Signal("SIGTERM")
	<-s.Done()
	require.Zero(t, s.Exit())
}

func TestTheCommandTellsTheServerEveryWindow(t *testing.T) {
	require.Nil(t, Target("").Command)
	c := Target("/bin/stallwright").Command(harness.Setup{Windows: harness.Short(), Provider: "http://127.0.0.1:9/v1"})
	require.Equal(t, []string{"/bin/stallwright", "serve", "--config", "agent.toml", "--fault-hooks"}, c.Args)
	require.Contains(t, c.Files["agent.toml"], `base_url = "http://127.0.0.1:9/v1"`)
	env := strings.Join(c.Env, "\n")
	require.Contains(t, env, "FIRST_CHUNK_TIMEOUT_SECS=1.6s")
	require.Contains(t, env, "PORT=0")
	require.Equal(t, "127.0.0.1:4242", c.Ready(`{"msg":"listening","addr":"127.0.0.1:4242"}`))
	require.Empty(t, c.Ready("listening on port 1"))
}

func TestFaultsAreCommittedOnRequestOnly(t *testing.T) {
	turn := Hooks().Turn
	turn(context.Background(), "hello")
	turn(context.Background(), "[[fault:unknown]]")
	require.Panics(t, func() { turn(context.Background(), "please [[fault:panic]]") })
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		start := time.Now()
		turn(ctx, "[[fault:deaf 8s]]")
		require.Equal(t, 8*time.Second, time.Since(start), "deaf to the cancelled context")
	})
}
